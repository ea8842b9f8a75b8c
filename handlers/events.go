package handlers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/assistant"
)

// eventsPath is what an open page listens to by itself: it keeps no session alive.
const eventsPath = "/events"

const (
	// eventsEvery is how often a server looks for what happened, once for all who listen to a clinic.
	eventsEvery = 300 * time.Millisecond
	// streamFor is how long a stream lasts: the client comes back by itself with the last id it has, and is asked again
	// who it is.
	streamFor  = 5 * time.Minute
	aliveEvery = 15 * time.Second
	// askedEvery is how often a stream's token or session is looked up again: what was revoked, or whose person was
	// disabled, hears nothing more within 15 seconds. One row by its key, 50 a second for 500 streams.
	askedEvery = 10 * time.Second
	eventsPage = 500
)

// feeds gives committed events to those who listen: one reader a clinic, whatever the number of streams. Nothing of it is
// shared between servers: each reads the same table, after the commit.
type feeds struct {
	db  *db.DB
	log *slog.Logger

	mu      sync.Mutex
	clinics map[string]map[chan []assistant.Event]bool
}

// listen gives a channel of all events from now on. It is closed when its reader is too slow; the client comes back.
// since is a place that the channel begins at or before: who reads the table from there misses nothing.
func (f *feeds) listen(ctx context.Context, clinicID string) (events chan []assistant.Event, since string, stop func(), err error) {
	err = f.db.Read(ctx, clinicID, func(t *db.Tx) (err error) {
		since, err = t.EventCursor(ctx)
		return err
	})
	if err != nil {
		return nil, "", nil, err
	}
	events = make(chan []assistant.Event, 16)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clinics == nil {
		f.clinics = map[string]map[chan []assistant.Event]bool{}
	}
	if f.clinics[clinicID] == nil {
		f.clinics[clinicID] = map[chan []assistant.Event]bool{}
		go f.read(clinicID, since)
	}
	f.clinics[clinicID][events] = true
	return events, since, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.clinics[clinicID], events)
	}, nil
}

// read looks for new events until nobody listens any more.
func (f *feeds) read(clinicID, cursor string) {
	ctx := context.Background()
	for tick := time.NewTicker(eventsEvery); ; <-tick.C {
		f.mu.Lock()
		if len(f.clinics[clinicID]) == 0 {
			delete(f.clinics, clinicID)
			f.mu.Unlock()
			tick.Stop()
			return
		}
		f.mu.Unlock()
		var list []assistant.Event
		err := f.db.Read(ctx, clinicID, func(t *db.Tx) (err error) {
			list, err = t.EventsAfter(ctx, cursor, eventsPage)
			return err
		})
		if err != nil {
			f.log.LogAttrs(ctx, levelOf(err), "events could not be read", slog.String("error", err.Error()))
			continue
		}
		if len(list) == 0 {
			continue
		}
		cursor = list[len(list)-1].ID
		f.mu.Lock()
		for to := range f.clinics[clinicID] {
			select {
			case to <- list:
			default:
				close(to)
				delete(f.clinics[clinicID], to)
			}
		}
		f.mu.Unlock()
	}
}

// events is GET /events, for pages with the cookie and for programs with a token: server-sent events that the caller may
// read, from Last-Event-ID on. An id that we cannot have given (malformed, or still to come) is as none: from now on.
func (s *Server) events(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	live, cursor, stop, err := s.feeds.listen(ctx, by.Clinic)
	if err != nil {
		return err
	}
	defer stop()
	if last := c.Request().Header.Get("Last-Event-ID"); db.ValidCursor(last) && !db.CursorAfter(last, cursor) {
		cursor = last
	}
	out := &stream{w: c.Response(), to: http.NewResponseController(c.Response())}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // of a proxy
	c.Response().WriteHeader(http.StatusOK)
	// An id without data only sets where the client goes on when it comes back.
	out.write("retry: 2000\nid: " + cursor + "\n\n")
	for more := true; more && out.err == nil; {
		var missed []assistant.Event
		err := s.DB.Read(ctx, by.Clinic, func(t *db.Tx) (err error) {
			missed, err = t.EventsAfter(ctx, cursor, eventsPage)
			return err
		})
		if err != nil {
			return nil // the answer has begun: the client comes back
		}
		cursor, more = out.send(missed, by.Person, cursor), len(missed) == eventsPage
	}
	alive, ask, end := time.NewTicker(aliveEvery), time.NewTicker(askedEvery), time.NewTimer(streamFor)
	defer alive.Stop()
	defer ask.Stop()
	defer end.Stop()
	for out.err == nil {
		select {
		case list, open := <-live:
			if !open {
				return nil
			}
			fresh := list[:0:0]
			for _, e := range list {
				if db.CursorAfter(e.ID, cursor) {
					fresh = append(fresh, e)
				}
			}
			cursor = out.send(fresh, by.Person, cursor)
		case <-alive.C:
			out.write(": here\n\n")
		case <-ask.C:
			if in, err := stillIn(ctx, c); err != nil || !in {
				return nil // in doubt too: the client comes back, and is told
			}
		case <-end.C:
			return nil
		case <-ctx.Done():
			return nil
		case <-s.Closing.Done():
			return nil
		}
	}
	return nil
}

// stream writes events; its first error ends it.
type stream struct {
	w   http.ResponseWriter
	to  *http.ResponseController
	err error
}

// send writes those that the person may read, and gives the new cursor.
func (o *stream) send(list []assistant.Event, person, cursor string) string {
	text := ""
	for _, e := range list {
		cursor = e.ID
		if e.Person == "" || e.Person == person {
			text += fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, e.Body)
		}
	}
	if text != "" {
		o.write(text)
	}
	return cursor
}

func (o *stream) write(text string) {
	if o.err != nil {
		return
	}
	// A stream outlives the server's write deadline; one that takes nothing for so long has gone away.
	if o.err = o.to.SetWriteDeadline(time.Now().Add(2 * aliveEvery)); o.err != nil {
		return
	}
	if _, o.err = o.w.Write([]byte(text)); o.err == nil {
		o.err = o.to.Flush()
	}
}
