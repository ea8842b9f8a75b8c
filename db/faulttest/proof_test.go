package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

const lag = time.Minute // of searches: shorter than the settle time

// answersToAll are answers that prove nothing, whether the EHR has done the thing or not. again: it may be sent again.
func answersToAll() map[string]struct {
	fault ehrtest.Fault
	again bool
} {
	type one = struct {
		fault ehrtest.Fault
		again bool
	}
	all := map[string]one{
		"429":               {ehrtest.Status("429", 429, "throttled", "", "Retry-After", "1"), true},
		"429 page":          {ehrtest.Page("429", 429), true},
		"423":               {ehrtest.Status("423", 423, "lock-error", ""), true},
		"423 page":          {ehrtest.Page("423", 423), true},
		"401":               {ehrtest.Status("401", 401, "login", ""), true},
		"401 page":          {ehrtest.Page("401", 401), true},
		"303 to it":         {ehrtest.Status("303", 303, "", "", "Location", "/fhir/Appointment/zzz"), false},
		"501":               {ehrtest.Status("501", 501, "not-supported", ""), false},
		"422 processing":    {ehrtest.Status("422", 422, "processing", ""), false},
		"200 with an error": {ehrtest.Says("200", 200, outcomeAlone("error", "conflict")), false},
	}
	for _, status := range []int{301, 302, 303, 307, 308, 403, 405, 406, 412, 415} {
		all[fmt.Sprint(status, " page")] = one{ehrtest.Page("page", status), false}
	}
	return all
}

// Whatever it answers, done or not: while searches may lag it is not sent again and nobody is told that it failed. When it
// is seen it is done; when the settle time is over and two looks have seen nothing, what may be sent again is, and the
// rest is told as refused.
func TestNoAnswerProvesThatNothingIsThere(t *testing.T) {
	t.Parallel()
	all := newWorlds(t)
	for name, c := range answersToAll() {
		done := c.fault.Afterwards()
		done.Lag = lag
		t.Run(name+", done", func(t *testing.T) {
			t.Parallel()
			all.proves(t, done, ehr.Applied, 1)
		})
		if name == "303 to it" {
			continue // it says where it is: for a person, when it is not
		}
		state, posts := ehr.Refused, 1
		if c.again {
			state, posts = ehr.Applied, 2
		}
		t.Run(name+", not done", func(t *testing.T) {
			t.Parallel()
			w, o := all.proves(t, before(c.fault), state, posts)
			if n := w.Text(`SELECT count(*) >= 2 FROM ehr_looks WHERE operation = $1 AND verdict = 'none'`, o.op); n != "true" {
				t.Errorf("believed too soon\n%s", w.story(o))
			}
		})
	}
}

// proves runs a booking whose first POST goes wrong.
func (all worlds) proves(t *testing.T, f ehrtest.Fault, state string, posts int) (*world, order) {
	w := all.take(t, ehrtest.Mode{}, inMemory)
	w.ehr.Script(post(f))
	o := w.confirm(w.booking(1, 13))
	w.run(o)
	w.common(o, state)
	if n := w.ehr.Count("POST", "Appointment"); n != posts {
		t.Errorf("%d writes\n%s", n, w.story(o))
	}
	return w, o
}

// A change names its version, so a read of the visit tells at once whether it was made.
func TestAThrottledChangeIsReadAndSentAgain(t *testing.T) {
	t.Parallel()
	all := someWorlds(t, 1)
	for name, c := range map[string]struct {
		fault ehrtest.Fault
		puts  int
	}{
		"before": {ehrtest.Status("429", 429, "throttled", "", "Retry-After", "1"), 2},
		"after":  {ehrtest.Status("429", 429, "throttled", "", "Retry-After", "1").Afterwards(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := all.take(t, ehrtest.Mode{}, inMemory)
			w.ehr.Script(put(c.fault))
			o := w.confirm(w.Move(w.visit, w.At(0, 14, 0)))
			for range 3 {
				if _, err := w.lane.Once(ctx); err != nil {
					t.Fatal(err)
				}
				w.pass(5 * time.Second)
			}
			w.common(o, ehr.Applied) // well before the settle time
			if n := w.ehr.Count("PUT", "Appointment"); n != c.puts {
				t.Errorf("%d writes\n%s", n, w.story(o))
			}
		})
	}
}

