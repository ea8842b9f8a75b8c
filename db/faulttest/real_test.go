package faulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/ehr/fhirserver"
)

// fhirCall is one call of a test's own to the real server.
func fhirCall(t testing.TB, method, url string, body any) map[string]any {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequest(method, url, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/fhir+json")
	response, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s: %d %v %v", method, response.StatusCode, out, err)
	}
	return out
}

// meddling is a transport that lets somebody else change the target between our look and our write.
type meddling struct{ meddle func() }

func (m *meddling) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut && m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A FHIR server that we did not write takes what we send, and says no when somebody was faster: book, move and cancel;
// an edit since the plan; an edit between our look and our write.
func TestARealFHIRServer(t *testing.T) {
	t.Parallel()
	base := fhirserver.URL(t)
	w := &world{Desk: desktest.New(t), visit: "apt_maria", start: 10 * time.Hour}
	w.begin(t, ehrtest.Mode{}) // its EHR stays unused
	w.Exec(`DELETE FROM ehr_links`)
	ids := map[string]string{}
	for kind, resource := range map[string]map[string]any{
		"Patient":      {"resourceType": "Patient", "name": []any{map[string]any{"family": "Jensen", "given": []any{"Maria"}}}},
		"Practitioner": {"resourceType": "Practitioner", "name": []any{map[string]any{"family": "Holm"}}},
		"Location":     {"resourceType": "Location", "name": "Havnegade 12"},
	} {
		ids[kind], _ = fhirCall(t, "POST", base+"/"+kind, resource)["id"].(string)
		w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id) VALUES ('hav', $1, $2, $3)`, kind,
			map[string]string{"Patient": "maria", "Practitioner": "holm", "Location": "main"}[kind], ids[kind])
	}
	part := func(kind string) any {
		return map[string]any{"actor": map[string]any{"reference": kind + "/" + ids[kind]}, "status": "accepted"}
	}
	there := fhirCall(t, "POST", base+"/Appointment", map[string]any{"resourceType": "Appointment", "status": "booked", "description": "kept as it is",
		"start": w.At(0, 10, 0).Format(time.RFC3339), "end": w.At(0, 10, 30).Format(time.RFC3339), "participant": []any{part("Patient"), part("Practitioner"), part("Location")}})
	visit, _ := there["id"].(string)
	version := there["meta"].(map[string]any)["versionId"]
	w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', 'apt_maria', $1, $2)`, visit, version)
	hand := &meddling{}
	w.connect(t, func(_ *world, c *ehr.Connection, transport *http.RoundTripper) {
		c.URL, c.Timeout = base, 10*time.Second
		*transport = hand
	})
	read := func() map[string]any { return fhirCall(t, "GET", base+"/Appointment/"+visit, nil) }

	b := w.confirm(w.booking(1, 13))
	w.run(b)
	w.common(b, ehr.Applied)
	found := fhirCall(t, "GET", base+"/Appointment?identifier="+ehr.IdentifierSystem+"%7C"+b.op, nil)
	if entries, _ := found["entry"].([]any); len(entries) != 1 {
		t.Errorf("found by our identifier: %v", found)
	}

	m := w.confirm(w.Move("apt_maria", w.At(0, 14, 0)))
	w.run(m)
	w.common(m, ehr.Applied)
	if a := read(); a["start"] != w.At(0, 14, 0).Format(time.RFC3339) || a["description"] != "kept as it is" {
		t.Errorf("moved to %v", a)
	}

	// Somebody is faster than our write: the server's 412, and nothing of ours.
	hand.meddle = func() {
		a := read()
		a["description"] = "changed by another"
		fhirCall(t, "PUT", base+"/Appointment/"+visit, a)
	}
	late := w.confirm(w.Move("apt_maria", w.At(0, 15, 0)))
	w.run(late)
	w.common(late, ehr.Refused)
	if got := w.Text(`SELECT http_status || ' ' || outcome || ' ' || code FROM ehr_attempts WHERE operation = $1`, late.op); got != "412 rejected resource_changed" {
		t.Errorf("the attempt: %s", got)
	}

	// The plan is made from a version that is no longer there: nothing is sent.
	stale := w.confirm(w.cancelling())
	w.run(stale)
	w.common(stale, ehr.Refused)
	if n := w.Text(`SELECT count(*) FROM ehr_attempts WHERE operation = $1`, stale.op); n != "0" {
		t.Errorf("%s attempts from a stale plan", n)
	}

	w.Exec(`UPDATE ehr_links SET remote_version = $1 WHERE kind = 'Appointment' AND id = 'apt_maria'`, fmt.Sprint(read()["meta"].(map[string]any)["versionId"]))
	c := w.confirm(w.cancelling())
	w.run(c)
	w.common(c, ehr.Applied)
	if a := read(); a["status"] != "cancelled" || a["description"] != "changed by another" {
		t.Errorf("cancelled: %v", a)
	}
}
