package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/internal/audit"
	"countersign/internal/proposal"
)

func (e *Evidence) say(about string, same bool, yes, no string, args ...any) {
	q := Equality{about, NotEqual, "NOT EQUAL: " + fmt.Sprintf(no, args...)}
	if same {
		q.Verdict, q.Words = Equal, fmt.Sprintf(yes, args...)
	}
	e.Equalities = append(e.Equalities, q)
}

func (e *Evidence) cannot(about, words string, args ...any) {
	e.Equalities = append(e.Equalities, Equality{about, Unknown, fmt.Sprintf(words, args...)})
}

func short(hash string) string { return hash[:min(12, len(hash))] }

// compare says every equality: shown = approved = executed = sent.
func (e *Evidence) compare(src Source) {
	for _, r := range e.Revisions {
		e.say("revision", r.OK, "Revision %d is as it was stored: its hash, computed again from the stored bytes, is %s", "revision %d: the stored bytes no longer have the hash %s", r.Revision, short(r.PlanHash))
	}
	e.entries()
	e.approvals(src)
	ran := e.decided()
	if ran == nil {
		e.nothingRan(src)
		return
	}
	p := e.revision(ran.Revision)
	if p == nil || !p.OK {
		e.cannot("executed", "What ran cannot be compared: the plan of revision %d cannot be read", ran.Revision)
		return
	}
	outcome := ran.Outcome
	if p.Read.OfEHR() && !p.Read.IsBulk() {
		if outcome = e.ended(); outcome == "" {
			e.say("executed", len(e.Changes)+len(src.Messages) == 0, "It waits for the EHR: nothing was changed here and nothing was sent", "it waits for the EHR, and yet rows say that it ran")
			return
		}
	}
	e.executed(src, *p, outcome)
	e.sent(src, *p)
}

func (e *Evidence) revision(n int) *Plan {
	i := slices.IndexFunc(e.Revisions, func(p Plan) bool { return p.Revision == n })
	if i < 0 {
		return nil
	}
	return &e.Revisions[i]
}

// entries: the trail itself.
func (e *Evidence) entries() {
	bad, sealed := 0, 0
	for _, w := range e.Trail {
		if !w.Whole {
			bad++
		}
		if w.Sealed != nil {
			sealed++
		}
	}
	e.say("trail", bad == 0 && len(e.Trail) > 0, "All %[2]d entries of the trail on it have the hashes they were written with", "%[1]d of %[2]d entries of the trail are not as they were written", bad, len(e.Trail))
	if sealed < len(e.Trail) {
		e.cannot("sealed", "%d of %d entries are sealed into the chain; the others wait for it", sealed, len(e.Trail))
	} else {
		e.say("sealed", sealed > 0, "All %d entries are sealed into the chain", "none of %d entries is sealed", sealed)
	}
}

// ended is how the trail says that a change which the EHR had to make first came out, "" while it does not say.
func (e *Evidence) ended() string {
	for _, w := range e.Trail {
		switch w.Action {
		case audit.MoveAppointment, audit.BookAppointment, audit.CancelAppointment:
			return w.Outcome
		}
	}
	return ""
}

// approvals: each stands in the trail, and each of the trail's stands.
func (e *Evidence) approvals(src Source) {
	key := func(revision int, person, hash string) string { return fmt.Sprint(revision, " ", person, " ", hash) }
	var rows, told []string
	for _, a := range src.Approvals {
		rows = append(rows, key(a.Revision, a.Person.ID, a.PlanHash))
	}
	for _, d := range e.Decisions {
		if d.Action == audit.Approve && d.Outcome == audit.Success {
			told = append(told, key(d.Revision, d.By.ID, d.PlanHash))
		}
	}
	for _, d := range e.Decisions { // the last of several is written down as the confirmation too
		if k := key(d.Revision, d.By.ID, d.PlanHash); d.Action == audit.Confirm && slices.Contains(rows, k) && !slices.Contains(told, k) {
			told = append(told, k)
		}
	}
	slices.Sort(rows)
	slices.Sort(told)
	if len(rows)+len(told) > 0 {
		e.say("approvals", slices.Equal(rows, told), "Who approved is who the trail says approved: %d", "%d approvals are stored, and the trail says otherwise", len(rows))
	}
}

// decided says of each decision what plan and which card it was of, and gives the confirmation, nil when there is none.
func (e *Evidence) decided() (ran *Decision) {
	for i, d := range e.Decisions {
		verb := map[string]string{audit.Approve: "approved", audit.Confirm: "approved", audit.Reject: "rejected", audit.Withdraw: "taken back", audit.Expire: "left to expire"}[d.Action]
		if verb == "" {
			continue
		}
		p := e.revision(d.Revision)
		same := p != nil && p.Computed == d.PlanHash && p.PlanHash == d.PlanHash
		switch {
		case d.Action == audit.Confirm && d.Outcome == audit.Failed:
			e.say("approved", same, "The plan that was tried is the plan that was approved: %s, computed again from the stored bytes", "the plan that was tried is not the plan that was approved (%s)", short(d.PlanHash))
		case d.Action == audit.Confirm:
			e.say("approved", same, "The plan that ran is the plan that was approved: %s, computed again from the stored bytes", "the plan that is stored is not the plan that was approved (%s)", short(d.PlanHash))
		default:
			e.say("approved", same, "The plan that was %[2]s is the plan that is stored: %[1]s, computed again from the stored bytes", "the plan that is stored is not the plan that was %[2]s (%[1]s)", short(d.PlanHash), verb)
		}
		if d.Action == audit.Confirm {
			ran = &e.Decisions[i]
		}
		if d.Action != audit.Expire {
			e.shown(d, verb)
		}
	}
	return ran
}

