package mirrortest

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/fhirserver"
	"countersign/internal/ehr/intake"
	"countersign/internal/ehr/mirror"
	"countersign/internal/proposal"
)

// other is an EHR as its own users see it: a real FHIR server.
type other struct {
	t    *testing.T
	base string
}

func (o other) do(method, path, body string) (int, string) {
	o.t.Helper()
	r, err := http.NewRequest(method, o.base+"/"+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/fhir+json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

var kindAndID = regexp.MustCompile(`"resourceType":"(\w+)","id":"([^"]+)"`)

// put writes resources as the EHR's own users would.
func (o other) put(resources ...string) {
	o.t.Helper()
	for _, r := range resources {
		found := kindAndID.FindStringSubmatch(r)
		if status, text := o.do("PUT", found[1]+"/"+found[2], r); status != 200 && status != 201 {
			o.t.Fatalf("%s/%s: %d %s", found[1], found[2], status, text)
		}
	}
}

// version of an appointment there.
func (o other) version(id string) string {
	_, text := o.do("GET", "Appointment/"+id, "")
	return regexp.MustCompile(`"versionId":"([^"]+)"`).FindStringSubmatch(text)[1]
}

func mirrorOf(t *testing.T, d *desktest.Desk, base string) *mirror.Mirror {
	t.Helper()
	client, err := ehr.NewClient(ehr.Connection{Clinic: "hav", URL: base, Timeout: 10 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &mirror.Mirror{Clinic: "hav", EHR: client, Store: db.Mirror{DB: d.DB, IDs: desktest.ID}, IDs: desktest.ID, Via: "worker", Log: slog.New(slog.DiscardHandler)}
}

// synced runs once and gives "KIND code changed drift" of every pass that has something to say.
func synced(t *testing.T, m *mirror.Mirror, full bool) (said []string) {
	t.Helper()
	passes, err := m.Run(ctx, full)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range passes {
		if p.Code != "" || p.Changed > 0 || p.Drift > 0 {
			said = append(said, strings.TrimSpace(fmt.Sprintf("%s %d %d %s", p.Kind, p.Changed, p.Drift, p.Code)))
		}
	}
	return said
}

// drift is "KIND/REMOTE|ID code", sorted, without the visits of ours that the EHR never had.
func drift(t *testing.T, d *desktest.Desk) (all []string) {
	t.Helper()
	err := d.DB.Read(ctx, "hav", func(tx *db.Tx) error {
		list, _, err := tx.Drift(ctx, 1000)
		for _, x := range list {
			if x.Code != intake.CodeUnknownThere {
				all = append(all, x.Kind+"/"+x.Remote+"|"+x.ID+" "+x.Code)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("%s:\n got  %q\n want %q", what, got, want)
	}
}

func version(t *testing.T, d *desktest.Desk, appointment string) string {
	return one(t, d, `SELECT version::text FROM appointments WHERE clinic = 'hav' AND id = $1`, appointment)
}

func TestWhatChangesInTheEHRChangesHere(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	m := mirrorOf(t, d, o.base)
	same(t, "first", synced(t, m, false), "Location 1 0", "Practitioner 1 0", "Patient 1 0", "Schedule 1 0", "Slot 3 0", "Appointment 1 0")
	before := rows(t, d)
	same(t, "nothing new", synced(t, m, false))
	if rows(t, d) != before {
		t.Error("reading the same again changed rows")
	}

	// A visit is moved there: here its version rises, its slots follow, and a proposal that waits is stale.
	waiting := d.Propose(d.Actor("ana"), cancel("n_a1"))
	o.put(visit("n_a1", "n_p1", "n_holm", "09:30:00", "10:00:00"))
	same(t, "moved", synced(t, m, false), "Appointment 1 0")
	if got := version(t, d, "n_a1"); got != "2" {
		t.Errorf("version %s", got)
	}
	if got := one(t, d, `SELECT string_agg(concat_ws('|', id, state, appointment), ' ' ORDER BY id) FROM slots WHERE schedule = 'n_s1'`); got != "n_sl1|closed n_sl2|open|n_a1 n_sl3|closed" {
		t.Errorf("slots: %s", got)
	}
	if now, err := d.Desk.Get(ctx, d.Actor("ana"), waiting.ID); err != nil || !now.Stale {
		t.Errorf("the proposal is not stale: %+v %v", now.Changed, err)
	}
	if got := one(t, d, `SELECT string_agg(concat_ws(' ', version, changed_via), ',' ORDER BY version) FROM appointment_history WHERE appointment = 'n_a1'`); got != "1 mirror,2 mirror" {
		t.Errorf("history: %s", got)
	}

	// Cancelled there, and two visits change places in one page.
	o.put(visit("n_a2", "n_p1", "n_holm", "11:00:00", "11:30:00"), visit("n_a3", "n_p1", "n_holm", "12:00:00", "12:30:00"))
	same(t, "two more", synced(t, m, false), "Appointment 2 0")
	o.put(visit("n_a2", "n_p1", "n_holm", "12:00:00", "12:30:00"), visit("n_a3", "n_p1", "n_holm", "11:00:00", "11:30:00"))
	same(t, "changed places", synced(t, m, false), "Appointment 2 0")
	same(t, "drift", drift(t, d))
}

func cancel(appointment string) proposal.Proposing {
	return proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": appointment, "reason_code": "patient_request"}}
}

// Case X07: what we caused comes back, and nothing rises.
func TestOurOwnChangeComesBack(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	m := mirrorOf(t, d, o.base)
	synced(t, m, false)

	// We moved it: the connector noted the version that the EHR answered with. Since then the patient has arrived here.
	o.put(visit("n_a1", "n_p1", "n_holm", "09:30:00", "10:00:00"))
	d.Exec(`UPDATE appointments SET during = tstzrange(ends_at, ends_at + interval '30 min'), status = 'arrived', changed_via = 'plan' WHERE clinic = 'hav' AND id = 'n_a1'`)
	d.Exec(`UPDATE ehr_links SET remote_version = '` + o.version("n_a1") + `' WHERE clinic = 'hav' AND kind = 'Appointment' AND id = 'n_a1'`)
	before := version(t, d, "n_a1")
	same(t, "the echo", synced(t, m, false))
	if got := version(t, d, "n_a1"); got != before || one(t, d, `SELECT status FROM appointments WHERE id = 'n_a1'`) != "arrived" {
		t.Errorf("version %s, before %s", got, before)
	}

	// A booking of ours is there, and we do not know it yet: it is the reconciler's, and not lost.
	d.Propose(d.Actor("ana"), cancel("apt_maria"))
	d.Exec(`INSERT INTO ehr_operations (clinic, id, proposal, revision, plan_hash, kind, appointment, state, send_until, deadline, person, person_name, role, via, request)
		SELECT 'hav', 'op_1', id, 1, 'x', 'book', 'apt_new', 'unknown', app_now() + interval '1 hour', app_now() + interval '1 day', 'ana', 'ana', 'staff', 'page', 'r' FROM proposals WHERE clinic = 'hav' LIMIT 1`)
	ours := strings.Replace(visit("n_ours", "n_p1", "n_holm", "13:00:00", "13:30:00"), `"status":"booked"`, `"identifier":[{"system":"`+ehr.IdentifierSystem+`","value":"op_1"}],"status":"booked"`, 1)
	o.put(ours)
	same(t, "on its way", synced(t, m, false), "Appointment 0 1")
	same(t, "drift", drift(t, d), "Appointment/n_ours| operation_open")
	if got := one(t, d, `SELECT count(*)::text FROM appointments WHERE id IN ('n_ours', 'apt_new')`); got != "0" {
		t.Error("the mirror made a visit of our own booking")
	}
	// The reconciler ends it: visit, link and operation in one transaction.
	d.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via)
		SELECT clinic, 'apt_new', patient, practitioner, location, type, 'booked', tstzrange(starts_at + interval '3 hours 30 min', ends_at + interval '3 hours 30 min'), 'x', 'plan' FROM appointments WHERE id = 'n_a1';
		INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', 'apt_new', 'n_ours', '` + o.version("n_ours") + `');
		UPDATE ehr_operations SET state = 'applied', ended_at = app_now() WHERE id = 'op_1'`)
	same(t, "known now", synced(t, m, false))
	same(t, "drift", drift(t, d))
	if got := version(t, d, "apt_new"); got != "1" {
		t.Errorf("our booking is at version %s", got)
	}
}

func TestWhatCannotBeTakenIsDriftUntilItCan(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	o := other{t, fhirserver.URL(t)}
	o.put(world()...)
	o.put(visit("n_late", "n_p1", "n_holm", "09:15:00", "09:45:00"), visit("n_who", "n_p9", "n_holm", "14:00:00", "14:30:00"),
		strings.Replace(patient("n_p8", "N8"), `"birthDate":"1984-03-11",`, "", 1), visit("n_after", "n_p1", "n_holm", "15:00:00", "15:30:00"))
	m := mirrorOf(t, d, o.base)
	said := synced(t, m, false)
	same(t, "first", said, "Location 1 0", "Practitioner 1 0", "Patient 1 1", "Schedule 1 0", "Slot 3 0", "Appointment 2 2")
	same(t, "drift", drift(t, d), "Appointment/n_late| overlap", "Appointment/n_who| unknown_reference", "Patient/n_p8| incomplete")

	// The EHR's people put it right: the patient comes, the visit in the way goes elsewhere.
	o.put(patient("n_p9", "N9"), patient("n_p8", "N8"), visit("n_a1", "n_p1", "n_holm", "16:00:00", "16:30:00"))
	synced(t, m, false)
	same(t, "solved", drift(t, d))

	// A full reading finds what is gone, and what only we know.
	if status, text := o.do("DELETE", "Appointment/n_after", ""); status != 200 {
		t.Fatal(status, text)
	}
	if status, text := o.do("DELETE", "Slot/n_sl2", ""); status != 200 {
		t.Fatal(status, text)
	}
	synced(t, m, true)
	same(t, "gone", drift(t, d), "Appointment/n_after|n_after gone")
	if got := one(t, d, `SELECT state FROM slots WHERE id = 'n_sl2'`); got != "closed" {
		t.Errorf("a slot that is gone is %s", got)
	}
	if got := one(t, d, `SELECT string_agg(id, ',' ORDER BY id) FROM ehr_drift WHERE clinic = 'hav' AND code = 'unknown_there'`); got != "apt_maria,apt_soren" {
		t.Errorf("known here only: %s", got)
	}
	o.put(visit("n_after", "n_p1", "n_holm", "15:00:00", "15:30:00"))
	synced(t, m, false)
	same(t, "back again", drift(t, d))
}

// script is an EHR of which a test says every answer.
type script struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	answer func(w http.ResponseWriter, r *http.Request)
}

func scripted(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *script {
	s := &script{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.String())
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/fhir+json")
		s.answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

const emptyPage = `{"resourceType":"Bundle","type":"searchset","total":0}`

// A page that fails is never "nothing there", and the next reading starts where this one did.
func TestAFailingPageMovesNoCursor(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the mirror followed a link to another server: %s", r.URL)
	}))
	t.Cleanup(foreign.Close)
	var fault string
	s := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/Practitioner") {
			fmt.Fprint(w, emptyPage)
			return
		}
		if r.URL.Query().Get("page") == "" {
			next := "http://" + r.Host + "/fhir/Practitioner?page=2"
			if fault == "elsewhere" {
				next = foreign.URL + "/fhir/Practitioner?page=2"
			}
			fmt.Fprintf(w, `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":%q}],"entry":[{"resource":%s}]}`, next,
				strings.Replace(practitioner("n_1"), `"name"`, `"meta":{"lastUpdated":"2026-01-02T03:04:05Z"},"name"`, 1))
			return
		}
		switch fault {
		case "404":
			w.WriteHeader(404)
		case "500":
			w.WriteHeader(500)
		case "html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>200</html>")
		case "half":
			fmt.Fprint(w, emptyPage[:30])
		case "outcome":
			fmt.Fprint(w, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"exception"}]}`)
		case "redirect":
			http.Redirect(w, r, foreign.URL, http.StatusFound)
		default:
			fmt.Fprint(w, emptyPage)
		}
	})
	m := mirrorOf(t, d, s.URL+"/fhir")
	for f, code := range map[string]string{"404": "http_404", "500": "http_500", "html": "not_fhir", "half": "malformed", "outcome": "malformed", "redirect": "http_302", "elsewhere": "elsewhere"} {
		fault = f
		passes, err := m.Run(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(passes) != 6 || passes[1].Code != code || passes[5].Code != "" {
			t.Errorf("%s: %+v", f, passes)
		}
		if got := one(t, d, `SELECT concat(since, code) FROM ehr_cursors WHERE clinic = 'hav' AND kind = 'Practitioner'`); got != code {
			t.Errorf("%s: the cursor stands at %s", f, got)
		}
	}
	fault = ""
	synced(t, m, false)
	if got := one(t, d, `SELECT concat(since AT TIME ZONE 'UTC', code) FROM ehr_cursors WHERE clinic = 'hav' AND kind = 'Practitioner'`); got != "2026-01-02 03:04:05" {
		t.Errorf("the cursor stands at %s", got)
	}
	// The next reading looks back a little; a server whose clock runs ahead cannot hide what happens meanwhile.
	s.asked = nil
	synced(t, m, false)
	if !slices.ContainsFunc(s.asked, func(u string) bool {
		return strings.Contains(u, "/Practitioner?_count=100&_lastUpdated=ge2026-01-02T02%3A54%3A05Z")
	}) {
		t.Errorf("asked %q", s.asked)
	}
}
