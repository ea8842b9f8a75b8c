package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"countersign/db/embedded"
	"countersign/db/seed"
	"countersign/internal/account"
)

// streams is how many event streams are open at once.
const streams = 500

// benchTalk measures the conversation through the whole stack: messages that are read, resolved and answered with a
// question, and what open event streams cost and how late they are.
func benchTalk(ctx context.Context, cluster *embedded.Cluster, log *slog.Logger, clients []int) error {
	url, err := database(ctx, cluster, "bench_talk")
	if err != nil {
		return err
	}
	s, err := newSite(ctx, url, log)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := seed.Run(ctx, s.db, seed.Options{Size: "medium", Seed: 1, Now: time.Now()}); err != nil {
		return err
	}
	accounts, err := account.NewService(s.db, s.random, true, account.DefaultLimits)
	if err != nil {
		return err
	}
	if err := accounts.AddDemo(ctx, seed.Havnegade, seed.Lakeview); err != nil {
		return err
	}
	s.token = "demo-staff"
	fmt.Println("\nconversation (medium): a new thread and its first message, answered with a question")
	for _, n := range clients {
		m, err := measure(ctx, n, 300, func(ctx context.Context, _, i int) error {
			return s.say(ctx, "Move Maria Jensen to Tuesday 10:30")
		})
		if err != nil {
			return err
		}
		fmt.Printf("%2d clients  %-24s%v\n", n, "thread and message", m)
	}
	return s.benchStreams(ctx)
}

// say starts a thread and says one thing in it.
func (s *site) say(ctx context.Context, text string) error {
	body, err := s.answer(ctx, "POST", "/threads", "{}")
	if err != nil {
		return err
	}
	var thread struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &thread); err != nil {
		return err
	}
	_, err = s.answer(ctx, "POST", "/threads/"+thread.ID+"/messages", fmt.Sprintf(`{"text":%q}`, text))
	return err
}

// benchStreams opens the streams, then proposes and waits until every one has said so.
func (s *site) benchStreams(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	before := heapInUse()
	var opened, told sync.WaitGroup
	opened.Add(streams)
	told.Add(streams)
	errs := make(chan error, streams)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	for range streams {
		go func() {
			if err := s.listen(ctx, client, opened.Done, told.Done); err != nil && ctx.Err() == nil {
				errs <- err
			}
		}()
	}
	if err := waitOr(&opened, errs); err != nil {
		return err
	}
	open := heapInUse()
	body := `{"action":"cancel_appointment@1","parameters":{"appointment":"appt_maria84","reason_code":"other"}}`
	start := time.Now()
	if _, err := s.answer(ctx, "POST", "/proposals", body); err != nil {
		return err
	}
	if err := waitOr(&told, errs); err != nil {
		return err
	}
	fmt.Printf("%d event streams: %.1f KB each (both ends, in this process); all told %.0f ms after a proposal was asked for\n",
		streams, float64(open-before)/streams/1024, ms(time.Since(start)))
	return nil
}

func waitOr(g *sync.WaitGroup, errs <-chan error) error {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case err := <-errs:
		return err
	}
}

// listen holds one stream: opened is called with its first line or answer, told with the first event of a proposal.
func (s *site) listen(ctx context.Context, client *http.Client, opened, told func()) error {
	req, err := http.NewRequestWithContext(ctx, "GET", s.server.URL+"/api/v1/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("events: %d", res.StatusCode)
	}
	opened()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: proposal.proposed") {
			told()
			return nil
		}
	}
	return lines.Err()
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
