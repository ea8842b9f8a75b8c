package views

import (
	"net/url"
	"time"

	"countersign/internal/audit"
)

// AuditPage is GET /audit: ids, codes and names of people, no patient data. Filters are GET parameters of the same names.
type AuditPage struct {
	Shell
	Rows []AuditRow
	// Filters as typed, "" = all: ids, the beginning of a plan hash, and dates or times with an offset.
	Proposal, Appointment, Patient, Hash, From, To string

	Action   []Option
	Outcome  []Option
	Actor    []Option // people and agents; none = no choice
	Own      bool     // the person may read their own entries only: said on the page
	Older    string   // keyset cursor, "" = the end
	Filtered bool
}

// AuditRow is one entry. Who did it is a name; OnBehalfOf is set for agents.
type AuditRow struct {
	ID                    string
	At                    time.Time
	Who, OnBehalfOf, Kind string // Kind: user, agent, system
	Via                   string
	Action                string // code
	Outcome, Code         string
	ObjectKind, Object    string
	Version               int64 // of the object after; 0 = none
	Proposal              string
	Revision              int
	PlanHash              string
}

func (p AuditPage) scope() string {
	if p.Own {
		return "your own entries, newest first"
	}
	return "newest first, times in " + p.Zone
}

func (r AuditRow) who() string {
	switch {
	case r.OnBehalfOf != "":
		return r.Who + " (agent) for " + r.OnBehalfOf
	case r.Kind == "system":
		return "Countersign"
	}
	return r.Who
}

func outcomeClass(outcome string) string {
	switch outcome {
	case "success":
		return "ok"
	case "denied", "failed":
		return "stop"
	}
	return "low"
}

func (p AuditPage) olderURL() string {
	q := url.Values{"cursor": {p.Older}}
	for _, f := range p.filters() {
		if f.value != "" {
			q.Set(f.name, f.value)
		}
	}
	for name, list := range map[string][]Option{"action": p.Action, "outcome": p.Outcome, "actor": p.Actor} {
		for _, o := range list {
			if o.Selected {
				q.Set(name, o.Value)
			}
		}
	}
	return "/audit?" + q.Encode()
}

// filters are the filters that are typed.
func (p AuditPage) filters() []struct{ name, label, value string } {
	return []struct{ name, label, value string }{{"proposal", "Proposal", p.Proposal}, {"appointment", "Appointment", p.Appointment}, {"patient", "Patient", p.Patient},
		{"hash", "Plan hash begins with", p.Hash}, {"from", "From, as 2026-10-21", p.From}, {"to", "To, inclusive", p.To}}
}

// did says what was done, or only tried.
func (r AuditRow) did() string {
	if r.Outcome == audit.Denied {
		return "Tried: " + AuditWord(r.Action)
	}
	return AuditWord(r.Action)
}
