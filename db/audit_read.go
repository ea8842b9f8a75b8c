package db

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// AuditFilter narrows the trail; zero members do not. Ids and codes only.
type AuditFilter struct {
	Actor       string // who did it: an account, or an agent's token
	OnBehalfOf  string // the person an agent did it for
	Agent       string // AgentYes: done by agents; AgentNo: by people and Countersign itself
	Action      string
	Outcome     string
	Risk        string
	Patient     string
	Appointment string // entries about it, and those of every proposal for it
	Proposal    string // id, or the beginning of a plan hash
	Hash        string // prefix of a plan hash
	Request     string
	From, To    time.Time     // from and with, up to and without
	Within      time.Duration // only decisions made sooner than that after the card was first shown to who decided
	OwnOf       string        // only rows of this person and their agents
	Scheduling  bool          // only what is scheduling: audit.Scheduling
	Cursor      string
	Limit       int
}

// Values of AuditFilter.Agent.
const (
	AgentYes = "yes"
	AgentNo  = "no"
)

// AuditRow is one row of the trail with the names as they are now; an account that is gone leaves its id.
type AuditRow struct {
	ID         string
	N          int64 // the order in which entries were written
	At         time.Time
	Actor      clinic.Ref
	ActorKind  string
	OnBehalfOf clinic.Ref
	Via        string
	Action     string
	Outcome    string
	Code       string
	ObjectKind string
	Object     string
	Version    int64
	Patient    string
	Proposal   string
	Revision   int
	PlanHash   string
	Risk       string
	Request    string
}

const (
	auditColumns = `a.id, a.n, a.at, a.actor AS "actor.id", coalesce(u.name, k.name, a.actor) AS "actor.name", a.actor_kind AS actorkind,
	coalesce(a.on_behalf_of, '') AS "onbehalfof.id", coalesce(o.name, a.on_behalf_of, '') AS "onbehalfof.name", a.via, a.action, a.outcome,
	coalesce(a.code, '') AS code, coalesce(a.object_kind, '') AS objectkind, coalesce(a.object, '') AS object, coalesce(a.version, 0) AS version,
	coalesce(a.patient, '') AS patient, coalesce(a.proposal, '') AS proposal, coalesce(a.revision, 0) AS revision,
	coalesce(a.plan_hash, '') AS planhash, coalesce(a.risk, '') AS risk, coalesce(a.request, '') AS request`
	auditNames = ` LEFT JOIN accounts u ON u.id = a.actor AND u.clinic = a.clinic
	LEFT JOIN tokens k ON k.id = a.actor AND k.clinic = a.clinic LEFT JOIN accounts o ON o.id = a.on_behalf_of AND o.clinic = a.clinic`
	auditTables = ` FROM audit a` + auditNames

	// newestFirst is strict: no two entries of a clinic have one n.
	newestFirst = ` ORDER BY a.at DESC, a.n DESC LIMIT `
)

// hashShape is a beginning of a plan hash, as people copy it; no id of ours has it.
var hashShape = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

// HashPrefix reports whether a text is the beginning of a plan hash and not an id.
func HashPrefix(s string) bool { return hashShape.MatchString(s) }

