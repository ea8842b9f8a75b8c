//go:build unix

package fhirserver

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

const slot = `{"resourceType":"Appointment","status":"booked","start":"2026-10-01T08:00:00Z","end":"2026-10-01T08:30:00Z",
	"identifier":[{"system":"urn:countersign:operation","value":"op1"}],"participant":[{"status":"accepted","actor":{"reference":"Patient/p1"}}]}`

func do(t *testing.T, method, url, body string, head ...string) (int, http.Header, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/fhir+json")
	for i := 0; i < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res.StatusCode, res.Header, got
}

// That it is a real server shows in what ours would be tempted to leave out.
func TestTheServerIsReal(t *testing.T) {
	base := URL(t)

	status, head, made := do(t, "POST", base+"/Appointment", slot, "If-None-Exist", "identifier=urn:countersign:operation|op1")
	id, _ := made["id"].(string)
	if status != 201 || id == "" || head.Get("ETag") == "" || head.Get("Last-Modified") == "" ||
		!strings.HasPrefix(head.Get("Location"), base+"/Appointment/"+id+"/_history/") {
		t.Fatalf("create: %d %v %v", status, head, made)
	}
	if status, _, again := do(t, "POST", base+"/Appointment", slot, "If-None-Exist", "identifier=urn:countersign:operation|op1"); status != 200 || again["id"] != id {
		t.Errorf("conditional create of what is there: %d, id %v", status, again["id"])
	}
	do(t, "POST", base+"/Appointment", slot)
	if status, _, _ := do(t, "POST", base+"/Appointment", slot, "If-None-Exist", "identifier=urn:countersign:operation|op1"); status != 412 {
		t.Errorf("conditional create where two match: %d", status)
	}

	changed := strings.Replace(slot, `{"resourceType"`, `{"id":"`+id+`","resourceType"`, 1)
	changed = strings.Replace(changed, "booked", "cancelled", 1)
	etag := head.Get("ETag")
	if status, _, _ := do(t, "PUT", base+"/Appointment/"+id, changed, "If-Match", etag); status != 200 {
		t.Errorf("update of the current version: %d", status)
	}
	if status, _, _ := do(t, "PUT", base+"/Appointment/"+id, changed, "If-Match", etag); status != 412 {
		t.Errorf("update of an old version: %d", status)
	}
	if status, _, got := do(t, "GET", base+"/Appointment/"+id, ""); status != 200 || got["status"] != "cancelled" {
		t.Errorf("read: %d %v", status, got)
	}

	for _, search := range []struct {
		query string
		want  float64
	}{
		{"identifier=urn:countersign:operation|op1", 2},
		{"identifier=urn:other|op1", 0},
		{"identifier=urn:countersign:operation|op1&status=booked", 1},
		{"patient=Patient/p1&date=ge2026-10-01&date=lt2026-10-02", 2},
		{"_lastUpdated=ge2100-01-01T00:00:00Z", 0},
	} {
		if status, _, got := do(t, "GET", base+"/Appointment?"+strings.ReplaceAll(search.query, "|", "%7C"), ""); status != 200 || got["type"] != "searchset" || got["total"] != search.want {
			t.Errorf("search %s: %d, %v, want %v", search.query, status, got["total"], search.want)
		}
	}

	for name, bad := range map[string]string{
		"an unknown member": strings.Replace(slot, `"status":"booked"`, `"status":"booked","colour":"red"`, 1),
		"no status":         strings.Replace(slot, `"status":"booked",`, ``, 1),
		"half JSON":         slot[:40],
	} {
		if status, _, got := do(t, "POST", base+"/Appointment", bad); status != 400 || got["resourceType"] != "OperationOutcome" {
			t.Errorf("%s: %d %v", name, status, got["resourceType"])
		}
	}
	if status, _, got := do(t, "GET", base+"/Appointment/nobody", ""); status != 404 || got["resourceType"] != "OperationOutcome" {
		t.Errorf("unknown: %d %v", status, got)
	}
	if status, _, got := do(t, "GET", URL(t)+"/Appointment", ""); status != 200 || got["total"] != 0.0 {
		t.Errorf("another test's server: %d %v", status, got)
	}
}

func TestPagesAreLinked(t *testing.T) {
	base := URL(t)
	for range 5 {
		do(t, "POST", base+"/Appointment", slot)
	}
	seen, next := map[any]bool{}, base+"/Appointment?_count=2&_lastUpdated=ge2020-01-01T00:00:00Z"
	for pages := 0; next != "" && pages < 9; pages++ {
		_, _, got := do(t, "GET", next, "")
		next = ""
		for _, l := range got["link"].([]any) {
			if l := l.(map[string]any); l["relation"] == "next" {
				next = l["url"].(string)
			}
		}
		for _, e := range got["entry"].([]any) {
			seen[e.(map[string]any)["resource"].(map[string]any)["id"]] = true
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d of 5 seen", len(seen))
	}
}

func TestItEndsWhenAsked(t *testing.T) {
	s, err := Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := http.Get(s.Base); err == nil {
		t.Error("it answers after its end")
	}
}

func TestWithoutNodeTheTextSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(context.Background()); err == nil || !strings.Contains(err.Error(), "scripts/need.sh node") {
		t.Errorf("got %v", err)
	}
}

// Packages come from wherever the machine's npm fetches them: no address of that stands in what is committed.
func TestNoAddressOfAPackageIsCommitted(t *testing.T) {
	address := regexp.MustCompile(`https?://[^"\s]*`)
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "package") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range address.FindAllString(string(text), -1) {
			u, _ := url.Parse(found)
			t.Errorf("%s names %s", path, u.Host)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
