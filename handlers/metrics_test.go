package handlers

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Labels are templates and known methods: no value that somebody may make up, and so no end of series.
func TestRequestsAreMeasuredByTemplate(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := newSite(t, siteOptions{routes: desk, deps: func(d *Deps) { d.Metrics = registry }})
	b := s.browser()
	b.get("/test/desk?x=Canary")
	b.get("/Canary")
	b.send("CANARY", "/signin", nil)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range families {
		all.WriteString(f.String())
	}
	for _, want := range []string{`value:"/test/desk"`, `value:"unmatched"`, `value:"other"`, `value:"303"`, `value:"404"`, `value:"405"`} {
		if !strings.Contains(strings.ReplaceAll(all.String(), `value: "`, `value:"`), want) {
			t.Errorf("no %s in %s", want, all.String())
		}
	}
	if strings.Contains(strings.ToLower(all.String()), "canary") {
		t.Errorf("a made-up value is a label: %s", all.String())
	}
}
