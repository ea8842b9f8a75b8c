package mirror

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/intake"
)

// counting is a store that only counts. What a real one keeps of a page is not more: db/mirrortest.
type counting struct{ rows, finished int }

func (*counting) Cursor(context.Context, string, string) (Cursor, error) {
	return Cursor{Now: time.Now()}, nil
}

func (c *counting) Take(_ context.Context, _, _ string, rows []intake.Row, _ []Broken, _ bool) (int, int, error) {
	c.rows += len(rows)
	return len(rows), 0, nil
}

func (*counting) Retry(context.Context, string, string, time.Time, int) ([]string, error) {
	return nil, nil
}
func (*counting) Unseen(context.Context, string, string, time.Time, int) ([]string, error) {
	return nil, nil
}
func (*counting) Gone(context.Context, string, string, string) error     { return nil }
func (*counting) Fail(context.Context, string, string, string) error     { return nil }
func (*counting) Close(context.Context, string, string, bool, int) error { return nil }

func (c *counting) Finish(context.Context, string, string, time.Time, bool, time.Time) error {
	c.finished++
	return nil
}

// Six hundred pages of a hundred: what is held is one of them.
func TestMemoryIsOnePage(t *testing.T) {
	const pages, size = 600, 100
	var most uint64
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/fhir+json")
		if !strings.HasSuffix(r.URL.Path, "/Patient") {
			fmt.Fprint(w, `{"resourceType":"Bundle","type":"searchset","total":0}`)
			return
		}
		n := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &n)
		if n%50 == 49 {
			most = max(most, heap())
		}
		fmt.Fprint(w, `{"resourceType":"Bundle","type":"searchset"`)
		if n+1 < pages {
			fmt.Fprintf(w, `,"link":[{"relation":"next","url":"/fhir/Patient?page=%d"}]`, n+1)
		}
		fmt.Fprint(w, `,"entry":[`)
		for i := range size {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"resource":{"resourceType":"Patient","id":"m-%d","name":[{"family":"Holm","given":["Anna"]}],"birthDate":"1980-01-02","identifier":[{"value":"%d"}],"x":%q}}`,
				n*size+i, n*size+i, strings.Repeat("x", 1000))
		}
		fmt.Fprint(w, `]}`)
	}))
	defer server.Close()
	client, err := ehr.NewClient(ehr.Connection{URL: server.URL + "/fhir"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := &counting{}
	start := heap()
	m := Mirror{Clinic: "x", EHR: client, Store: store, IDs: func(string) string { return "req_1" }, Via: "cli", Log: slog.New(slog.DiscardHandler)}
	if _, err := m.Run(context.Background(), false); err != nil {
		t.Fatal(err)
	}
	if store.rows != pages*size || store.finished != 6 {
		t.Errorf("%d rows, %d kinds finished", store.rows, store.finished)
	}
	t.Logf("heap %d KiB before, %d KiB at most", start>>10, most>>10)
	if most > start+8<<20 {
		t.Errorf("%d MiB held while 70 MB went by", (most-start)>>20)
	}
}
