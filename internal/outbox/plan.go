package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// plan is what a message must be found in: contract section 3.
type plan struct {
	Proposal string
	Revision int
	Steps    []struct{ Appointment *string }
	Messages []planned
}

type planned struct {
	Kind      string
	Channel   string
	Recipient string
	Subject   *string
	Text      string
	Calendar  *string
	SendAt    *time.Time `json:"send_at"`
}

// stands reports whether the stored plan has the message's hash, and holds that very message about that visit.
func stands(m Message, planBytes []byte) bool {
	sum := sha256.Sum256(append([]byte("countersign.plan.v1\n"), planBytes...))
	var p plan
	if hex.EncodeToString(sum[:]) != m.PlanHash || json.Unmarshal(planBytes, &p) != nil || p.Proposal != m.Proposal || p.Revision != m.Revision {
		return false
	}
	about := m.Appointment == ""
	for _, s := range p.Steps {
		about = about || s.Appointment != nil && *s.Appointment == m.Appointment
	}
	return about && slices.ContainsFunc(p.Messages, func(q planned) bool {
		return q.Kind == m.Kind && q.Channel == m.Channel && q.Recipient == m.Recipient && q.Text == m.Text &&
			text(q.Subject) == m.Subject && text(q.Calendar) == m.Calendar && same(q.SendAt, m.SendAt)
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func same(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
