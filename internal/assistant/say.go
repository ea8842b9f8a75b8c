package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Saying is what somebody sends: words, or the id of a choice that was offered last.
type Saying struct{ Text, Choice string }

// RunRef names a run and where it stands.
type RunRef struct {
	Run   string `json:"run_id"`
	State string `json:"state"`
}

// Say adds a message, and the run goes on by itself to its next question, card or end, here or on another server. The
// answer may be there when Say returns: it waits for a moment, and then says running. Words never decide: while a card
// waits they are refused with the ways out. Refusals: not_found, validation_failed, awaiting_confirmation, run_in_progress.
func (s *Service) Say(ctx context.Context, by clinic.Actor, thread string, in Saying) (RunRef, error) {
	if err := Sayable(in); err != nil {
		return RunRef{}, err
	}
	text, err := clinic.CleanLines(in.Text, MaxMessage)
	if err != nil {
		return RunRef{}, err
	}
	by.Via = "assistant"
	var run, left Run
	err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		t, err := own(ctx, tx, by, thread, true)
		if err != nil {
			return err
		}
		change, err := s.settle(ctx, tx, &t)
		if err != nil {
			return err
		}
		if p := t.Pending(); p != nil {
			return waits(p)
		}
		if t.Executing() {
			return &refusal.Error{Code: refusal.RunInProgress, RetryAfter: 10 * time.Second,
				Message: "The change was confirmed and waits for the EHR. Its outcome will stand here. Start another conversation for something else."}
		}
		if t.State() == Running {
			if left = (Run{}); !tx.Now().Before(t.Run.LeasedUntil) {
				left = *t.Run
			}
			return &refusal.Error{Code: refusal.RunInProgress, RetryAfter: 2 * time.Second}
		}
		said := Said{Text: text, By: by}
		shown := text
		if in.Choice != "" {
			if said.Choice = offered(t, in.Choice); said.Choice == nil {
				return refusal.Invalid(refusal.Field{Name: "choice", Message: "This choice is not offered any more. Pick one of those below, or say it in words."})
			}
			shown = said.Choice.Label
		}
		if change == nil {
			change = &Change{}
		}
		if t.Run == nil || t.Run.State == Completed || t.Run.State == Failed {
			n := 1
			if t.Run != nil {
				n = t.Run.N + 1
			}
			t.Run = &Run{ID: s.IDs("run"), Thread: t.ID, N: n, CreatedAt: tx.Now()}
		}
		t.Run.State, t.Run.Input, t.Run.LeasedUntil = Running, said, tx.Now().Add(lease)
		t.Run.Turn++
		t.Run.Fence = 0
		run = *t.Run
		if t.Title == "" {
			t.Title = short(shown)
		}
		t.add(change, Entry{Role: RoleUser, Text: shown, CreatedAt: tx.Now()})
		t.UpdatedAt = tx.Now()
		change.Thread, change.Run = t, t.Run
		return tx.Save(ctx, *change)
	})
	if left.ID != "" {
		s.takeOver(ctx, by.Clinic, left)
	}
	if err != nil {
		return RunRef{}, err
	}
	patience := s.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	select {
	case ref := <-s.start(ctx, run):
		return ref, nil
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return RunRef{run.ID, Running}, nil
}

// Sayable refuses what cannot be a message: nothing, too much, or words and a choice at once.
func Sayable(in Saying) error {
	text, err := clinic.CleanLines(in.Text, MaxMessage)
	switch {
	case err != nil:
		return refusal.Invalid(refusal.Field{Name: "text", Message: fmt.Sprintf("At most %d characters; nothing was cut.", MaxMessage)})
	case text == "" && in.Choice == "":
		return refusal.Invalid(refusal.Field{Name: "text", Message: "Say what should change, or pick one of the choices."})
	case text != "" && in.Choice != "":
		return refusal.Invalid(refusal.Field{Name: "choice", Message: "Give words or a choice, not both."})
	}
	return nil
}

// waits refuses words while a card waits, and says what can be done.
func waits(p *Pending) error {
	return refusal.New(refusal.AwaitingConfirmation,
		"The card in this conversation waits for a decision, and words decide nothing, not even “yes”. Press Confirm on the card, edit it, or reject it and go on here.").
		With("pending_confirmation", p).
		With("ways_out", []map[string]string{
			{"do": "open", "href": "/proposals/" + p.Proposal, "label": "Open the card and decide, or edit it"},
			{"do": "reject_and_continue", "href": "/api/v1/runs/" + p.Run + "/confirm", "label": "Reject it, with a reason, and go on here"},
		})
}

