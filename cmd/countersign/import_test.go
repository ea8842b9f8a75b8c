package main

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/internal/ehr/fhirserver"
)

const (
	importPlaces = `{"resourceType":"Location","id":"i.1","name":"Havn","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/timezone","valueCode":"Europe/Copenhagen"}]}
{"resourceType":"Practitioner","id":"holm","name":[{"family":"Holm","given":["Anna"]}]}
{"resourceType":"Schedule","id":"s1","actor":[{"reference":"Practitioner/holm"},{"reference":"Location/i.1"}]}
`
	importPatient = `{"resourceType":"Patient","id":"p1","identifier":[{"value":"77"}],"name":[{"family":"Secretsen","given":["Maria"]}],"birthDate":"1984-03-11"}
`
	importBad = `{"resourceType":"Appointment","id":"bad","status":"booked","start":"2026-01-05T10:00:00Z","end":"2026-01-05T09:00:00Z","participant":[{"status":"accepted","actor":{"reference":"Patient/p1"}},{"status":"accepted","actor":{"reference":"Practitioner/holm"}}]}
`
)

// An operator imports files into a clinic that is not there yet, then reads its EHR: a real FHIR server.
func TestImportAndSync(t *testing.T) {
	url := dbtest.URL(t, db.Migrate)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	places, patients, bad := file("places.ndjson", importPlaces), file("patients.ndjson", importPatient), file("bad.ndjson", importPatient+importBad)
	base := fhirserver.URL(t)
	r, err := http.NewRequestWithContext(context.Background(), "PUT", base+"/Practitioner/okafor", strings.NewReader(`{"resourceType":"Practitioner","id":"okafor","name":[{"family":"Okafor"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	environ := []string{"DATABASE_URL=" + url}
	elsewhere := filepath.Join(dir, "connections.json")
	if err := os.WriteFile(elsewhere, []byte(`[{"clinic": "Ny Klinik", "url": "", "timeout": "30s"}, {"clinic": "Gammel Klinik", "url": ""}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     []string
		status   int
		out, err string
	}{
		{[]string{"import", "--clinic", "Ny Klinik", patients}, 1, "", `no clinic "Ny Klinik"`},
		{[]string{"import", "--clinic", "Ny Klinik", places, patients}, 0, "new or changed 1 Patient", `clinic "Ny Klinik" was made`},
		{[]string{"import", "--clinic", "Ny Klinik", places, patients}, 0, "new or changed nothing", ""},
		{[]string{"import", "--clinic", "Ny Klinik", bad, places}, 1, "bad.ndjson: nothing was taken", "bad.ndjson: line 2: refused: Appointment/bad it ends at or before its start"},
		{[]string{"import", "--clinic", "Ny Klinik", filepath.Join(dir, "none")}, 1, "", "no such file"},
		{[]string{"import", "--clinic", "Ny Klinik", dir}, 1, "", "no regular file"},
		{[]string{"sync", "--clinic", "Ny Klinik"}, 1, "", "has no EHR"},
		{[]string{"sync", "--clinic", "Ny Klinik", "--ehr-connections", elsewhere}, 1, "", `entry 2: no clinic "Gammel Klinik"`},
		{[]string{"sync", "--clinic", "Ny Klinik", "--ehr-url", base}, 0, "Practitioner: 1 read on 1 pages, 1 new or changed, 0 not taken", ""},
		{[]string{"sync", "--clinic", "Ny Klinik", "--full", "--ehr-url", base}, 0, "drift: 4 gone\n  Location there i.1, here ", ""},
		{[]string{"sync", "--clinic", "Ny Klinik", "--ehr-url", "http://127.0.0.1:1/fhir"}, 1, "not to the end: no_answer", ""},
	} {
		status, out, errs := said(t, environ, c.args...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) {
			t.Errorf("%v: status %d\n%s%s", c.args, status, out, errs)
		}
		if strings.Contains(out+errs, "Secretsen") || strings.Contains(out+errs, "1984") {
			t.Errorf("%v names a patient: %s%s", c.args, out, errs)
		}
	}
}

// Two imports make the same clinic at once: one makes it, and the other, which saw none and waited, goes on with it.
func TestTwoImportsMakeOneClinic(t *testing.T) {
	url := dbtest.URL(t, db.Migrate)
	places := filepath.Join(t.TempDir(), "places.ndjson")
	if err := os.WriteFile(places, []byte(importPlaces), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	first, err := root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Rollback() //nolint:errcheck // it is committed below
	if _, err := first.Exec(`INSERT INTO clinics (id, name) VALUES ('ny', 'Ny')`); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		status    int
		out, errs string
	}
	second := make(chan answer, 1)
	go func() {
		var a answer
		a.status, a.out, a.errs = said(t, []string{"DATABASE_URL=" + url}, "import", "--clinic", "Ny", places)
		second <- a
	}()
	waits := 0
	for ; waits == 0; time.Sleep(5 * time.Millisecond) {
		select {
		case a := <-second:
			t.Fatalf("it did not wait: %+v", a)
		default:
		}
		if err := root.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO clinics%'`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	if a := <-second; a.status != 0 || !strings.Contains(a.out, "new or changed 1 Location") || strings.Contains(a.errs, "was made") {
		t.Errorf("%+v", a)
	}
}
