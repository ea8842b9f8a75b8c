package static

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestVendoredFilesAreTheOnesRecorded(t *testing.T) {
	content, err := files.ReadFile(HTMX)
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile("vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if !strings.Contains(string(record), hex.EncodeToString(sum[:])) {
		t.Errorf("sha256 %x of %s is not in vendor/README.md", sum, HTMX)
	}
}

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		method, url string
		status      int
		cache       string
	}{
		{"GET", URL(CSS), 200, "public, max-age=31536000, immutable"},
		{"GET", "/static/countersign.css?v=old", 200, "no-cache"},
		{"GET", "/static/static.go", 404, ""},
		{"GET", "/static/../static.go", 404, ""},
		{"GET", "/static/vendor/README.md", 404, ""},
		{"POST", URL(CSS), 405, ""},
		{"GET", HoursURL(480, 960, 15, 720, 750), 200, "public, max-age=86400"},
		{"GET", "/static/hours.css?from=x&to=960&grid=15&lunch=", 404, ""},
		{"GET", "/static/hours.css?from=0&to=999999&grid=5&lunch=0-0", 404, ""},
	} {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest(c.method, c.url, nil))
		if w.Code != c.status || c.cache != "" && w.Header().Get("Cache-Control") != c.cache {
			t.Errorf("%s %s: %d %q", c.method, c.url, w.Code, w.Header().Get("Cache-Control"))
		}
	}
	r := httptest.NewRequest("GET", URL(JS), nil)
	r.Header.Set("If-None-Match", `"`+versions[JS]+`"`)
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("with its ETag: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestHoursCSS(t *testing.T) {
	css := string(HoursCSS(480, 960, 15, 720, 750))
	for _, want := range []string{"repeat(16,var(--row)) repeat(2,calc(var(--row)/2)) repeat(14,var(--row))", ".r32{grid-row-start:32}", ".s32{grid-row-end:span 32}", ".k99{"} {
		if !strings.Contains(css, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(css, ".r33{") {
		t.Error("a row after closing")
	}
	if night := string(HoursCSS(1320, 1560, 60, 0, 0)); !strings.Contains(night, "repeat(4,var(--row))}") {
		t.Errorf("22:00 to 02:00 in hours: %s", night)
	}
	for _, bad := range [][5]int{{960, 480, 15}, {-1, 60, 15}, {0, 2881, 15}, {0, 60, 0}, {0, 60, 61}} {
		if HoursCSS(bad[0], bad[1], bad[2], bad[3], bad[4]) != nil {
			t.Errorf("%v gives a stylesheet", bad)
		}
	}
}
