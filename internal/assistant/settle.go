package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// settle tells a conversation what became of its card, whichever door decided, or the deadline. It changes the thread it
// is given and returns what is to be written, nil when there is nothing. It is judged by the clock of the transaction,
// so nothing waits for the worker; and it only ever reads what was done: nothing is tried again.
func (s *Service) settle(ctx context.Context, tx Tx, t *Thread) (*Change, error) {
	call := t.waiting()
	if call == nil {
		return nil, nil
	}
	rec := t.Proposals[call.Proposal]
	status, over := map[string]string{proposal.StateCompleted: CallCompleted, proposal.StateFailed: CallFailed, proposal.StatePartial: CallFailed,
		proposal.StateRejected: CallRejected, proposal.StateWithdrawn: CallRejected, proposal.StateExpired: CallExpired}[rec.State]
	if !over {
		return nil, nil
	}
	at := rec.ExpiresAt
	if rec.DecidedAt != nil && status != CallExpired {
		at = *rec.DecidedAt
	}
	call.Status, call.ResolvedAt, call.Result = status, &at, rec.Result
	if call.Result == nil {
		body, err := json.Marshal(map[string]any{"outcome": rec.Outcome, "state": rec.State, "reason": orNil(rec.DecidedNote)})
		if err != nil {
			return nil, err
		}
		call.Result = body
	}
	c := &Change{Calls: []ToolCall{*call}}
	r, err := s.outcome(ctx, tx, t, *call, rec)
	if err != nil {
		return nil, err
	}
	t.answer(c, at, r)
	t.UpdatedAt = at
	c.Thread, c.Run = *t, t.Run
	return c, nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// outcome is what the assistant says about it, and asks next.
func (s *Service) outcome(ctx context.Context, tx Tx, t *Thread, call ToolCall, rec proposal.Record) (reply, error) {
	var act Action
	if err := json.Unmarshal(call.Arguments, &act.Input); err != nil {
		return reply{}, err
	}
	act.Name = call.Action
	w := &t.Work
	w.Start = ""
	by := ""
	if rec.DecidedBy != nil {
		by = rec.DecidedBy.Name
	}
	leave := Choice{Label: "Leave everything as it is", Set: &Work{Leave: true}}
	switch call.Status {
	case CallCompleted:
		*w = Work{Patient: w.Patient}
		return reply{text: "Done, confirmed by " + by + ". " + persisted(rec), proposal: rec.ID, done: true}, nil
	case CallFailed:
		w.Halted = true
		f := failureOf(rec.Result)
		words := "It was confirmed by " + by + ", but it could not be carried out. " + failureWords(f)
		r := taken(words, act, f.Alternatives)
		r.proposal, r.choices = rec.ID, append(r.choices, leave)
		return r, nil
	case CallExpired:
		w.Halted = true
		return reply{text: "The time to decide passed at " + startWords(rec.ExpiresAt, zoneOf(rec)) + ". The proposal expired and nothing was executed. Propose it again?", proposal: rec.ID,
			choices: []Choice{{Label: "Propose it again, as things stand now", Action: &act, Set: &Work{}}, {Label: "Something else", Set: &Work{Restart: true}}, leave}}, nil
	}
	w.Halted = true
	said := "Rejected by " + by
	if rec.State == proposal.StateWithdrawn {
		said = "Taken back by " + by
	}
	if rec.DecidedNote != "" {
		said += ": “" + rec.DecidedNote + "”"
	}
	r := reply{text: said + ". Not executed, nothing was changed. What should happen instead?", proposal: rec.ID}
	others, err := alternatives(ctx, tx, w, act, rec)
	r.choices = append(others, Choice{Label: "Something else", Set: &Work{Restart: true}}, leave)
	if len(others) > 0 {
		r.asks = AskTime
	}
	return r, err
}

// persisted is the row as it is stored now, in words.
func persisted(rec proposal.Record) string {
	var result struct {
		Appointment *proposal.AppointmentAnswer `json:"appointment"`
		Patient     *proposal.PatientAnswer     `json:"patient"`
	}
	text := rec.Summary.Title + "."
	switch {
	case json.Unmarshal(rec.Result, &result) != nil:
	case result.Patient != nil:
		text = "Stored: " + result.Patient.Name + ", born " + result.Patient.BirthDate + ", MRN " + result.Patient.MRN + "."
	case result.Appointment != nil:
		a := result.Appointment
		text = a.Patient.Name + ": " + a.Type.Name + " on " + startWords(a.StartsAt, a.Zone) + " with " + a.Practitioner.Name + ", " + a.Location.Name + ", " + a.Status + "."
	}
	for _, m := range rec.Plan.Messages {
		text += " The " + strings.ReplaceAll(m.Channel, "email", "e-mail") + " to " + m.Recipient + " is on its way."
	}
	return text
}

func failureWords(f failure) string {
	if f.Message != "" {
		return f.Message
	}
	return "The record was not as planned. Nothing was changed."
}

func zoneOf(rec proposal.Record) string {
	if rec.Plan.After != nil && rec.Plan.After.Zone != "" {
		return rec.Plan.After.Zone
	}
	return "UTC"
}

// mostAlternatives are offered after a rejection.
const mostAlternatives = 3

// alternatives are other free starts of the same day and the days after, for a rejected move or booking.
func alternatives(ctx context.Context, tx Tx, w *Work, act Action, rec proposal.Record) ([]Choice, error) {
	to := rec.Plan.After
	if to == nil || act.Input["starts_at"] == nil {
		return nil, nil
	}
	zone, err := clinic.LoadZone(to.Zone)
	if err != nil {
		return nil, err
	}
	d := &dialog{ctx: ctx, tx: tx, w: w}
	s := search{typ: clinic.Ref{ID: to.Type.ID, Name: to.Type.Name}, practitioner: &clinic.Ref{ID: to.Practitioner.ID, Name: to.Practitioner.Name},
		location: &clinic.Ref{ID: to.Location.ID, Name: to.Location.Name}, action: act}
	if rec.Plan.Before != nil {
		s.moving = to.Appointment
	}
	day := clinic.DateOf(to.StartsAt, zone)
	offers, err := d.free(s, nil, day, day.AddDays(7))
	if err != nil {
		return nil, err
	}
	var others []offer
	for _, o := range offers {
		if !o.start.StartsAt.Equal(to.StartsAt) && len(others) < mostAlternatives {
			others = append(others, o)
		}
	}
	return d.choicesOf(s, others), nil
}

// Settle writes down what has become of cards that were decided through other doors or ran out, and goes on with runs
// that broke off. It is what the worker does for one clinic; reads do not wait for it.
func (s *Service) Settle(ctx context.Context, clinicID string) error {
	const some = 50
	var threads []string
	var runs []Run
	err := s.Store.ReadTx(ctx, clinicID, func(tx Tx) (err error) {
		if threads, err = tx.Unsettled(ctx, some); err != nil {
			return err
		}
		runs, err = tx.BrokenOff(ctx, some)
		return err
	})
	for _, id := range threads {
		err = errors.Join(err, s.settleThread(ctx, clinicID, id))
	}
	for _, run := range runs {
		s.takeOver(ctx, clinicID, run)
	}
	return err
}

func (s *Service) settleThread(ctx context.Context, clinicID, id string) error {
	return s.Store.InTx(ctx, clinicID, func(tx Tx) error {
		t, err := tx.Thread(ctx, id, true)
		if err != nil {
			return err
		}
		c, err := s.settle(ctx, tx, &t)
		if err != nil || c == nil {
			return err
		}
		return tx.Save(ctx, *c)
	})
}
