package proposal

import (
	"context"
	"fmt"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// The most that a bypass may be.
const (
	MostBypassMinutes   = 60
	MostBypassProposals = 200
)

// Bypass lets one agent propose beyond its limit for a while (case D10). It lifts no other limit, and everybody's limits
// but this agent's stay. Why and by whom never change.
type Bypass struct {
	ID        string     `db:"id"`
	Agent     string     `db:"agent"` // token id
	AgentName string     `db:"agent_name"`
	Reason    string     `db:"reason"`
	Most      int        `db:"most"` // proposals beyond the limit, in all
	Used      int        `db:"used"` // of them made
	By        string     `db:"granted_by"`
	ByName    string     `db:"granted_name"`
	GrantedAt time.Time  `db:"granted_at"`
	EndsAt    time.Time  `db:"ends_at"`
	EndedBy   *string    `db:"ended_name"` // a name; nil = nobody ended it
	EndedAt   *time.Time `db:"ended_at"`
}

// Running reports whether the agent may still propose under it.
func (b Bypass) Running(now time.Time) bool {
	return b.EndedAt == nil && now.Before(b.EndsAt) && b.Used < b.Most
}

// Granting asks for a bypass. Minutes from 1 to MostBypassMinutes, Most from 1 to MostBypassProposals.
type Granting struct {
	Agent         string
	Reason        string // needed, at most 500 characters
	Minutes, Most int
}

// MayBypass: people who are admins, and nobody else.
func MayBypass(a clinic.Actor) error {
	if a.Kind == clinic.KindUser && a.Role == clinic.RoleAdmin {
		return nil
	}
	return refusal.New(refusal.PermissionDenied, "Only an administrator may look after the agents. Nothing was done.")
}

// GrantBypass starts a bypass. Asking for the very one that runs gives that one. Refusals: permission_denied;
// validation_failed, also for an agent that has one running.
func (s *Service) GrantBypass(ctx context.Context, by clinic.Actor, g Granting) (Bypass, error) {
	b, err := s.grantBypass(ctx, by, g)
	if err != nil {
		return Bypass{}, s.refuse(ctx, by, audit.GrantBypass, "", err)
	}
	return b, nil
}

func (s *Service) grantBypass(ctx context.Context, by clinic.Actor, g Granting) (b Bypass, err error) {
	if err := MayBypass(by); err != nil {
		return b, err
	}
	reason, wrong := readReason(g.Reason)
	if reason == nil && len(wrong) == 0 {
		wrong = append(wrong, refusal.Field{Name: "reason", Message: "Say why; it stays on record."})
	}
	for _, n := range []struct {
		name        string
		given, most int
	}{{"minutes", g.Minutes, MostBypassMinutes}, {"most", g.Most, MostBypassProposals}} {
		if n.given < 1 || n.given > n.most {
			wrong = append(wrong, refusal.Field{Name: n.name, Message: fmt.Sprintf("A whole number from 1 to %d.", n.most)})
		}
	}
	if !clinic.ValidID(g.Agent) {
		wrong = append(wrong, noSuchAgent)
	}
	if len(wrong) > 0 {
		return b, refusal.Invalid(wrong...)
	}
	err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
		name, err := tx.AgentName(ctx, g.Agent)
		if r := refusal.Of(err); r != nil && r.Code == refusal.NotFound {
			return refusal.Invalid(noSuchAgent)
		}
		if err == nil {
			err = tx.LockAgent(ctx, g.Agent)
		}
		if err != nil {
			return err
		}
		running, err := tx.RunningBypass(ctx, g.Agent)
		if err != nil {
			return err
		}
		lasts := time.Duration(g.Minutes) * time.Minute
		if running != nil {
			if b = *running; b.By == by.Person && b.Reason == *reason && b.Most == g.Most && b.EndsAt.Sub(b.GrantedAt) == lasts {
				return nil // a second click
			}
			return refusal.Invalid(refusal.Field{Name: "agent", Message: "This agent may already propose more. End that first."})
		}
		b = Bypass{ID: s.IDs("byp"), Agent: g.Agent, AgentName: name, Reason: *reason, Most: g.Most, By: by.Person, ByName: by.PersonName,
			GrantedAt: tx.Now(), EndsAt: tx.Now().Add(lasts)}
		if err := tx.InsertBypass(ctx, b); err != nil {
			return err
		}
		return tx.Audit(ctx, s.bypassEvent(tx.Now(), by, audit.GrantBypass, b))
	})
	return b, err
}

var noSuchAgent = refusal.Field{Name: "agent", Message: "Choose one of the agents."}

// EndBypass ends a bypass: once it has answered, nothing more is made under it. What has ended already stays as it is.
// Refusals: permission_denied, not_found.
func (s *Service) EndBypass(ctx context.Context, by clinic.Actor, id string) error {
	err := MayBypass(by)
	if err == nil {
		err = s.Store.InTx(ctx, by.Clinic, func(tx Tx) error {
			b, err := tx.Bypass(ctx, id)
			if err == nil {
				err = tx.LockAgent(ctx, b.Agent)
			}
			if err != nil {
				return err
			}
			ended, err := tx.EndBypass(ctx, id, by)
			if err != nil || !ended {
				return err
			}
			return tx.Audit(ctx, s.bypassEvent(tx.Now(), by, audit.EndBypass, b))
		})
	}
	if err != nil {
		return s.refuse(ctx, by, audit.EndBypass, "", err)
	}
	return nil
}

func (s *Service) bypassEvent(now time.Time, by clinic.Actor, action string, b Bypass) audit.Event {
	return audit.Event{ID: s.IDs("aud"), At: now, Actor: by, Action: action, Outcome: audit.Success, ObjectKind: "bypass", Object: b.ID}
}
