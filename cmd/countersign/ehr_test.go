package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
	"countersign/internal/ehr"
)

func TestClinicsOfOneEHR(t *testing.T) {
	of := func(urls ...string) *connections {
		c := &connections{named: map[string]ehr.Connection{}}
		for i, u := range urls {
			c.named[fmt.Sprint("c", i)] = ehr.Connection{URL: u}
		}
		return c
	}
	for _, x := range []struct {
		mine, other string
		shared      bool
	}{
		{"https://ehr.example/fhir", "https://EHR.example:443/fhir/", true},
		{"http://ehr.example", "http://ehr.example:80/", true},
		{"https://ehr.example/fhir", "https://ehr.example//fhir", true},
		{"https://ehr.example/a", "https://ehr.example/b", false},
		{"https://ehr.example/fhir", "https://ehr.example:8443/fhir", false},
		{"https://ehr.example/fhir", "http://ehr.example/fhir", false},
		{"https://ehr.example/fhir", "", false},
		{"", "", false},
	} {
		if got := of(x.mine, x.other).shared("c0", []string{"c0", "c1", "c2"}); got != x.shared {
			t.Errorf("%q beside %q: %v", x.mine, x.other, got)
		}
	}
	if c := (&connections{everyone: ehr.Connection{URL: "https://ehr.example"}}); !c.shared("a", []string{"a", "b"}) || c.shared("a", []string{"a"}) {
		t.Error("the EHR of every clinic is shared when there are two, and only then")
	}
}

// Of two clinics with one EHR neither is given its patients by itself. An operator may ask; one alone is read.
func TestASharedEHRIsNotReadByItself(t *testing.T) {
	d := desktest.On(t, dbtest.URL(t, db.Migrate))
	var asked, askedAlone atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/alone/") {
			askedAlone.Add(1)
		} else {
			asked.Add(1)
		}
		w.Header().Set("Content-Type", "application/fhir+json")
		fmt.Fprint(w, `{"resourceType":"Bundle","type":"searchset","total":0}`)
	}))
	defer server.Close()
	ids, err := d.DB.Clinics(context.Background())
	if err != nil || len(ids) < 2 {
		t.Fatal(ids, err)
	}
	d.Exec(`INSERT INTO clinics (id, name) VALUES ('lone', 'Lone Clinic')`)
	d.Exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('lone_admin', 'lone', 'lone@example.test', 'Lone', 'admin', 'x')`)
	conns := &connections{everyone: ehr.Connection{URL: server.URL + "/fhir"}, named: map[string]ehr.Connection{"lone": {URL: server.URL + "/alone"}}}
	says := &output{}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- mirrors(d.DB, conns, slog.New(slog.NewTextHandler(says, nil)))(ctx) }()
	const words = "other clinics have the same EHR"
	for deadline := time.Now().Add(30 * time.Second); strings.Count(says.String(), words) < len(ids) || askedAlone.Load() < 6; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("asked %d: %s", askedAlone.Load(), says)
		}
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 0 || strings.Contains(says.String(), "clinic=lone") {
		t.Errorf("asked %d times: %s", n, says)
	}
	name := d.Text(`SELECT name FROM clinics WHERE id = $1`, ids[0])
	status, out, errs := said(t, []string{"DATABASE_URL=" + d.URL, "COUNTERSIGN_EHR_URL=" + server.URL + "/fhir"}, "sync", "--clinic", name)
	if status != 0 || asked.Load() < 6 {
		t.Errorf("an operator's sync: status %d, asked %d times: %s%s", status, asked.Load(), out, errs)
	}
}
