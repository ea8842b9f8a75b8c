//go:build unix

package prooftest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// machine is a desk and the model beside it. The model knows a proposal's life; what a plan contains is taken from the
// plan, and what ran is compared with it by wantWhole.
type machine struct {
	d        *desktest.Desk
	set      func(time.Time)
	now      time.Time
	life     []*life
	consumed []consumed
	before   map[string]string // picture before the action
	refused  bool              // the action was refused: nothing may have changed
}

type life struct {
	card  proposal.Record // as last shown
	old   []proposal.Record
	state string
}

type consumed struct {
	by     clinic.Actor
	d      proposal.Decision
	reject bool
	body   string
	status int
}

func (l *life) over() bool { return l.state != proposal.StateProposed }

func (m *machine) expired(l *life) bool { return !l.over() && !m.now.Before(l.card.ExpiresAt) }

// pick takes one of the proposals, or skips the action.
func (m *machine) pick(t *rapid.T) *life {
	if len(m.life) == 0 {
		t.Skip("no proposal yet")
	}
	return m.life[rapid.IntRange(0, len(m.life)-1).Draw(t, "proposal")]
}

func (m *machine) answer(t *rapid.T, err error, want string) {
	t.Helper()
	if code(err) != want {
		t.Fatalf("got %q, want %q", code(err), want)
	}
	m.refused = err != nil
}

func (m *machine) free(t *rapid.T) time.Time {
	return m.d.At(rapid.IntRange(0, 1).Draw(t, "day"), 8, 15*rapid.IntRange(0, 12).Draw(t, "quarter"))
}

func (m *machine) Propose(t *rapid.T) {
	var wish proposal.Proposing
	patient, practitioner := rapid.SampledFrom([]string{"maria", "soren", "aoife"}).Draw(t, "patient"), rapid.SampledFrom([]string{"holm", "okafor"}).Draw(t, "practitioner")
	visit := rapid.SampledFrom([]string{"apt_maria", "apt_soren"}).Draw(t, "visit")
	switch rapid.IntRange(0, 2).Draw(t, "action") {
	case 0:
		wish = booking(patient, practitioner, m.free(t))
	case 1:
		wish = m.d.Move(visit, m.free(t), "practitioner", practitioner, "notify", rapid.Bool().Draw(t, "notify"))
	default:
		wish = proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": visit, "reason_code": "other", "message": "Call us."}}
	}
	out, err := m.d.Desk.Propose(ctx, m.d.Actor("ana"), wish)
	if err != nil {
		// What can be wished for is the affair of other tests; here it must leave no trace.
		switch code(err) {
		case refusal.SlotTaken, refusal.ValidationFailed, refusal.InThePast, refusal.OutsideSchedule:
			m.refused = true
			return
		}
		t.Fatal(err)
	}
	m.life = append(m.life, &life{card: out.Record, state: proposal.StateProposed})
}

// must says which refusal comes first for a reference to a proposal, "" when none does.
func (m *machine) must(l *life, revision int, hash string) string {
	switch {
	case l.over():
		return refusal.AlreadyDecided
	case m.expired(l):
		return refusal.ProposalExpired
	case revision != l.card.Revision:
		return refusal.ResourceChanged
	case hash != l.card.PlanHash:
		return refusal.PlanHashMismatch
	}
	return ""
}

// refer names the current revision, mostly.
func (m *machine) refer(t *rapid.T, l *life) proposal.Decision {
	d := desktest.Deciding(l.card, desktest.ID("key"))
	switch rapid.IntRange(0, 19).Draw(t, "reference") {
	case 0:
		d.Revision++
	case 1:
		d.PlanHash = "junk"
	case 2:
		if len(l.old) > 0 {
			d = desktest.Deciding(l.old[0], d.Key)
		}
	}
	return d
}

func (m *machine) Confirm(t *rapid.T) {
	l := m.pick(t)
	by := m.d.Actor(rapid.SampledFrom([]string{"ana", "ana", "ben", "ben", "ben", "ben", "emil", "ada"}).Draw(t, "by"))
	d := m.refer(t, l)
	want := m.must(l, d.Revision, d.PlanHash)
	stale, twice := m.stale(l), m.doubleBooked(l)
	out, err := m.d.Desk.Confirm(ctx, by, d)
	if want == "" {
		// The risk of this moment, and the pins, are known to the plan and the rows only.
		switch by.Person {
		case "emil", "ada":
			want = refusal.PermissionDenied
		case "ana":
			if c := code(err); l.card.Risk == proposal.High || c == refusal.SelfApprovalForbidden {
				want = refusal.SelfApprovalForbidden
				if l.card.Risk != proposal.High && !twice {
					t.Fatal("not high, and yet forbidden")
				}
			}
		}
		if want == "" && stale {
			want = refusal.ResourceChanged
		}
	}
	m.answer(t, err, want)
	if err == nil {
		l.state = proposal.StateCompleted
		m.consumed = append(m.consumed, consumed{by, d, false, string(out.Body), out.Status})
	}
}

