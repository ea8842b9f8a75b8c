package outbox

import (
	"context"
	"fmt"
	"time"
)

// deliver brings one claimed message as far as it goes now. Once begun it is not broken off: a try that was cut short
// could not say whether the patient has it.
func (r *Relay) deliver(ctx context.Context, m Message) error {
	ctx = context.WithoutCancel(ctx)
	if m.Lost {
		return r.settle(ctx, m, unanswered(m, CodeNoAnswer, r.random()))
	}
	f, mine, err := r.Store.Facts(ctx, m)
	switch {
	case err != nil:
		_, _ = r.Store.Settle(ctx, m, Result{State: Queued, Wait: firstWait, NoTry: true}) // else its lease runs out
		return err
	case !mine:
		r.lapsed(ctx, m)
		return nil
	}
	switch v := Check(m, f, r.Quiet); v.State {
	case "":
	case Queued:
		return r.settle(ctx, m, Result{State: Queued, Code: v.Code, Wait: v.Until.Sub(f.Now), NoTry: true})
	default:
		if Alarming(v.Code) {
			r.Log.ErrorContext(ctx, "ALARM: a message is not what stands in a confirmed plan; it was not sent", "code", v.Code, "clinic", m.Clinic, "message", m.ID, "proposal", m.Proposal)
		}
		return r.settle(ctx, m, Result{State: v.State, Code: v.Code, NoTry: true})
	}
	sender := r.Senders[m.Channel]
	if sender == nil {
		return r.settle(ctx, m, Result{State: Queued, Code: CodeNoSender, Wait: firstWait, NoTry: true})
	}
	return r.settle(ctx, m, r.try(ctx, sender, m))
}

// try sends it. A panic is poison: it would come again, and its value may hold what is nobody's business in a log.
func (r *Relay) try(ctx context.Context, sender Sender, m Message) (result Result) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			r.Log.ErrorContext(ctx, "outbox: a sender panicked", "message", m.ID, "type", fmt.Sprintf("%T", p))
			result = Result{State: Dead, Code: CodePanic, Unanswered: true}
		}
	}()
	id, err := sender.Send(ctx, m)
	result = outcome(m, id, err, r.random())
	if err != nil {
		r.Log.InfoContext(ctx, "outbox: not sent", "clinic", m.Clinic, "message", m.ID, "channel", m.Channel, "state", result.State, "code", result.Code, "attempts", m.Attempts)
	}
	return result
}

// settle tries a few times: an answer that is not written down is a try without one.
func (r *Relay) settle(ctx context.Context, m Message, result Result) error {
	for try := 1; ; try++ {
		mine, err := r.Store.Settle(ctx, m, result)
		if err == nil && !mine {
			r.lapsed(ctx, m)
		}
		if err == nil || try == 3 {
			return err
		}
		time.Sleep(time.Second)
	}
}

func (r *Relay) lapsed(ctx context.Context, m Message) {
	r.Log.WarnContext(ctx, "outbox: a lease ran out; what this claim did is not written down", "clinic", m.Clinic, "message", m.ID)
}

func (r *Relay) random() float64 {
	if r.Random == nil {
		return 0.5
	}
	return r.Random()
}
