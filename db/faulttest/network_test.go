package faulttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// Row 3: a certificate that is not valid is an alarm, nothing is sent, and nobody knocks again for a while.
func TestABadCertificateIsAnAlarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{NoMetadata: true})
	impostor := httptest.NewUnstartedServer(w.ehr)
	impostor.Config.ErrorLog = w.web.Config.ErrorLog
	impostor.StartTLS()
	defer impostor.Close()
	w.connect(t, func(_ *world, c *ehr.Connection, _ *http.RoundTripper) { c.URL = impostor.URL + "/fhir" })
	o := w.confirm(w.booking(1, 13))
	for range 3 {
		if _, err := w.lane.Once(ctx); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
	}
	if n := len(w.ehr.Calls()); n != 0 || !strings.Contains(w.log.String(), "ALARM") {
		t.Errorf("%d calls reached it; the log says %s", n, w.log)
	}
	if got := w.Text(`SELECT code || ' ' || (paused_until > app_now() + interval '10 minutes') FROM ehr_lanes`); got != "certificate true" {
		t.Errorf("the lane: %s", got)
	}
	w.connect(t)
	w.pass(15 * time.Minute)
	w.run(o)
	w.common(o, ehr.Applied)
	if n := w.ehr.Count("POST", "Appointment"); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// Row 23: whatever the status, neither the token nor the body goes to where a redirect points.
func TestARedirectLeadsNowhere(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()
	all := newWorlds(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := all.take(t, ehrtest.Mode{Token: "secret"})
			w.ehr.Script(post(ehrtest.Status("redirect", status, "", "", "Location", elsewhere.URL+"/fhir/Appointment")))
			o := w.confirm(w.booking(1, 13))
			w.run(o)
			w.common(o, ehr.Refused)
		})
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// tokenServer gives numbered tokens.
type tokenServer struct {
	*httptest.Server
	given atomic.Int64
	down  atomic.Bool
	lives int
}

func newTokenServer(t *testing.T, lives int) *tokenServer {
	s := &tokenServer{lives: lives}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.down.Load() {
			w.WriteHeader(503)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprint("t", s.given.Add(1)), "token_type": "Bearer", "expires_in": s.lives})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *tokenServer) use(_ *world, c *ehr.Connection, _ *http.RoundTripper) {
	c.Token, c.TokenURL, c.ClientID, c.Secret = "", s.URL, "id", "secret"
}

// Row 26: an expired token is replaced once and the call made again, as a new attempt; a token that never helps makes no
// loop; without a token nothing is sent.
func TestTokens(t *testing.T) {
	t.Parallel()
	t.Run("26 expired", func(t *testing.T) {
		tokens := newTokenServer(t, 3600)
		w := newWorld(t, ehrtest.Mode{Token: "t2"}, tokens.use)
		o := w.confirm(w.booking(1, 13))
		w.run(o)
		w.common(o, ehr.Applied)
		if n := tokens.given.Load(); n != 2 {
			t.Errorf("%d tokens were asked for", n)
		}
		if n := w.ehr.Count("POST", "Appointment"); n != 2 {
			t.Errorf("%d writes", n)
		}
	})
	t.Run("26 never good", func(t *testing.T) {
		tokens := newTokenServer(t, 3600)
		w := newWorld(t, ehrtest.Mode{Token: "another"}, tokens.use)
		o := w.confirm(w.booking(1, 13))
		w.run(o)
		w.common(o, ehr.Manual) // it said no, and does not let us see whether that is true
		if n := w.ehr.Count("POST", "Appointment"); n != 1 || tokens.given.Load() > 150 {
			t.Errorf("%d writes with %d tokens in a day", n, tokens.given.Load())
		}
	})
	t.Run("26 token endpoint down", func(t *testing.T) {
		tokens := newTokenServer(t, 3600)
		tokens.down.Store(true)
		w := newWorld(t, ehrtest.Mode{Token: "t1"}, tokens.use)
		o := w.confirm(w.booking(1, 13))
		for range 3 {
			if _, err := w.lane.Once(ctx); err != nil {
				t.Fatal(err)
			}
			w.pass(time.Minute)
		}
		if n := w.ehr.Count("POST", "Appointment"); n != 0 {
			t.Errorf("%d writes without a token", n)
		}
		tokens.down.Store(false)
		w.run(o)
		w.common(o, ehr.Applied)
	})
	t.Run("27 the EHR's clock is wrong", func(t *testing.T) {
		for _, skew := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
			tokens := newTokenServer(t, 300)
			w := newWorld(t, ehrtest.Mode{Token: "t1"}, tokens.use)
			w.clock.Move(skew)
			w.ehr.Script(retryAfter(time.Now().Add(skew + 5*time.Second).UTC().Format(http.TimeFormat)))
			o := w.confirm(w.booking(1, 13))
			w.run(o)
			w.common(o, ehr.Applied)
			if n := w.ehr.Count("POST", "Appointment"); n != 2 {
				t.Errorf("%d writes", n)
			}
		}
	})
}
