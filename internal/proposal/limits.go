package proposal

import (
	"context"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// Limits says how many proposals may be made in a window of time before more are rate_limited (contract section 6). What
// is counted is in the database, so every server counts the same. A zero number is no limit.
type Limits struct {
	Agent  int // by one agent: made in the window, and those that still wait
	Person int // by one person and the agents that ask for them
	Clinic int
	Window time.Duration
}

// DefaultLimits are far above what people do by hand; an agent that reaches its own is confused.
var DefaultLimits = Limits{Agent: 30, Person: 1000, Clinic: 5000, Window: 10 * time.Minute}

// Volume is what has been asked for lately, each number at most its limit, and when the oldest of it was made (zero when
// the number is 0).
type Volume struct {
	Agent, Person, Clinic                int
	AgentSince, PersonSince, ClinicSince time.Time
}

// within refuses one proposal more than the limits allow, and names the bypass that lets an agent make one beyond its
// own. An agent's limit is exact: its proposals wait for each other from here to their commit. People never wait, so two
// of them at the same moment may both be the last one.
func (l Limits) within(ctx context.Context, tx Tx, by clinic.Actor) (bypass string, err error) {
	if l.Agent <= 0 && l.Person <= 0 && l.Clinic <= 0 {
		return "", nil
	}
	v, bypass, err := l.look(ctx, tx, by)
	if err == nil && by.Kind == clinic.KindAgent && l.Agent > 0 && (v.Agent < l.Agent || bypass != "") { // a flood beyond both waits for nobody
		if err = tx.LockAgent(ctx, by.Agent); err == nil {
			v, bypass, err = l.look(ctx, tx, by)
		}
	}
	if err != nil {
		return "", err
	}
	if bypass != "" {
		v.Agent = 0
	}
	for _, c := range []struct {
		made, most int
		since      time.Time
		words      string
	}{
		{v.Agent, l.Agent, v.AgentSince, "This agent has made too many proposals, or too many of them still wait for a decision. Nothing was proposed."},
		{v.Person, l.Person, v.PersonSince, "Too many proposals were made for this person in a short time. Nothing was proposed."},
		{v.Clinic, l.Clinic, v.ClinicSince, "Too many proposals were made in this clinic in a short time. Nothing was proposed."},
	} {
		if c.most > 0 && c.made >= c.most {
			// What still waits may be older than the window: nobody knows when it is decided.
			return "", &refusal.Error{Code: refusal.RateLimited, Message: c.words, RetryAfter: max(time.Minute, c.since.Add(l.Window).Sub(tx.Now()))}
		}
	}
	return bypass, nil
}

// look counts and, for an agent at its limit, finds the bypass that runs, "" = none.
func (l Limits) look(ctx context.Context, tx Tx, by clinic.Actor) (v Volume, bypass string, err error) {
	if v, err = tx.Volume(ctx, by, l); err != nil || by.Kind != clinic.KindAgent || l.Agent <= 0 || v.Agent < l.Agent {
		return v, "", err
	}
	b, err := tx.RunningBypass(ctx, by.Agent)
	if err != nil || b == nil {
		return v, "", err
	}
	return v, b.ID, nil
}
