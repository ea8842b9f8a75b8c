package views

import "time"

// AuditPage is GET /audit: ids, codes and names of people, no patient data. Filters are GET parameters of the same names.
type AuditPage struct {
	Shell
	Rows     []AuditRow
	Proposal string // filter: an id, "" = all
	Action   []Option
	Outcome  []Option
	Person   []Option
	Own      bool   // the person may read their own entries only: said on the page
	Older    string // keyset cursor, "" = the end
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