// AuditRows lists the trail, newest first, entries of one instant in the order they were written; next is the cursor of
// the page after, "" at the end. One statement. Errors: validation_failed for a cursor that is none of ours.
func (t *Tx) AuditRows(ctx context.Context, f AuditFilter) (rows []AuditRow, next string, err error) {
	w := &where{}
	if err := f.narrow(w); err != nil {
		return nil, "", err
	}
	// What one of several things may hold of is a union of walks, each in order and cut at the page's length: an OR would
	// be sorted whole.
	parts := []string{""}
	split := func(either, or string) {
		var out []string
		for _, p := range parts {
			out = append(out, p+" AND "+either, p+" AND "+or)
		}
		parts = out
	}
	if f.OwnOf != "" {
		me := w.arg(f.OwnOf)
		split(`a.actor = `+me, `a.on_behalf_of = `+me+` AND a.actor <> `+me)
	}
	if f.Appointment != "" {
		it := w.arg(f.Appointment)
		split(`a.object_kind = 'appointment' AND a.object = `+it,
			`a.proposal IN (SELECT p.id FROM proposals p WHERE p.appointment = `+it+`) AND (a.object_kind, a.object) IS DISTINCT FROM ('appointment', `+it+`)`)
	}
	most := strconv.Itoa(f.Limit + 1) // no parameter: a generic plan reckons with a tenth of all rows, and sorts them
	if f.Hash != "" || HashPrefix(f.Proposal) {
		most = w.arg(f.Limit + 1) // few rows have a prefix: here sorting them is right, walking the whole order is not
	}
	for i, p := range parts {
		parts[i] = `(SELECT a.clinic, a.id, a.at, a.n FROM audit a` + w.orTrue() + p + newestFirst + most + `)`
	}
	err = t.sel(ctx, &rows, `SELECT `+auditColumns+` FROM (`+strings.Join(parts, ` UNION ALL `)+`) page JOIN audit a ON a.clinic = page.clinic AND a.id = page.id`+auditNames+newestFirst+most, w.args...)
	if err == nil && len(rows) > f.Limit {
		rows = rows[:f.Limit]
		last := rows[f.Limit-1]
		next = MakeCursor(last.At, strconv.FormatInt(last.N, 10))
	}
	return rows, next, err
}

// narrow adds what holds of every entry that is listed. Conditions of partial indexes are written out: a generic plan
// cannot know a parameter.
func (f AuditFilter) narrow(w *where) error {
	if HashPrefix(f.Proposal) {
		f.Hash, f.Proposal = f.Proposal, ""
	}
	for _, c := range []struct{ column, value string }{{"a.actor", f.Actor}, {"a.on_behalf_of", f.OnBehalfOf}, {"a.action", f.Action}, {"a.risk", f.Risk},
		{"a.patient", f.Patient}, {"a.proposal", f.Proposal}, {"a.request", f.Request}} {
		if c.value != "" {
			w.and(c.column+` = ?`, c.value)
		}
	}
	switch f.Outcome {
	case "":
	case audit.Success:
		w.and(`a.outcome = 'success'`)
	default:
		w.and(`a.outcome <> 'success' AND a.outcome = ?`, f.Outcome)
	}
	switch f.Agent {
	case AgentYes:
		w.and(`a.actor_kind = 'agent'`)
	case AgentNo:
		w.and(`a.actor_kind <> 'agent'`)
	}
	if f.Hash != "" { // from it up to, and without, what follows every hash that begins so
		w.and(`a.plan_hash COLLATE "C" >= ? AND a.plan_hash COLLATE "C" < ?`, f.Hash, f.Hash+"g")
	}
	if f.Scheduling {
		w.and(`a.action <> ALL (?)`, pq.StringArray(audit.NotScheduling()))
	}
	if !f.From.IsZero() {
		w.and(`a.at >= ?`, f.From)
	}
	if !f.To.IsZero() {
		w.and(`a.at < ?`, f.To)
	}
	if f.Within > 0 {
		w.and(`a.action = ANY (?) AND a.outcome <> 'denied' AND a.at < (SELECT min(s.at) FROM showings s WHERE s.clinic = a.clinic AND s.proposal = a.proposal
			AND s.revision = a.revision AND s.person = a.actor AND s.at <= a.at) + make_interval(secs => ?)`, pq.StringArray(audit.Decisions()), f.Within.Seconds())
	}
	if f.Cursor == "" {
		return nil
	}
	at, id, ok := ReadCursor(f.Cursor)
	n, _ := strconv.ParseInt(id, 10, 64) // 0 for a cursor of an older release: what comes before that instant
	if !ok {
		return refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
	}
	w.and(`a.at <= ? AND (a.at, a.n) < (?, ?)`, at, at, n)
	return nil
}