// shown: the card that who decided saw last before deciding.
func (e *Evidence) shown(d Decision, verb string) {
	var last *Shown
	for i, s := range e.Showings {
		if s.Person.ID == d.By.ID && s.Revision == d.Revision && !s.At.After(d.At) {
			last = &e.Showings[i]
		}
	}
	if last == nil {
		e.cannot("shown", "Not shown by us: %s %s it through the %s, and no showing of revision %d to them stands before", d.By.Name, past(verb), d.Via, d.Revision)
		return
	}
	at := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
	i := slices.IndexFunc(e.Cards, func(c Card) bool { return c.Hash == last.CardHash && c.Revision == last.Revision })
	same := last.PlanHash == d.PlanHash && i >= 0 && e.Cards[i].ofPlan(d.PlanHash)
	e.say("shown", same, "The card that %[1]s saw at %[2]s (%[3]s), before they %[4]s it, was of that plan", "the card that %[1]s saw at %[2]s (%[3]s) is not as it was shown, or is not of the plan they %[4]s",
		d.By.Name, at(last.At), last.Via, past(verb))
}

func past(verb string) string {
	if verb == "taken back" {
		return "took back"
	}
	return verb
}

// nothingRan: what was not confirmed changed nothing and told nobody.
func (e *Evidence) nothingRan(src Source) {
	n := len(e.Changes) + len(src.Messages) + len(src.Policies)
	for _, a := range e.Trail {
		if a.Action == audit.RegisterPatient || a.Action == audit.UpdateContact {
			n++
		}
	}
	e.say("executed", n == 0, "Nothing ran and nothing was sent%[2]s", "it was not approved, and yet %[1]d rows say that it ran%[2]s", n, map[bool]string{true: ": it waits for a decision"}[e.Proposal.State == proposal.StateProposed])
	over := slices.ContainsFunc(e.Decisions, func(d Decision) bool { return d.Action != audit.Approve })
	if open := e.Proposal.State == proposal.StateProposed || e.Proposal.State == proposal.StateExpired; !over && !open {
		e.say("decided", false, "", "the proposal says %s, and the trail holds no decision", e.Proposal.State)
	}
}

