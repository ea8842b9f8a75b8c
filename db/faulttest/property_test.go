package faulttest

import (
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
	"countersign/internal/proposal"
)

// said turns what an assertion says into rapid's, so that a schedule that fails is made smaller.
type said struct {
	testing.TB
	rt *rapid.T
}

func (s said) Errorf(format string, v ...any) { s.rt.Fatalf(format, v...) }
func (s said) Fatalf(format string, v ...any) { s.rt.Fatalf(format, v...) }
func (s said) Fatal(v ...any)                 { s.rt.Fatal(v...) }
func (s said) Error(v ...any)                 { s.rt.Fatal(v...) }

// writeFault draws what goes wrong with a write: before it is done, after it, in what is stored, or in the answer. What an
// EHR says after it has done the thing may be a plain lie.
func writeFault(t *rapid.T) ehrtest.Fault {
	status := func() ehrtest.Fault {
		code := rapid.SampledFrom([]string{"conflict", "duplicate", "transient", "invalid", "business-rule", "not-found", "forbidden", ""}).Draw(t, "issue")
		s := rapid.SampledFrom([]int{302, 400, 401, 403, 404, 409, 410, 412, 422, 423, 424, 429, 500, 502, 503}).Draw(t, "status")
		return ehrtest.Status(fmt.Sprint(s, " ", code), s, code, "", "Retry-After", rapid.SampledFrom([]string{"", "3", "-1", "999999"}).Draw(t, "wait"))
	}
	switch rapid.IntRange(0, 10).Draw(t, "write fault") {
	case 0:
		return ehrtest.Fault{Name: "lost", Before: true, Drop: true}
	case 1:
		return ehrtest.Fault{Name: "answer lost", Drop: true}
	case 2:
		return ehrtest.Fault{Name: "answer lost, searches lag", Drop: true, Lag: time.Duration(rapid.IntRange(0, 100).Draw(t, "lag")) * time.Second}
	case 3:
		return status()
	case 4:
		return status().Afterwards()
	case 5:
		f := ehrtest.Page("a lie of a gateway, searches lag", rapid.SampledFrom([]int{302, 303, 401, 403, 405, 412, 423, 429, 501}).Draw(t, "gateway"))
		f.Lag = time.Duration(rapid.IntRange(0, 100).Draw(t, "lag")) * time.Second
		return f
	case 6:
		return ehrtest.Page("a page", rapid.SampledFrom([]int{200, 404, 502}).Draw(t, "page"))
	case 7:
		return ehrtest.Fault{Name: "garbage", Raw: []byte(`{"resourceType":"Appointment",`)}
	case 8:
		return ehrtest.Fault{Name: "another time", Stored: shiftHour, Drop: rapid.Bool().Draw(t, "lost")}
	case 9:
		return ehrtest.Fault{Name: "another patient", Stored: to("Patient/maria", "Patient/soren"), Drop: rapid.Bool().Draw(t, "lost")}
	}
	return ehrtest.Says("an outcome alone", 200, outcomeAlone("error", "conflict"))
}

func readFault(t *rapid.T) ehrtest.Fault {
	switch rapid.IntRange(0, 5).Draw(t, "read fault") {
	case 0:
		return ehrtest.Fault{Name: "lost", Drop: true}
	case 1:
		return ehrtest.Page("a page", rapid.SampledFrom([]int{200, 404, 500}).Draw(t, "page"))
	case 2:
		return ehrtest.Status("status", rapid.SampledFrom([]int{401, 403, 429, 500, 503}).Draw(t, "status"), "exception", "")
	case 3:
		return ehrtest.Fault{Name: "garbage", Raw: []byte(`{"resourceType":"Bundle","entry":[{}]}`)}
	case 4:
		return ehrtest.Fault{Name: "not whole", Raw: []byte(rapid.SampledFrom([]string{bundle(`,"type":"searchset","total":1`), bundle(""), outcomeIn("warning", "incomplete")}).Draw(t, "bundle"))}
	}
	return ehrtest.Says("an outcome alone", 200, outcomeAlone("warning", "incomplete"))
}