// offered is a choice of the last thing the assistant said.
func offered(t Thread, id string) *Choice {
	if len(t.Messages) == 0 {
		return nil
	}
	for _, c := range t.Messages[len(t.Messages)-1].Choices {
		if c.ID == id {
			return &c
		}
	}
	return nil
}

// add appends a message to the thread and to what is written.
func (t *Thread) add(c *Change, m Entry) {
	m.N = len(t.Messages) + 1
	if n := len(t.Messages); n > 0 {
		m.N = t.Messages[n-1].N + 1
	}
	m.ID = EntryID(t.ID, m.N)
	t.Messages = append(t.Messages, m)
	c.Messages = append(c.Messages, m)
}

// work reads the message, outside of any transaction, and takes the conversation one step on. ctx ends the reading, by
// a deadline or because somebody else goes on with the run; what has been read is written down whatever becomes of ctx.
func (s *Service) work(ctx context.Context, run Run) (RunRef, error) {
	by := run.Input.By
	var heard Meaning
	var failed error
	if run.Input.Choice == nil && run.Input.Act == nil {
		heard, failed = s.interpret(ctx, by, run)
		if cause := context.Cause(ctx); errors.Is(cause, errLeft) {
			return RunRef{run.ID, Running}, cause
		}
		if failed != nil {
			s.Log.ErrorContext(ctx, "a message could not be read", "request", by.Request, "run", run.ID, "error", failed.Error())
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestWrite)
	defer cancel()
	act, note := run.Input.Act, run.Input.Note
	if act == nil {
		ref, err := s.step(ctx, run, func(tx Tx, t *Thread, c *Change) (err error) {
			act = nil
			if failed != nil {
				t.answer(c, tx.Now(), reply{text: "I could not read that just now. Nothing was changed. Send it again, or use the form on the day sheet."})
				return nil
			}
			d := &dialog{ctx: ctx, tx: tx, w: &t.Work, last: t.Messages}
			r, err := d.turn(heard, run.Input)
			if err != nil {
				return err
			}
			if err := d.note(by, s.IDs); err != nil {
				return err
			}
			if r.propose == nil {
				t.answer(c, tx.Now(), r)
				return nil
			}
			act = r.propose
			note, err = d.contradicts(t.ID, *act)
			note = r.text + note
			t.Run.Input.Act, t.Run.Input.Note = act, note
			return err
		})
		if err != nil || act == nil {
			return s.ended(ctx, run, ref, err)
		}
	}
	ref, err := s.propose(ctx, run, *act, note)
	return s.ended(ctx, run, ref, err)
}

// step runs fn on the locked thread if the run still works on this very message.
func (s *Service) step(ctx context.Context, run Run, fn func(Tx, *Thread, *Change) error) (RunRef, error) {
	var ref RunRef
	err := s.Store.InTx(ctx, run.Input.By.Clinic, func(tx Tx) error {
		t, err := tx.Thread(ctx, run.Thread, true)
		if err != nil {
			return err
		}
		if !t.Run.is(run) {
			ref = RunRef{run.ID, t.State()} // somebody else went on with it
			return nil
		}
		t.Run.LeasedUntil = tx.Now().Add(lease)
		c := &Change{Run: t.Run}
		if err := fn(tx, &t, c); err != nil {
			return err
		}
		if title := titleOf(t.Work); title != "" {
			t.Title = title
		}
		t.UpdatedAt = tx.Now()
		c.Thread = t
		ref = RunRef{run.ID, t.Run.State}
		return tx.Save(ctx, *c)
	})
	return ref, err
}

// answer says something, and the run waits for what comes next, or is done.
func (t *Thread) answer(c *Change, at time.Time, r reply) {
	n := len(t.Messages) + 1
	for i := range r.choices {
		r.choices[i].ID = choiceID(n, r.choices[i])
	}
	t.add(c, Entry{Role: RoleAssistant, Text: r.text, Choices: r.choices, Proposal: r.proposal, CreatedAt: at})
	t.Work.Asks = r.asks
	if t.Run == nil {
		return
	}
	t.Run.State = AwaitingInput
	if r.done {
		t.Run.State = Completed
		t.finished(c)
	}
	c.Run = t.Run
}

// fail ends a run without an answer.
func (t *Thread) fail(c *Change, at time.Time) {
	t.answer(c, at, reply{text: "Something went wrong here, and nothing was changed. What you said is kept: send it again."})
	t.Run.State = Failed
	t.finished(c)
}

func (t *Thread) finished(c *Change) {
	body, _ := json.Marshal(map[string]string{"run_id": t.Run.ID, "thread_id": t.ID, "state": t.Run.State}) // texts always encode
	c.Events = append(c.Events, Event{Kind: EventRunCompleted, Person: t.Person, Body: body})
}

// ended ends a run that our own fault stopped, and passes any other on as it stands. What is known stays; nothing was
// proposed or the next try finds it by its key.
func (s *Service) ended(ctx context.Context, run Run, ref RunRef, err error) (RunRef, error) {
	if err == nil {
		return ref, nil
	}
	ref, again := s.step(ctx, run, func(tx Tx, t *Thread, c *Change) error {
		t.fail(c, tx.Now())
		return nil
	})
	return ref, errors.Join(err, again)
}

// propose makes the card. The key is the message's own, so that whoever goes on after a crash finds the same proposal.
func (s *Service) propose(ctx context.Context, run Run, act Action, note string) (RunRef, error) {
	by := run.Input.By
	if err := MayWait(act.Name); err != nil {
		return RunRef{}, err
	}
	arguments, err := json.Marshal(act.Input) // the snapshot: nothing outside can change it any more
	if err != nil {
		return RunRef{}, err
	}
	wish := proposal.Proposing{Action: act.Name, Scope: run.Thread, Key: run.ID + "." + strconv.Itoa(run.Turn)}
	if err := json.Unmarshal(arguments, &wish.Parameters); err != nil {
		return RunRef{}, err
	}
	var reason string
	err = s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		t, err := tx.Thread(ctx, run.Thread, false)
		reason = t.Work.Note
		return err
	})
	if err != nil {
		return RunRef{}, err
	}
	if reason != "" {
		wish.Reason = reason
	}
	out, err := s.Desk.Propose(ctx, by, wish)
	refused := refusal.Of(err)
	if err != nil && (refused == nil || refused.Code == refusal.Busy || refused.Code == refusal.Internal) {
		return RunRef{}, err
	}
	return s.step(ctx, run, func(tx Tx, t *Thread, c *Change) error {
		d := &dialog{ctx: ctx, tx: tx, w: &t.Work, last: t.Messages}
		if refused != nil {
			r, err := d.refused(refused, act)
			if err != nil {
				return err
			}
			t.answer(c, tx.Now(), r)
			return d.note(by, s.IDs)
		}
		rec := out.Record
		call := ToolCall{ID: s.IDs("call"), Thread: t.ID, Run: run.ID, Action: act.Name, Arguments: arguments, Proposal: rec.ID, Revision: rec.Revision,
			PlanHash: rec.PlanHash, ExpiresAt: rec.ExpiresAt, Status: CallWaits, CreatedAt: tx.Now()}
		t.Calls = append(t.Calls, call)
		c.Calls = append(c.Calls, call)
		body, err := json.Marshal(map[string]any{"thread_id": t.ID, "pending_confirmation": pendingOf(call, rec)})
		if err != nil {
			return err
		}
		c.Events = append(c.Events, Event{Kind: EventConfirmation, Person: t.Person, Body: body})
		t.answer(c, tx.Now(), reply{text: note + "Here is the proposal: " + rec.Summary.Title + ". Nothing has changed yet; you decide on the card.", proposal: rec.ID})
		return nil
	})
}

// interpret asks the interpreter, with no transaction open while it thinks.
func (s *Service) interpret(ctx context.Context, by clinic.Actor, run Run) (Meaning, error) {
	r := Request{Text: run.Input.Text}
	err := s.Store.ReadTx(ctx, by.Clinic, func(tx Tx) error {
		t, err := tx.Thread(ctx, run.Thread, false)
		if err != nil {
			return err
		}
		r.Asks = t.Work.Asks
		if w := t.Work.When; w != nil && len(w.Days) == 1 {
			r.On = w.Days[0]
		}
		d := &dialog{ctx: ctx, tx: tx, w: &t.Work}
		r.Names, r.Now, err = d.lexicon()
		return err
	})
	if err != nil {
		return Meaning{}, err
	}
	return s.Interpreter.Interpret(ctx, r)
}
