package evidence

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Evidence is what the rows say, and its JSON form is the API's.
type Evidence struct {
	Proposal   About      `json:"proposal"`
	Equalities []Equality `json:"equalities"`
	Revisions  []Plan     `json:"revisions"`
	Showings   []Shown    `json:"showings"`
	Cards      []Card     `json:"cards"`
	Decisions  []Decision `json:"decisions"`
	Refused    []Decision `json:"refused"`
	Changes    []Change   `json:"changes"`
	Messages   []Sent     `json:"messages"`
	Items      []Item     `json:"items"`
	Trail      []Written  `json:"trail"`
}

// About says which proposal it is, who asked, and how it stands.
type About struct {
	ID         string     `json:"id"`
	Action     string     `json:"action"`
	State      string     `json:"state"`
	Outcome    string     `json:"outcome"`
	Revision   int        `json:"revision"`
	AskedBy    clinic.Ref `json:"asked_by"`
	Agent      bool       `json:"agent"`
	OnBehalfOf clinic.Ref `json:"on_behalf_of"`
	Via        string     `json:"via"`
	Reason     string     `json:"reason"`
	AskedAt    time.Time  `json:"asked_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

// Verdicts of an equality.
const (
	Equal    = "equal"
	NotEqual = "not_equal"
	Unknown  = "cannot_be_shown"
)

// Equality is one comparison, in words that need no colour. About is what it compares.
type Equality struct {
	About   string `json:"about"`
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
}

// Plan is one revision with its hash computed now; Plan is null when the bytes are no longer those that were hashed.
type Plan struct {
	Revision int             `json:"revision"`
	PlanHash string          `json:"plan_hash"`
	Computed string          `json:"computed_hash"`
	By       clinic.Ref      `json:"made_by"`
	At       time.Time       `json:"made_at"`
	Plan     json.RawMessage `json:"plan"`

	Read proposal.Plan `json:"-"`
	OK   bool          `json:"-"`
}

// Shown is who was shown which card, when and through which door.
type Shown struct {
	Person   clinic.Ref `json:"person"`
	Via      string     `json:"via"`
	At       time.Time  `json:"at"`
	Revision int        `json:"revision"`
	PlanHash string     `json:"plan_hash"`
	CardHash string     `json:"card_hash"`
}

// Card is a card exactly as it was shown. Kind is html or json; Content is "" when it is not what was shown.
type Card struct {
	Hash     string `json:"hash"`
	Computed string `json:"computed_hash"`
	Revision int    `json:"revision"`
	Kind     string `json:"kind"`
	Content  string `json:"content"`
}

// Decision is one decision, or one attempt that was refused. Self says that the person had a part in asking for it.
type Decision struct {
	Action   string     `json:"action"`
	Outcome  string     `json:"outcome"`
	Code     string     `json:"code"`
	By       clinic.Ref `json:"by"`
	Kind     string     `json:"actor_kind"`
	Via      string     `json:"via"`
	At       time.Time  `json:"at"`
	Revision int        `json:"revision"`
	PlanHash string     `json:"plan_hash"`
	Risk     string     `json:"risk"`
	Reasons  []string   `json:"risk_reasons"`
	Self     bool       `json:"self"`
	Key      bool       `json:"idempotency_key"`
	Note     string     `json:"reason"`
	// Seconds from the first time the card was shown to who decided; nil = not shown, or nobody decided.
	Seconds *float64 `json:"seconds_after_shown"`
}

// Change is a visit before and after; nil where there is none.
type Change struct {
	Appointment string   `json:"appointment"`
	Before      *Version `json:"before"`
	After       *Version `json:"after"`
}

// Sent is a message of the outbox.
type Sent struct {
	ID       string     `json:"id"`
	State    string     `json:"state"`
	Code     string     `json:"code"`
	SentAt   *time.Time `json:"sent_at"`
	PlanHash string     `json:"plan_hash"`
	proposal.Message
}

// Written is an entry of the trail, whether it is as it was written, and its number in the chain, null while it waits.
type Written struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	Action  string    `json:"action"`
	Outcome string    `json:"outcome"`
	Whole   bool      `json:"whole"`
	Sealed  *int64    `json:"sealed"`
}

// Examine compares everything with everything. now is the database's clock.
func Examine(src Source, now time.Time) Evidence {
	h := src.Proposal
	e := Evidence{Revisions: []Plan{}, Showings: []Shown{}, Cards: []Card{}, Decisions: []Decision{}, Refused: []Decision{}, Changes: []Change{},
		Messages: []Sent{}, Items: append([]Item{}, src.Items...), Trail: []Written{}}
	e.Proposal = About{h.ID, h.Action, h.State, h.Outcome, h.Revision, clinic.Ref{ID: h.CreatedBy, Name: h.CreatedName}, h.CreatedKind == clinic.KindAgent,
		clinic.Ref{ID: h.Owner, Name: h.OwnerName}, h.CreatedVia, h.Reason, h.CreatedAt, h.ExpiresAt}
	if h.State == proposal.StateProposed && !now.Before(h.ExpiresAt) {
		e.Proposal.State, e.Proposal.Outcome = proposal.StateExpired, proposal.OutcomeNotExecuted
	}
	for _, r := range src.Revisions {
		e.Revisions = append(e.Revisions, plan(r))
	}
	for _, s := range src.Showings {
		e.Showings = append(e.Showings, Shown{s.Person, s.Via, s.At, s.Revision, s.PlanHash, s.CardHash})
		if !slices.ContainsFunc(e.Cards, func(c Card) bool { return c.Hash == s.CardHash && c.Revision == s.Revision }) {
			e.Cards = append(e.Cards, card(s))
		}
	}
	for _, a := range src.Trail {
		w := Written{a.ID, a.Time, a.Name, a.Action, a.Outcome, whole(a), nil}
		if a.Seq > 0 {
			w.Sealed = &a.Seq
		}
		e.Trail = append(e.Trail, w)
		if d, ok := decision(src, e, a); ok && a.Outcome == audit.Denied {
			e.Refused = append(e.Refused, d)
		} else if ok {
			e.Decisions = append(e.Decisions, d)
		}
	}
	for _, m := range src.Messages {
		e.Messages = append(e.Messages, Sent{m.ID, m.State, m.Code, m.SentAt, m.PlanHash, m.Message})
	}
	e.Changes = changes(src)
	e.compare(src)
	return e
}

func plan(r Revision) Plan {
	p := Plan{Revision: r.Revision, PlanHash: r.PlanHash, Computed: proposal.HashPlan(r.Bytes), By: r.By, At: r.At, Plan: json.RawMessage("null")}
	if p.Computed != p.PlanHash {
		return p
	}
	read, err := proposal.DecodePlan(r.Bytes)
	if err == nil && read.After != nil {
		p.Read, p.Plan, p.OK = read, r.Bytes, true
	}
	return p
}

func card(s Showing) Card {
	c := Card{Hash: s.CardHash, Computed: proposal.CardHash(s.Card), Revision: s.Revision, Kind: "html"}
	if bytes.HasPrefix(s.Card, []byte("{")) {
		c.Kind = "json"
	}
	if s.Card == nil {
		c.Computed = ""
	} else if c.Computed == c.Hash {
		c.Content = string(s.Card)
	}
	return c
}

// ofPlan reports whether a card says itself that it is of that plan.
func (c Card) ofPlan(hash string) bool {
	if c.Content == "" {
		return false
	}
	if c.Kind == "json" {
		var says struct {
			PlanHash string `json:"plan_hash"`
		}
		return json.Unmarshal([]byte(c.Content), &says) == nil && says.PlanHash == hash
	}
	return bytes.Contains([]byte(c.Content), []byte(`data-plan="`+hash+`"`))
}

// whole reports whether an entry has the content hash it was written with, and columns that say what its content says.
func whole(a Entry) bool {
	f, err := audit.ReadFields(a.Content)
	columns := a.Fields
	columns.V, columns.Role = f.V, f.Role
	return err == nil && audit.ContentHash(a.Content) == a.Stored && f == columns
}

func decision(src Source, e Evidence, a Entry) (Decision, bool) {
	d := Decision{Action: a.Action, Outcome: a.Outcome, Code: a.Code, By: clinic.Ref{ID: a.Actor, Name: a.Name}, Kind: a.ActorKind, Via: a.Via, At: a.Time,
		Revision: a.Revision, PlanHash: a.PlanHash, Risk: a.Risk, Reasons: []string{}, Key: slices.Contains(src.Keys, a.Actor)}
	switch a.Action {
	case audit.Approve, audit.Confirm, audit.Reject, audit.Withdraw:
	case audit.Expire:
		d.By, d.Key = clinic.Ref{ID: a.Actor, Name: "Countersign"}, false
		return d, true
	case audit.Revise, audit.PlanTampered, audit.StopBulk:
		return d, a.Outcome == audit.Denied || a.Action == audit.PlanTampered
	default:
		return d, false
	}
	d.Self = a.Actor == src.Proposal.Owner || a.Actor == src.Proposal.CreatedBy
	for _, r := range e.Revisions {
		d.Self = d.Self || r.By.ID == a.Actor
		if r.Revision == a.Revision && r.OK {
			d.Reasons = append(d.Reasons, r.Read.RiskReasons...)
		}
	}
	if a.Action == audit.Reject || a.Action == audit.Withdraw {
		d.Note = src.Proposal.Note
	}
	for _, s := range src.Showings { // oldest first
		if s.Person.ID == a.Actor && s.Revision == a.Revision && !s.At.After(a.Time) {
			took := a.Time.Sub(s.At).Seconds()
			d.Seconds = &took
			break
		}
	}
	return d, true
}

// changes are the versions that the proposal made, each with the one before.
func changes(src Source) []Change {
	out := []Change{}
	for i, v := range src.History {
		if v.Proposal != src.Proposal.ID {
			continue
		}
		c := Change{Appointment: v.Appointment, After: &src.History[i]}
		if i > 0 && src.History[i-1].Appointment == v.Appointment && v.Version > 1 {
			c.Before = &src.History[i-1]
		}
		out = append(out, c)
	}
	return out
}