// For any schedule of faults, in the end: the EHR holds what the desk says it holds, or a person is asked; never two
// bookings of one operation; messages once, and with the time that was approved; confirming again shows what came of it.
func TestAnyScheduleOfFaults(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"rapid.checks": "15", "rapid.shrinktime": "10s", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	w.Exec(`UPDATE patients SET contact = 'email' WHERE clinic = 'hav'`)
	rapid.Check(t, func(rt *rapid.T) {
		w.T = said{t, rt}
		w.forget()
		w.ehr = ehrtest.New(ehrtest.Mode{
			Argonaut: rapid.Bool().Draw(rt, "argonaut"), Async: rapid.Bool().Draw(rt, "async"), NoUpdate: rapid.Bool().Draw(rt, "no update"),
			NoSearch: rapid.Bool().Draw(rt, "ignores identifiers"), Conditional: rapid.Bool().Draw(rt, "conditional"), Minimal: rapid.Bool().Draw(rt, "minimal"),
			PageSize: rapid.IntRange(1, 3).Draw(rt, "page size"), OpenConflicts: true}, w.clock)
		w.Exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) VALUES ('hav', 'Appointment', $1, $2, '1')`, w.visit,
			w.ehr.Visit("maria", "holm", "main", w.Day.Add(w.start), w.Day.Add(w.start+30*time.Minute)))
		var orders []order
		for n := range rapid.IntRange(1, 2).Draw(rt, "bookings") {
			orders = append(orders, w.confirm(w.booking(1, 13+n)))
		}
		kind := rapid.SampledFrom([]string{"none", "move", "cancel"}).Draw(rt, "other")
		if kind != "none" {
			p := w.Move(w.visit, w.At(2, 15, 0))
			if kind == "cancel" {
				p = w.cancelling()
			}
			orders = append(orders, w.confirm(p))
		}
		for range rapid.IntRange(0, 4).Draw(rt, "faults") {
			from := rapid.IntRange(1, 3).Draw(rt, "from")
			r := ehrtest.Rule{Path: "Appointment", From: from, To: from + rapid.IntRange(0, 2).Draw(rt, "times"), Method: rapid.SampledFrom([]string{"POST", "PUT", "GET"}).Draw(rt, "method")}
			if r.Method == "GET" {
				r.Fault = readFault(rt)
			} else {
				r.Fault = writeFault(rt)
			}
			w.ehr.Script(r)
		}
		w.connect(t, inMemory)
		w.lane.Log = slog.New(slog.DiscardHandler)
		resolve := rapid.SampledFrom([]string{"booked", "cancelled", ""}).Draw(rt, "resolved")
		for _, o := range orders {
			if _, err := w.lane.Once(ctx); err != nil {
				rt.Fatal(err)
			}
			if resolve != "" {
				w.ehr.Resolve(resolve)
			}
			w.run(o)
		}
		for _, o := range orders {
			w.agrees(o, w.Day.Add(w.start))
		}
	})
}

// agrees holds an operation against the ledger of the EHR.
func (w *world) agrees(o order, old time.Time) {
	state, code := w.state(o)
	w.common(o, state)
	live := w.ehr.Live(o.op)
	step := o.record.Plan.Steps[0]
	fail := func(format string, v ...any) {
		w.T.Fatalf("%s (%s %s): %s\n%s\nledger %+v", o.op, state, code, fmt.Sprintf(format, v...), w.story(o), w.ehr.All())
	}
	at := func(e ehrtest.Entry) bool {
		return e.Start.Equal(*step.StartsAt) && e.End.Equal(*step.EndsAt) && e.Patient == "maria" && e.Status == "booked"
	}
	standing := 0
	for _, e := range w.ehr.All() {
		if e.Status == "booked" && e.Start.Equal(old) && e.Patient == "maria" {
			standing++
		}
	}
	switch {
	case state == ehr.Manual:
	case state == ehr.Applied && step.Op == proposal.OpCancel:
		if standing != 0 {
			fail("it still stands in the EHR")
		}
	case state == ehr.Applied:
		if len(live) != 1 || !at(live[0]) {
			fail("the EHR has %+v", live)
		}
		if step.Op == proposal.OpMove && standing != 0 {
			fail("the old visit stands too")
		}
		stale := w.Text(`SELECT string_agg(body, '') FROM outbox WHERE proposal = $1 AND body NOT LIKE '%' || $2 || '%'`, o.record.ID, clinicTime(*step.StartsAt))
		if stale != "" {
			fail("a message with another time: %s", strings.TrimSpace(stale))
		}
	case state == ehr.Refused:
		if len(live) != 0 {
			fail("the EHR has %+v", live)
		}
		if step.Op != proposal.OpCreate && standing != 1 {
			fail("%d old visits stand", standing)
		}
	}
	if n := w.Text(`SELECT count(*) FROM (SELECT 1 FROM outbox GROUP BY clinic, appointment, version, kind, channel, recipient, proposal HAVING count(*) > 1) x`); n != "0" {
		fail("%s messages twice", n)
	}
}

func clinicTime(t time.Time) string { return t.UTC().Format("3pm") }
