package handlers

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// A frozen database lets its driver wait whatever the context says; whoever asks whether we are ready does not wait.
func TestReadinessIsToldWhileTheDatabaseIsFrozen(t *testing.T) {
	thawed := make(chan struct{})
	defer close(thawed)
	s := newSite(t, siteOptions{deps: func(d *Deps) { d.Ready = func(context.Context) error { <-thawed; return nil } }})
	began := time.Now()
	if a := s.browser().get("/readyz"); a.status != http.StatusServiceUnavailable || time.Since(began) > 10*time.Second {
		t.Errorf("%d after %v", a.status, time.Since(began))
	}
}