func (m *machine) doubleBooked(l *life) bool {
	a := l.card.Plan.After
	return m.d.Text(`SELECT count(*) > 0 FROM appointments WHERE clinic = 'hav' AND patient = $1 AND id <> $2 AND during && tstzrange($3, $4) AND status IN ('booked', 'arrived')`,
		a.Patient.ID, a.Appointment, a.StartsAt, a.EndsAt) == "true"
}

// stale asks the rows themselves whether a pin moved.
func (m *machine) stale(l *life) bool {
	pins, err := json.Marshal(l.card.Plan.Resources)
	must(m.d.T, err)
	return m.d.Text(`SELECT count(*) > 0 FROM json_to_recordset($1) AS p(kind text, id text, version bigint) WHERE version IS DISTINCT FROM CASE kind
		WHEN 'appointment' THEN (SELECT x.version FROM appointments x WHERE x.clinic = 'hav' AND x.id = p.id) WHEN 'slot' THEN (SELECT x.version FROM slots x WHERE x.clinic = 'hav' AND x.id = p.id)
		WHEN 'patient' THEN (SELECT x.version FROM patients x WHERE x.clinic = 'hav' AND x.id = p.id) WHEN 'practitioner' THEN (SELECT x.version FROM practitioners x WHERE x.clinic = 'hav' AND x.id = p.id)
		WHEN 'location' THEN (SELECT x.version FROM locations x WHERE x.clinic = 'hav' AND x.id = p.id) ELSE (SELECT x.version FROM appointment_types x WHERE x.clinic = 'hav' AND x.id = p.id) END`, string(pins)) == "true"
}

func (m *machine) Reject(t *rapid.T) {
	l := m.pick(t)
	by := m.d.Actor(rapid.SampledFrom([]string{"ana", "ben", "emil"}).Draw(t, "by"))
	d := m.refer(t, l)
	want := m.must(l, d.Revision, d.PlanHash)
	late := want == refusal.ProposalExpired && d.Revision == l.card.Revision && d.PlanHash == l.card.PlanHash
	if (want == "" || late) && by.Person == "emil" {
		want = refusal.PermissionDenied
	} else if late {
		want = ""
	}
	out, err := m.d.Desk.Reject(ctx, by, d)
	m.answer(t, err, want)
	if err == nil {
		if !late {
			l.state = proposal.StateRejected
		}
		m.consumed = append(m.consumed, consumed{by, d, true, string(out.Body), out.Status})
	}
}

func (m *machine) Revise(t *rapid.T) {
	l := m.pick(t)
	d := m.refer(t, l)
	change := map[string]any{}
	if rapid.Bool().Draw(t, "other time") && l.card.Action != "cancel_appointment@1" {
		change["starts_at"] = m.free(t).Format(time.RFC3339)
	}
	want := m.must(l, d.Revision, d.PlanHash)
	out, err := m.d.Desk.Revise(ctx, m.d.Actor("ana"), proposal.Revising{Proposal: l.card.ID, Revision: d.Revision, PlanHash: d.PlanHash, Parameters: change})
	if want == "" && err != nil {
		switch code(err) {
		case refusal.SlotTaken, refusal.ValidationFailed, refusal.InThePast, refusal.OutsideSchedule:
			m.refused = true
			return
		}
	}
	m.answer(t, err, want)
	if err == nil {
		if out.Record.Revision != l.card.Revision+1 {
			t.Fatal("revisions rise by one")
		}
		l.old, l.card = append(l.old, l.card), out.Record
	}
}

func (m *machine) Replay(t *rapid.T) {
	if len(m.consumed) == 0 {
		t.Skip("no key yet")
	}
	c := m.consumed[rapid.IntRange(0, len(m.consumed)-1).Draw(t, "key")]
	call := m.d.Desk.Confirm
	if c.reject {
		call = m.d.Desk.Reject
	}
	if rapid.Bool().Draw(t, "for something else") {
		c.d.Revision += 7
		_, err := call(ctx, c.by, c.d)
		m.answer(t, err, refusal.IdempotencyKeyReused)
		return
	}
	out, err := call(ctx, c.by, c.d)
	m.answer(t, err, "")
	if !out.Replayed || string(out.Body) != c.body || out.Status != c.status {
		t.Fatal("not the same answer")
	}
	m.refused = true // a replay writes nothing either
}

