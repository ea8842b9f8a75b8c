package outbox

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestWhatBecomesOfATry(t *testing.T) {
	mail, sms := Message{Channel: Email, Attempts: 1}, Message{Channel: SMS, Attempts: 1}
	at := func(m Message, attempts, unanswered int) Message {
		m.Attempts, m.Unanswered = attempts, unanswered
		return m
	}
	temporary, definite, silent := &Refused{Code: "greylisted", Temporary: true}, &Refused{Code: "no_such_mailbox"}, &Ambiguous{Code: "no_answer"}
	for name, c := range map[string]struct {
		m    Message
		err  error
		want string
	}{
		"taken":                              {mail, nil, "sent  false"},
		"a definite no":                      {mail, definite, "failed no_such_mailbox false"},
		"a definite no at the last":          {at(mail, 8, 0), definite, "failed no_such_mailbox false"},
		"a no for now":                       {sms, temporary, "queued greylisted false"},
		"a no for now, for the eighth time":  {at(sms, 8, 0), temporary, "dead greylisted false"},
		"not sent":                           {sms, errors.New("dial Maria 10.0.0.1"), "queued not_reachable false"},
		"not sent, for the eighth time":      {at(mail, 8, 0), errors.New("dial"), "dead not_reachable false"},
		"an e-mail without an answer":        {mail, silent, "queued no_answer true"},
		"its second":                         {at(mail, 2, 1), silent, "queued no_answer true"},
		"its third":                          {at(mail, 3, 2), silent, "unknown no_answer true"},
		"at the eighth try of any":           {at(mail, 8, 0), silent, "unknown no_answer true"},
		"an SMS without an answer":           {sms, silent, "unknown no_answer true"},
		"a sender that forgot to say so":     {sms, fmt.Errorf("x: %w", context.DeadlineExceeded), "unknown no_answer true"},
		"a code that would tell of somebody": {mail, &Refused{Code: "550 maria.jensen@example.test unknown"}, "failed other false"},
	} {
		r := outcome(c.m, "p1", c.err, 0.5)
		if got := fmt.Sprint(r.State, " ", r.Code, " ", r.Unanswered); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if (r.Wait > 0) != (r.State == Queued) || (r.ProviderID != "") != (r.State == Sent) || r.NoTry {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A receiver that says when to come again is heard, within reason; its wish never makes a try come sooner or more often.
func TestWhenAReceiverSaysToComeAgain(t *testing.T) {
	for _, c := range []struct {
		attempts int
		after    time.Duration
		want     string
	}{
		{1, 0, "queued 30s"}, {1, time.Second, "queued 30s"}, {1, -time.Hour, "queued 30s"}, {1, 10 * time.Minute, "queued 10m0s"}, {1, 48 * time.Hour, "queued 2h0m0s"}, {8, time.Minute, "dead 0s"},
	} {
		r := outcome(Message{Channel: SMS, Attempts: c.attempts}, "", &Refused{Code: "sms_429", Temporary: true, RetryAfter: c.after}, 0.5)
		if got := fmt.Sprint(r.State, " ", r.Wait); got != c.want {
			t.Errorf("%v after try %d: %s, want %s", c.after, c.attempts, got, c.want)
		}
	}
}

func TestBackoffDoublesAndParts(t *testing.T) {
	for attempts := 1; attempts < maxAttempts; attempts++ {
		full := 30 * time.Second << (attempts - 1)
		low, mid, high := backoff(attempts, 0), backoff(attempts, 0.5), backoff(attempts, 0.999999)
		if low != full*8/10 || mid != full || high <= mid || high >= full*12/10 {
			t.Errorf("after %d: %v %v %v around %v", attempts, low, mid, high, full)
		}
	}
}

// The hours in which nobody is woken, in the recipient's zone; both changes of the clock, and limits that it jumps over
// or shows twice.
func TestQuietHours(t *testing.T) {
	const cph, chicago = "Europe/Copenhagen", "America/Chicago"
	for _, c := range []struct {
		q               Quiet
		zone, now, till string
	}{
		{DefaultQuiet, cph, "2026-10-20T12:00:00+02:00", ""},
		{DefaultQuiet, cph, "2026-10-20T20:59:59+02:00", ""},
		{DefaultQuiet, cph, "2026-10-20T21:00:00+02:00", "2026-10-21T08:00:00+02:00"},
		{DefaultQuiet, cph, "2026-10-21T07:59:59+02:00", "2026-10-21T08:00:00+02:00"},
		{DefaultQuiet, cph, "2026-10-21T08:00:00+02:00", ""},
		{DefaultQuiet, chicago, "2026-10-20T21:00:00+02:00", ""}, // 14:00 there
		{DefaultQuiet, chicago, "2026-10-21T08:00:00+02:00", "2026-10-21T08:00:00-05:00"},
		{DefaultQuiet, cph, "2026-10-24T23:00:00+02:00", "2026-10-25T08:00:00+01:00"}, // the clocks go back: ten hours
		{DefaultQuiet, cph, "2026-03-28T23:00:00+01:00", "2026-03-29T08:00:00+02:00"}, // and forward: eight
		{DefaultQuiet, cph, "2026-10-25T02:30:00+01:00", "2026-10-25T08:00:00+01:00"},
		{Quiet{0, 150}, cph, "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"}, // 02:30 is jumped over
		{Quiet{0, 150}, cph, "2026-10-25T02:10:00+02:00", "2026-10-25T02:30:00+01:00"}, // 02:30 comes twice: it is quiet till the second
		{Quiet{0, 150}, cph, "2026-10-25T02:10:00+01:00", "2026-10-25T02:30:00+01:00"},
		{Quiet{720, 780}, cph, "2026-10-20T12:30:00+02:00", "2026-10-20T13:00:00+02:00"},
		{Quiet{}, cph, "2026-10-20T00:00:00+02:00", ""},
		{DefaultQuiet, "", "2026-10-20T22:00:00Z", "2026-10-21T08:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		until, quiet := c.q.Until(now, c.zone)
		got := ""
		if quiet {
			got = until.In(at(t, c.till, now)).Format(time.RFC3339)
		}
		if got != c.till {
			t.Errorf("%v in %q at %s: until %q, want %q", c.q, c.zone, c.now, got, c.till)
		}
	}
}

// at is the offset of a time as written, so that two instants compare as text.
func at(t *testing.T, text string, or time.Time) *time.Location {
	t.Helper()
	if text == "" {
		return or.Location()
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Location()
}
