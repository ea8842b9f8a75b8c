package clinic

// Roles and kinds of contract section 7.
const (
	RoleStaff    = "staff"
	RoleReviewer = "reviewer"
	RoleAdmin    = "admin"

	KindUser   = "user"
	KindAgent  = "agent"
	KindSystem = "system"
)

// Actor is who asks: a person in a browser, a person's token, or an agent's token. It is passed as a parameter to
// every service method, never hidden in a context.
type Actor struct {
	Clinic     string
	ClinicName string
	Person     string // account id: the person, or for an agent the person it acts for
	PersonName string
	Role       string // of Person
	Kind       string // user, agent, system
	Agent      string // token id of an agent, else ""
	AgentName  string
	MayDecide  bool   // false for agents and for user tokens without --decide
	Via        string // page, api, assistant, mcp, cli, worker
	Request    string // request id, for the audit trail
}

// ID is who did it: the agent's token for an agent, the account otherwise. Idempotency keys are scoped to it.
func (a Actor) ID() string {
	if a.Kind == KindAgent {
		return a.Agent
	}
	return a.Person
}

// Name is the name shown for ID.
func (a Actor) Name() string {
	if a.Kind == KindAgent {
		return a.AgentName
	}
	return a.PersonName
}

// OnBehalfOf is the person an agent acts for, "" otherwise.
func (a Actor) OnBehalfOf() string {
	if a.Kind == KindAgent {
		return a.Person
	}
	return ""
}

// WorksTheDesk reports whether the actor may do what the desk does without a plan: set an arrival status, or have a
// message sent again. Not admins (contract section 7), and never agents.
func (a Actor) WorksTheDesk() bool {
	return a.Kind == KindUser && (a.Role == RoleStaff || a.Role == RoleReviewer)
}
