package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/outbox/sms"
)

var gatewaySecret = sms.Secret("shared with the gateway")

func (s *deskSite) withGateway() *deskSite {
	d := s.deps
	d.SMSSecret = gatewaySecret
	server := httptest.NewServer(New(d))
	s.t.Cleanup(server.Close)
	return &deskSite{&site{t: s.t, db: s.db, url: server.URL, deps: d, log: s.log}, s.Desk}
}

// says posts a receipt as a gateway does, signed at the time with the secret.
func (s *deskSite) receipt(body string, at time.Time, secret sms.Secret, headers ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+receiptsPath, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", "wh_1")
	r.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("webhook-signature", secret.Sign("wh_1", at, []byte(body)))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	a.Body.Close()
	return a
}

// sentSMS is a message to soren that the gateway took.
func (s *deskSite) sentSMS() string {
	s.t.Helper()
	ana := s.Actor("ana")
	r := s.Propose(ana, s.Move("apt_soren", s.At(1, 14, 0)))
	if _, err := s.Desk.Desk.Confirm(context.Background(), ana, desktest.Deciding(r, "k")); err != nil {
		s.t.Fatal(err)
	}
	id := s.Text(`SELECT id FROM outbox WHERE proposal = $1 AND kind = 'change'`, r.ID)
	s.Exec(`UPDATE outbox SET state = 'sent', attempts = 1, sent_at = app_now() WHERE id = $1`, id)
	return id
}

func TestReceiptsOfTheGateway(t *testing.T) {
	s := newDeskSite(t).withGateway()
	id := s.sentSMS()
	body := fmt.Sprintf(`{"event_id":"e1","message":%q,"status":"delivered","at":"2026-06-03T10:32:00+02:00","carrier":{"cost":0.05}}`, id)
	now := time.Now()
	var wait sync.WaitGroup
	for range 8 { // duplicates, at once; no browser sent them, and none of a browser's guards is in the way
		wait.Go(func() {
			if a := s.receipt(body, now, gatewaySecret); a.StatusCode != http.StatusNoContent {
				t.Errorf("%d", a.StatusCode)
			}
		})
	}
	wait.Wait()
	if got := s.Text(`SELECT count(*) || ' ' || min(status) || ' ' || min(to_char(at AT TIME ZONE 'UTC', 'HH24:MI')) FROM outbox_receipts`); got != "1 delivered 08:32" {
		t.Error(got)
	}
	if _, err := s.deps.DB.TakeReceipts(context.Background(), "hav", desktest.ID); err != nil {
		t.Fatal(err)
	}
	s.as("ana").get("/outbox").says(t, "Delivered", "delivered Wed 3 Jun 2026, 08:32")
	s.as("ana").get("/proposals/"+s.Text(`SELECT proposal FROM outbox WHERE id = $1`, id)).says(t, "The SMS gateway said: delivered")
	if got := s.Text(`SELECT concat_ws(' ', actor_kind, actor, outcome, code, object_kind, object = $1) FROM audit WHERE action = 'message.receipt'`, id); got != "system gateway success delivered message t" {
		t.Error(got)
	}
}

// A forged or old receipt is refused, and nothing of it is stored.
func TestForgedReceipts(t *testing.T) {
	s := newDeskSite(t).withGateway()
	id := s.sentSMS()
	body, now := fmt.Sprintf(`{"event_id":"e1","message":%q,"status":"delivered","at":null}`, id), time.Now()
	for name, c := range map[string]struct {
		status int
		do     func() *http.Response
	}{
		"another secret": {401, func() *http.Response { return s.receipt(body, now, sms.Secret("another secret of somebody")) }},
		"no signature":   {401, func() *http.Response { return s.receipt(body, now, gatewaySecret, "webhook-signature", "") }},
		"another body": {401, func() *http.Response {
			return s.receipt(body, now, gatewaySecret, "webhook-signature", gatewaySecret.Sign("wh_1", now, []byte("{}")))
		}},
		"replayed":        {401, func() *http.Response { return s.receipt(body, now.Add(-6*time.Minute), gatewaySecret) }},
		"from the future": {401, func() *http.Response { return s.receipt(body, now.Add(6*time.Minute), gatewaySecret) }},
		"a token of ours": {401, func() *http.Response {
			return s.receipt(body, now, sms.Secret("x"), "Authorization", "Bearer demo-staff")
		}},
		"no JSON": {400, func() *http.Response { return s.receipt(`{"event_id":`, now, gatewaySecret) }},
		"no such status": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, "delivered", "read", 1), now, gatewaySecret)
		}},
		"no id": {422, func() *http.Response {
			return s.receipt(`{"event_id":"e1","message":"a b","status":"sent"}`, now, gatewaySecret)
		}},
		"no event": {422, func() *http.Response {
			return s.receipt(fmt.Sprintf(`{"message":%q,"status":"sent"}`, id), now, gatewaySecret)
		}},
		"no time": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, "null", `"10:32"`, 1), now, gatewaySecret)
		}},
		"a time in numbers": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, "null", `1780475520`, 1), now, gatewaySecret)
		}},
		"an event in numbers": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, `"e1"`, `1`, 1), now, gatewaySecret)
		}},
		"no clinic's id": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, "{", `{"clinic":"a b",`, 1), now, gatewaySecret)
		}},
		"a status twice": {400, func() *http.Response {
			return s.receipt(strings.Replace(body, "{", `{"status":"failed",`, 1), now, gatewaySecret)
		}},
		"another's member twice": {400, func() *http.Response {
			return s.receipt(strings.Replace(body, "{", `{"carrier":{"a":1,"a":2},`, 1), now, gatewaySecret)
		}},
		"a name in capitals": {422, func() *http.Response {
			return s.receipt(strings.Replace(body, `"status"`, `"Status"`, 1), now, gatewaySecret)
		}},
		"two objects":      {400, func() *http.Response { return s.receipt(body+"{}", now, gatewaySecret) }},
		"a list":           {400, func() *http.Response { return s.receipt("["+body+"]", now, gatewaySecret) }},
		"null":             {400, func() *http.Response { return s.receipt("null", now, gatewaySecret) }},
		"no UTF-8":         {400, func() *http.Response { return s.receipt(strings.Replace(body, "e1", "e\xff", 1), now, gatewaySecret) }},
		"too long":         {413, func() *http.Response { return s.receipt(body+strings.Repeat(" ", maxBody), now, gatewaySecret) }},
		"another media":    {415, func() *http.Response { return s.receipt(body, now, gatewaySecret, "Content-Type", "text/plain") }},
		"without a secret": {404, func() *http.Response { return newDeskSite(t).receipt(body, now, gatewaySecret) }},
	} {
		if a := c.do(); a.StatusCode != c.status || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, want %d, %s", name, a.StatusCode, c.status, a.Header.Get("Content-Type"))
		}
	}
	if n := s.Text(`SELECT count(*) FROM outbox_receipts`); n != "0" {
		t.Error("stored:", n)
	}
	if a := s.as("ana").get(receiptsPath); a.status != http.StatusMethodNotAllowed {
		t.Errorf("looking: %d", a.status)
	}
	if strings.Contains(s.log.String(), id) {
		t.Error("the log names the message")
	}
}