// What it never takes is told as not reached when it is too late to send, and not left to a person for a day.
func TestWhatIsThrottledForEverIsNotReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	w.ehr.Script(ehrtest.Rule{Method: "POST", Path: "Appointment", Fault: ehrtest.Status("429", 429, "throttled", "", "Retry-After", "600")})
	o := w.confirm(w.booking(1, 13))
	w.run(o)
	w.common(o, ehr.Refused)
	if _, code := w.state(o); code != "ehr_not_reached" {
		t.Errorf("code %s\n%s", code, w.story(o))
	}
}

func bundle(members string) string { return `{"resourceType":"Bundle"` + members + `}` }

func outcomeIn(severity, code string) string {
	return bundle(`,"type":"searchset","total":0,"entry":[{"search":{"mode":"outcome"},"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"` + severity + `","code":"` + code + `"}]}}]`)
}

// A search that is not whole has failed: it never counts as one that found nothing.
func TestAnIncompleteSearchFoundNothingOut(t *testing.T) {
	t.Parallel()
	all := someWorlds(t, 2)
	found := `{"resource":{"resourceType":"Appointment","id":"x1","status":"booked"}}`
	cases := map[string]string{
		"more than it shows":  bundle(`,"type":"searchset","total":1`),
		"two of three":        bundle(`,"type":"searchset","total":3,"entry":[` + found + `,` + strings.Replace(found, "x1", "x2", 1) + `]`),
		"one twice":           bundle(`,"type":"searchset","total":2,"entry":[` + found + `,` + found + `]`),
		"no type":             bundle(``),
		"another type":        bundle(`,"type":"collection","total":0`),
		"an error":            outcomeIn("error", "exception"),
		"fatal":               outcomeIn("fatal", "informational"),
		"only an address":     bundle(`,"type":"searchset","total":1,"entry":[{"fullUrl":"http://x/Appointment/1"}]`),
		"an id with NUL":      bundle(`,"type":"searchset","total":1,"entry":[` + strings.Replace(found, "x1", `a\u0000b`, 1) + `]`),
		"an id without end":   bundle(`,"type":"searchset","total":1,"entry":[` + strings.Replace(found, "x1", strings.Repeat("x", 300), 1) + `]`),
		"a version with NUL":  bundle(`,"type":"searchset","total":1,"entry":[` + strings.Replace(found, `"x1"`, `"x1","meta":{"versionId":"1\u0000"}`, 1) + `]`),
		"a version of spaces": bundle(`,"type":"searchset","total":1,"entry":[` + strings.Replace(found, `"x1"`, `"x1","meta":{"versionId":"1 2"}`, 1) + `]`),
	}
	for _, code := range []string{"incomplete", "timeout", "throttled", "transient", "too-costly"} {
		cases["a warning of "+code] = outcomeIn("warning", code)
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !json.Valid([]byte(raw)) {
				t.Fatal(raw)
			}
			w := all.take(t, ehrtest.Mode{}, inMemory)
			w.ehr.Script(post(ehrtest.Fault{Drop: true}), ehrtest.Rule{Method: "GET", Path: "Appointment", From: 1, To: 14, Fault: ehrtest.Fault{Raw: []byte(raw)}})
			o := w.confirm(w.booking(1, 13))
			w.run(o)
			w.common(o, ehr.Applied)
			if got := w.Text(`SELECT string_agg(DISTINCT verdict, ' ' ORDER BY verdict) FROM ehr_looks WHERE operation = $1`, o.op); got != "equal failed" || w.ehr.Count("POST", "Appointment") != 1 {
				t.Errorf("%s, %d writes\n%s", got, w.ehr.Count("POST", "Appointment"), w.story(o))
			}
		})
	}
}

// An answer whose id or version cannot be kept is unreadable; the next look goes on.
func TestAnAnswerThatCannotBeKept(t *testing.T) {
	t.Parallel()
	all := someWorlds(t, 1)
	with := func(member string, value any) ehrtest.Fault {
		return ehrtest.Says("poison", 0, func(was map[string]any) map[string]any { was[member] = value; return was })
	}
	for name, f := range map[string]ehrtest.Fault{
		"NUL": with("id", "a\x00b"), "control": with("id", "a\nb"), "long": with("id", strings.Repeat("x", 300)), "not ASCII": with("id", "é"),
		"version": with("meta", map[string]any{"versionId": "1\x00"}),
		"place":   ehrtest.Status("poison", 201, "", "", "Location", "/fhir/Appointment/a%00b").Afterwards(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all.proves(t, f, ehr.Applied, 1)
		})
	}
}