func (m *machine) ClockJumps(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{1, 30, 299, 901}).Draw(t, "seconds")) * time.Second)
	m.set(m.now)
}

func (m *machine) ClockStandsAtADeadline(t *rapid.T) {
	if l := m.pick(t); m.now.Before(l.card.ExpiresAt) {
		m.now = l.card.ExpiresAt.Add(-time.Duration(rapid.IntRange(0, 1).Draw(t, "early")) * time.Microsecond)
		m.set(m.now)
	}
}

func (m *machine) AFactChanges(t *rapid.T) {
	change := rapid.SampledFrom([]string{
		`UPDATE patients SET email = coalesce(email, '') || 'x' WHERE clinic = 'hav' AND id = 'maria'`,
		`UPDATE practitioners SET name = name || 'x' WHERE clinic = 'hav' AND id = 'holm'`,
		`UPDATE locations SET phone = phone || '1' WHERE clinic = 'hav' AND id = 'main'`,
		`UPDATE slots SET state = CASE state WHEN 'open' THEN 'leave' ELSE 'open' END WHERE clinic = 'hav' AND practitioner = 'okafor' AND appointment IS NULL AND starts_at::time BETWEEN '09:00' AND '09:30'`,
		`UPDATE appointments SET status = CASE status WHEN 'booked' THEN 'arrived' ELSE 'booked' END, changed_via = 'status', proposal = NULL WHERE clinic = 'hav' AND id = 'apt_soren' AND status IN ('booked', 'arrived')`,
		`UPDATE patients SET search_text = search_text || 'x' WHERE clinic = 'hav' AND id = 'soren'`, // nothing that a card shows
	}).Draw(t, "change")
	m.d.Exec(change)
}

// Check runs between all actions.
func (m *machine) Check(t *rapid.T) {
	after := picture(m.d.T, m.d)
	if m.refused {
		for table, was := range m.before {
			if after[table] != was {
				t.Fatalf("a refusal changed %s", table)
			}
		}
	}
	same := maps.Equal(m.before, after)
	m.before, m.refused = after, false
	list, err := m.d.Desk.List(ctx, m.d.Actor("ana"), proposal.Filter{Limit: 200})
	if err != nil || len(list) != len(m.life) {
		t.Fatal(len(list), "proposals", err)
	}
	for _, l := range m.life {
		r := list[slices.IndexFunc(list, func(r proposal.Record) bool { return r.ID == l.card.ID })]
		want := l.state
		if m.expired(l) {
			want = proposal.StateExpired
		}
		if r.State != want || r.Revision != l.card.Revision || r.PlanHash != l.card.PlanHash {
			t.Fatalf("%s stands at %s %d, should at %s %d", r.ID, r.State, r.Revision, want, l.card.Revision)
		}
		if want == proposal.StateProposed && r.Stale != m.stale(l) {
			t.Fatalf("%s: stale is %v", r.ID, r.Stale)
		}
	}
	if same {
		return // it was whole before
	}
	if got := m.d.Text(`SELECT count(*) FROM idempotency_keys`); got != fmt.Sprint(len(m.consumed)) {
		t.Fatalf("%s keys, %d decisions", got, len(m.consumed))
	}
	wantWhole(t, m.d)
}

// Whatever is done to a few proposals in whatever order: terminal states stay, what ran is the plan, keys are those of
// decisions, versions rise by one, and a refusal leaves everything as it was.
func TestAnyOrderOfEventsKeepsTheRules(t *testing.T) {
	for name, value := range map[string]string{"rapid.checks": "10", "rapid.steps": "35", "rapid.shrinktime": "5s", "rapid.nofailfile": "true"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue { // a longer run may be asked for
			must(t, f.Value.Set(value))
		}
	}
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		d := desktest.New(t)
		defer d.Root.Close()
		defer d.DB.Close()
		m := &machine{d: d, set: freeze(d), now: time.Now().UTC().Truncate(time.Second)}
		m.set(m.now)
		actions := rapid.StateMachineActions(m)
		actions["ProposeMore"], actions["ProposeMost"] = m.Propose, m.Propose
		actions["ConfirmMore"], actions["ConfirmMost"], actions["RejectMore"] = m.Confirm, m.Confirm, m.Reject // decisions are what matters
		rt.Repeat(actions)
		for _, l := range m.life {
			seen[l.state]++
		}
	})
	t.Log(seen)
}
