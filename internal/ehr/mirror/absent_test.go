package mirror

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/internal/ehr"
)

// An EHR without slots is read each minute: it is said once.
func TestAKindThatTheEHRDoesNotHaveIsSaidOnce(t *testing.T) {
	busy := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/fhir+json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/Slot") || strings.HasSuffix(r.URL.Path, "/Schedule"):
			w.WriteHeader(http.StatusNotFound)
		case busy && strings.HasSuffix(r.URL.Path, "/Patient"):
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, `{"resourceType":"Bundle","type":"searchset","total":0}`)
	}))
	defer server.Close()
	client, err := ehr.NewClient(ehr.Connection{URL: server.URL + "/fhir"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	m := Mirror{Clinic: "x", EHR: client, Store: &counting{}, IDs: func(string) string { return "req_1" }, Via: "worker", Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		passes, err := m.Run(context.Background(), false)
		if err != nil || len(passes) != 6 || passes[3].Code != "http_404" || passes[4].Code != "http_404" {
			t.Fatalf("%+v %v", passes, err)
		}
		busy = true
	}
	for what, want := range map[string]int{"kind=Slot": 1, "kind=Schedule": 1, "kind=Patient": 2, "level=WARN": 4} {
		if got := strings.Count(log.String(), what); got != want {
			t.Errorf("%s %d times, want %d:\n%s", what, got, want, &log)
		}
	}
}