// A step that can never be stored is claimed again and again, and at the deadline it is a person's; who then looks again
// can end it.
func TestWhatCannotBeStoredIsForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{}, inMemory)
	good := w.lane.Desk
	w.lane.Desk = &lossy{Desk: good, before: 1000}
	o := w.confirm(w.booking(1, 13))
	once := func() {
		t.Helper()
		for range 3 {
			if _, err := w.lane.Once(ctx); err == nil {
				break
			}
		}
	}
	for range 10 {
		once()
		if state, _ := w.state(o); state == ehr.Manual {
			t.Fatal("given up before the deadline")
		}
		w.pass(2 * time.Hour)
	}
	w.pass(5 * time.Hour)
	once()
	w.common(o, ehr.Manual)
	if _, code := w.state(o); code != "not_stored" {
		t.Errorf("code %s", code)
	}
	look := func() string {
		w.Exec(`UPDATE ehr_operations SET look_only = true, next_at = app_now() WHERE id = $1`, o.op)
		once()
		return w.Text(`SELECT state || ' ' || look_only FROM ehr_operations WHERE id = $1`, o.op)
	}
	if got := look(); got != "manual false" {
		t.Errorf("after a look that cannot be stored: %s", got)
	}
	w.lane.Desk = good
	if look(); w.ehr.Count("POST", "Appointment") != 1 {
		t.Errorf("%d writes", w.ehr.Count("POST", "Appointment"))
	}
	w.common(o, ehr.Applied)
}

// A visit that the plan takes for unknown in the EHR may be there under our own id: then it is not booked a second time.
func TestAVisitThatIsThereUnderOurOwnId(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ehrtest.Mode{OpenConflicts: true}, inMemory)
	for n, c := range []struct {
		name   string
		change func(id string)
		state  string
		posts  int
	}{
		{name: "it stands there", state: ehr.Refused},
		{name: "it was cancelled", change: func(id string) { w.ehr.Edit(id, set("status", "cancelled")) }, state: ehr.Applied, posts: 1},
		{name: "it is not there", change: func(id string) {
			w.ehr.Script(ehrtest.Rule{Method: "GET", Path: "Appointment/" + id, Fault: ehrtest.Status("gone", 404, "not-found", "")})
		}, state: ehr.Applied, posts: 1},
		{name: "it cannot be read at first", change: func(id string) {
			w.ehr.Script(ehrtest.Rule{Method: "GET", Path: "Appointment/" + id, From: 1, To: 2, Fault: ehrtest.Status("down", 503, "transient", "")})
		}, state: ehr.Refused},
	} {
		start := w.At(20+n, 9, 0)
		id := w.ehr.Visit("maria", "holm", "main", start, start.Add(30*time.Minute))
		w.Exec(`INSERT INTO appointments (clinic, id, patient, practitioner, location, type, status, during, changed_by, changed_via) VALUES
			('hav', $1, 'maria', 'holm', 'main', 'std', 'booked', tstzrange($2, $2::timestamptz + interval '30 min'), 'seed', 'seed')`, id, start)
		if c.change != nil {
			c.change(id)
		}
		posts := w.ehr.Count("POST", "Appointment")
		o := w.confirm(w.Move(id, w.At(1, 10+n, 0)))
		w.run(o)
		w.common(o, c.state)
		if n := w.ehr.Count("POST", "Appointment") - posts; n != c.posts {
			t.Errorf("%s: %d writes\n%s", c.name, n, w.story(o))
		}
		if _, code := w.state(o); c.state == ehr.Refused && code != "resource_changed" {
			t.Errorf("%s: %s", c.name, code)
		}
	}
}

// An EHR that asks to be left alone when it is looked into is left alone, within limits.
func TestALookIsThrottledToo(t *testing.T) {
	t.Parallel()
	all := someWorlds(t, 1)
	for value, want := range map[string]string{"600": "600", "99999": "900", "": "30"} {
		t.Run(value, func(t *testing.T) {
			w := all.take(t, ehrtest.Mode{}, inMemory)
			busy := ehrtest.Status("busy", 429, "throttled", "", "Retry-After", value)
			w.ehr.Script(post(ehrtest.Fault{Drop: true}), ehrtest.Rule{Method: "GET", Path: "Appointment", From: 1, To: 1, Fault: busy})
			o := w.confirm(w.booking(1, 13))
			for range 2 {
				if _, err := w.lane.Once(context.Background()); err != nil {
					t.Fatal(err)
				}
				w.pass(3 * time.Second)
			}
			if got := w.Text(`SELECT round(extract(epoch FROM paused_until - app_now()) / 10) * 10 FROM ehr_lanes`); fmt.Sprint(got) != want && got != want+".0" {
				t.Errorf("paused for %s s, want %s", got, want)
			}
			w.run(o)
			w.common(o, ehr.Applied)
		})
	}
}
