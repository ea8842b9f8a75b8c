package views

import (
	"net/url"
	"strconv"
	"time"
)

// Paths of the page's forms.
const (
	AgentsURL      = "/agents"
	GrantBypassURL = "/agents/bypasses"
)

// AgentsPage is GET /agents, for administrators: who asks by itself, how much, and what lets it ask for more. The form
// grants a bypass with the fields agent, reason, minutes and most; its values are as typed.
type AgentsPage struct {
	Shell
	Refusal  Refusal
	Agents   []AgentItem
	Bypasses []BypassItem // those that run first, then the newest
	Limit    int          // an agent's ordinary limit within Window; 0 = none
	Window   time.Duration

	Agent                 string // chosen
	Reason, Minutes, Most string
	MostMinutes, MostMost int
}

// AgentItem is one agent. Made in the window and Waiting now are its own proposals.
type AgentItem struct {
	ID, Name, Owner string
	Made, Waiting   int
	Bypass          *BypassItem // that runs; nil = none
}

// BypassItem is one bypass. EndedAt zero: nobody ended it.
type BypassItem struct {
	ID, Agent, By, Reason, EndedBy string
	Most, Used                     int
	GrantedAt, EndsAt, EndedAt     time.Time
	Running                        bool
}

func endBypassURL(id string) string { return GrantBypassURL + "/" + url.PathEscape(id) + "/end" }

func (p AgentsPage) limitWords() string {
	if p.Limit <= 0 {
		return "There is no limit on what an agent may propose."
	}
	return "An agent may make " + Count(p.Limit, "proposal") + " in " + Count(int(p.Window.Minutes()), "minute") + "; what of its own still waits counts too."
}

func (p AgentsPage) options() []Option {
	out := []Option{{Value: "", Label: "Choose an agent"}}
	for _, a := range p.Agents {
		out = append(out, Option{Value: a.ID, Label: a.Name + ", for " + a.Owner})
	}
	return out
}

func (p AgentsPage) clock(t time.Time) string { return Clock(t.In(zone(p.Zone))) }

func (p AgentsPage) ended(b BypassItem) string {
	loc := zone(p.Zone)
	switch {
	case b.Running:
		return "Runs until " + p.clock(b.EndsAt)
	case !b.EndedAt.IsZero():
		return "Ended " + p.clock(b.EndedAt) + " by " + b.EndedBy
	case b.Used >= b.Most:
		return "Ended: all used"
	}
	return "Ended by itself " + ShortDate(b.EndsAt.In(loc)) + ", " + p.clock(b.EndsAt)
}

func used(b BypassItem) string { return strconv.Itoa(b.Used) + " of " + strconv.Itoa(b.Most) }