// executed: what stands is what the plan says, no more and no less.
func (e *Evidence) executed(src Source, p Plan, outcome string) {
	made := map[string]Version{}
	for _, c := range e.Changes {
		made[c.Appointment+" "+fmt.Sprint(c.After.Version)] = *c.After
	}
	visit := func(f *proposal.Facts, version int64, reason string) bool {
		k := f.Appointment + " " + fmt.Sprint(version)
		v, ok := made[k]
		delete(made, k)
		return ok && v.Status == f.Status && v.Practitioner == f.Practitioner.ID && v.Location == f.Location.ID && v.Type == f.Type.ID &&
			v.From.Equal(f.StartsAt) && v.To.Equal(f.EndsAt) && v.ReasonCode == reason
	}
	switch after := p.Read.After; {
	case len(after.Items) > 0:
		e.items(src, p, visit)
	case outcome == audit.Failed:
		e.say("executed", len(made)+len(src.Messages) == 0, "It could not run, and nothing was changed and nothing sent", "it is said to have failed, and yet rows say that it ran")
		return
	case after.OfVisit():
		step := mainStep(p.Read)
		e.say("executed", visit(after, step.version, step.reason), "The visit stands as the plan says, in version %d", "version %d of the visit is not what the plan says", step.version)
	case after.Policy != nil:
		e.say("executed", len(src.Policies) == 1 && src.Policies[0].Action == after.Policy.Action && same(src.Policies[0].LeastRisk, after.Policy.LeastRisk) && same(src.Policies[0].People, after.Policy.People),
			"The policy stands as the plan says", "the policy that was set is not what the plan says")
	default:
		e.patient(src, p)
	}
	if len(made) == 0 {
		e.say("once", true, "Nothing else was changed in its name", "")
	} else {
		e.say("once", false, "", "%d more versions of visits were made in its name than the plan has", len(made))
	}
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

type stepFacts struct {
	version int64
	reason  string
}

func mainStep(p proposal.Plan) stepFacts { return stepOf(p, p.After.Appointment) }

// stepOf is the version that the plan's step leaves the visit at, and why it is cancelled.
func stepOf(p proposal.Plan, appointment string) (out stepFacts) {
	for _, s := range p.Steps {
		if s.Appointment == nil || *s.Appointment != appointment || s.Op == proposal.OpSend {
			continue
		}
		out.version = 1
		if s.ExpectVersion != nil {
			out.version = *s.ExpectVersion + 1
		}
		if s.ReasonCode != nil {
			out.reason = *s.ReasonCode
		}
	}
	return out
}

func (e *Evidence) items(src Source, p Plan, visit func(*proposal.Facts, int64, string) bool) {
	for i := range p.Read.After.Items {
		f := &p.Read.After.Items[i]
		j := slices.IndexFunc(src.Items, func(x Item) bool { return x.Appointment == f.Appointment })
		if j < 0 {
			e.say("executed", false, "", "visit %d of the plan has no result", i+1)
			continue
		}
		it := src.Items[j]
		step := stepOf(p.Read, f.Appointment)
		switch it.State {
		case "completed":
			e.say("executed", it.Version == step.version && visit(f, step.version, step.reason), "Visit %d of the plan stands as the plan says, in version %d", "visit %d: version %d is not what the plan says", i+1, step.version)
		default:
			ran := visit(f, step.version, step.reason)
			e.say("executed", !ran, "Visit %d of the plan was not changed: %s", "visit %d is said to be %s, and yet it was changed", i+1, strings.TrimSpace(it.State+" "+it.Code))
		}
	}
}

func (e *Evidence) patient(src Source, p Plan) {
	var step *proposal.Step
	for i, s := range p.Read.Steps {
		if s.Record != nil {
			step = &p.Read.Steps[i]
		}
	}
	if step == nil || step.Patient == nil {
		return // a message alone changes no record
	}
	version := int64(1)
	if step.ExpectVersion != nil {
		version = *step.ExpectVersion + 1
	}
	i := slices.IndexFunc(src.Patients, func(x Patient) bool { return x.ID == *step.Patient })
	switch {
	case i < 0 || src.Patients[i].Version < version:
		e.say("executed", false, "", "the patient's record never reached version %d", version)
	case src.Patients[i].Version > version:
		e.cannot("executed", "The record has been changed since (version %d; the plan made %d), and patients keep no history: what the plan wrote cannot be shown", src.Patients[i].Version, version)
	default:
		was, _ := json.Marshal(step.Record)
		is, _ := json.Marshal(src.Patients[i].PatientRecord)
		e.say("executed", string(was) == string(is), "The patient's record stands as the plan says, in version %d", "the patient's record is not what the plan says, in version %d", version)
	}
}

// sent: the messages of the outbox are those of the card, byte for byte.
func (e *Evidence) sent(src Source, p Plan) {
	if p.Read.After.Operation != nil && len(p.Read.Messages) > 0 && len(src.Messages) == 0 { // they are the resolved proposal's
		e.say("sent", true, "What it led to, messages too, was done in the name of proposal %s and stands in its evidence", "what it led to is not in the name of proposal %s", p.Read.After.Operation.Proposal)
		return
	}
	key := func(m proposal.Message) string { b, _ := json.Marshal(m); return string(b) }
	var planned []string
	for _, m := range messagesOf(p.Read, src.Items) {
		planned = append(planned, key(m))
	}
	for _, m := range src.Messages {
		words := "The message that waits in the outbox is the message on the card, byte for byte (%s)"
		switch m.State {
		case "sent", "delivered":
			words = "The message handed over is the message on the card, byte for byte (%s)"
		case "unknown":
			words = "The message is the one on the card, byte for byte (%s), and nobody knows whether it was handed over"
		case "suppressed", "expired":
			words = "The message is the one on the card, byte for byte (%s), and was not sent: " + strings.ReplaceAll(m.Code, "%", "")
		case "undelivered":
			words = "The message handed over is the message on the card, byte for byte (%s), and did NOT reach the patient"
		case "failed", "dead":
			words = "The message is the one on the card, byte for byte (%s), and could NOT be handed over: " + strings.ReplaceAll(m.Code, "%", "")
		case "superseded":
			words = "The message was the one on the card, byte for byte (%s), and was overtaken by a later one"
		}
		i := slices.Index(planned, key(m.Message))
		e.say("sent", i >= 0 && m.PlanHash == p.PlanHash && m.Revision == p.Revision, words, "the message in the outbox (%s) is not on the card", m.Channel)
		if i >= 0 {
			planned = slices.Delete(planned, i, i+1)
		}
	}
	left := len(planned)
	failed := slices.ContainsFunc(e.Decisions, func(d Decision) bool { return d.Action == audit.Confirm && d.Outcome == audit.Failed })
	switch {
	case left > 0 && !failed:
		e.say("sent", false, "", "%d messages of the card are not in the outbox", left)
	case len(src.Messages) == 0 && !failed && len(src.Items) == 0:
		e.say("sent", true, "Nobody was told, as the card said", "")
	}
}

// messagesOf are the messages that a plan which ran has written: of a bulk, those of the items that ran.
func messagesOf(p proposal.Plan, items []Item) (out []proposal.Message) {
	if !p.IsBulk() {
		return p.Messages
	}
	for _, it := range items {
		if it.State == proposal.ItemCompleted && it.Item >= 1 && it.Item <= len(p.After.Items) {
			out = append(out, p.Item(it.Item-1).Messages...)
		}
	}
	return out
}
