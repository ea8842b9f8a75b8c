package views

import (
	"net/url"
	"time"

	"countersign/internal/audit"
)

// AuditPage is GET /audit: ids, codes and names of people, no patient data. Filters are GET parameters: ids, codes and
// times, never a name.
type AuditPage struct {
	Shell
	Rows []AuditRow
	// Filters as typed, "" = all. Proposal is an id or the beginning of a plan hash; From and To are dates or times with
	// an offset.
	Proposal, Appointment, Patient, Request, From, To string
	Fast                                              bool // only what was decided sooner than anybody reads a card

	Action     []Option
	Outcome    []Option
	Risk       []Option
	Agent      []Option
	Actor      []Option // people and agents; none = no choice
	OnBehalfOf []Option // people
	Location   []Option // whose zone dates are read and shown in; none = there is one zone only
	Own        bool     // the person may read their own entries only: said on the page
	MayProve   bool     // the person may read the evidence of a proposal
	OlderURL   string   // the same filters, the page after; "" = the end
	Filtered   bool

	// For who may take the trail out: the key that signs it, and the filters as a query. Key "" = may not.
	Key, ExportQuery string
}

func (p AuditPage) exportURL(format string) string {
	q := "format=" + format
	if p.ExportQuery != "" {
		q += "&" + p.ExportQuery
	}
	return "/audit/export?" + q
}

// AuditRow is one entry. Who did it is a name; OnBehalfOf is set for agents.
type AuditRow struct {
	ID                    string
	At                    time.Time
	Who, OnBehalfOf, Kind string // Kind: user, agent, system
	Actor                 string // id of Who
	Via                   string
	Action                string // code
	Outcome, Code         string
	ObjectKind, Object    string
	Version               int64 // of the object after; 0 = none
	Patient               string
	Proposal              string
	Revision              int
	PlanHash              string
	Risk                  string
	Request               string
}

func (p AuditPage) scope() string {
	switch {
	case p.Own:
		return "your own entries, newest first, times in " + p.Zone
	case p.Role == "reviewer":
		return "scheduling, newest first, times in " + p.Zone
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

// AgentWord names a value of the filter agent.
func AgentWord(code string) string {
	return word(map[string]string{"yes": "Agents only", "no": "People only"}, code)
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

func auditURL(name, value string) string { return "/audit?" + url.Values{name: {value}}.Encode() }

// TrailOfPatientURL is the trail about one patient.
func TrailOfPatientURL(id string) string { return auditURL("patient", id) }

// shortID is enough of an id to tell two apart; the link holds all of it.
func shortID(id string) string {
	if len(id) <= 14 {
		return id
	}
	return id[:10] + "…"
}

// did says what was done, or only tried.
func (r AuditRow) did() string {
	if r.Outcome == audit.Denied {
		return "Tried: " + AuditWord(r.Action)
	}
	return AuditWord(r.Action)
}
