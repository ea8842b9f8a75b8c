package db

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"countersign/internal/proposal"
)

// Whose lease a filter asks for.
const (
	ClaimedByMe   = "me"
	ClaimedByNone = "none"
	ClaimedByAny  = "any"
)

// QueueFilter narrows what waits; zero members do not.
type QueueFilter struct {
	Viewer       string   // account: who is "me"
	IDs          []string // only these
	Risks        []string
	Action       string
	Asker        string // account that asked or was asked for, or token of an agent
	Kind         string // of who made it: user, agent
	Practitioner string // of the new place or the old one
	Location     string
	AskedBefore  time.Time
	Mine         bool                            // only what Decidable holds
	Decidable    map[string][]proposal.Decidable // by action, "" = every other
	Claimed      string
	Escalated    bool
}

// lease is the live lease of proposal p at $1: the one that was taken, or the holder's last look at the card.
const lease = `(SELECT l.person, l.person_name, l.given_by, greatest(l.until, (SELECT max(a.at) + interval '10 minutes' FROM audit a
	WHERE a.clinic = l.clinic AND a.proposal = l.proposal AND a.actor = l.person AND a.action = 'proposal.read')) AS until
	FROM leases l WHERE l.clinic = p.clinic AND l.proposal = p.id)`

// waiting is the condition on proposals p; $1 is the transaction's clock.
func (f QueueFilter) waiting(now time.Time) *where {
	w := &where{}
	w.and(`p.state = 'proposed' AND p.expires_at > ?`, now)
	if f.IDs != nil {
		w.and(`p.id = ANY (?)`, pq.StringArray(f.IDs))
	}
	if len(f.Risks) > 0 {
		w.and(`p.risk = ANY (?)`, pq.StringArray(f.Risks))
	}
	for _, c := range []struct{ column, value string }{{"p.action", f.Action}, {"p.created_kind", f.Kind}} {
		if c.value != "" {
			w.and(c.column+` = ?`, c.value)
		}
	}
	if f.Asker != "" {
		w.and(`(p.owner = ? OR p.created_by = ?)`, f.Asker, f.Asker)
	}
	for _, c := range []struct{ column, value string }{{"practitioner", f.Practitioner}, {"location", f.Location}} {
		if c.value != "" { // where it goes, or where it is now
			w.and(`(p.`+c.column+` = ? OR p.appointment IN (SELECT v.id FROM appointments v WHERE v.`+c.column+` = ? AND v.starts_at > ?))`, c.value, c.value, now.Add(-48*time.Hour))
		}
	}
	if !f.AskedBefore.IsZero() {
		w.and(`p.created_at < ?`, f.AskedBefore)
	}
	if f.Escalated {
		w.and(`p.escalated_revision = p.revision`)
	}
	switch f.Claimed {
	case ClaimedByMe:
		w.and(`EXISTS (SELECT FROM `+lease+` l WHERE l.person = ? AND l.until > $1)`, f.Viewer)
	case ClaimedByAny:
		w.and(`EXISTS (SELECT FROM ` + lease + ` l WHERE l.until > $1)`)
	case ClaimedByNone:
		w.and(`NOT EXISTS (SELECT FROM ` + lease + ` l WHERE l.until > $1)`)
	}
	if f.Mine {
		f.decidable(w)
	}
	return w
}

// decidable says in SQL what the one rule said of every kind of proposal. What the viewer has approved already waits for
// somebody else.
func (f QueueFilter) decidable(w *where) {
	var each []string
	var args []any
	known := slices.Sorted(maps.Keys(f.Decidable))
	for _, action := range known {
		kinds, of := f.kinds(f.Decidable[action])
		if action == "" {
			each = append(each, `(NOT p.action = ANY (?) AND `+kinds+`)`)
			args = append(append(args, pq.StringArray(known)), of...)
		} else {
			each = append(each, `(p.action = ? AND `+kinds+`)`)
			args = append(append(args, action), of...)
		}
	}
	w.and(`(`+strings.Join(append(each, `false`), ` OR `)+`)`, args...)
	w.and(`NOT (p.id = ANY (ARRAY(SELECT g.proposal FROM approvals g JOIN proposals o ON o.clinic = g.clinic AND o.id = g.proposal AND o.revision = g.revision AND o.state = 'proposed'
		WHERE g.person = ?)))`, f.Viewer)
}

func (f QueueFilter) kinds(list []proposal.Decidable) (condition string, args []any) {
	byRisk := map[string][]proposal.Decidable{}
	for _, d := range list {
		byRisk[d.Risk] = append(byRisk[d.Risk], d)
	}
	kinds := []string{`false`}
	for _, risk := range slices.Sorted(maps.Keys(byRisk)) {
		if len(byRisk[risk]) == 4 { // whoever asked and edited
			kinds, args = append(kinds, `p.risk = ?`), append(args, risk)
			continue
		}
		for _, d := range byRisk[risk] {
			kinds = append(kinds, `(p.risk = ? AND (p.owner = ?) = ? AND (? = ANY (p.editors)) = ?)`)
			args = append(args, risk, f.Viewer, d.Owner, f.Viewer, d.Editor)
		}
	}
	return `(` + strings.Join(kinds, ` OR `) + `)`, args
}
