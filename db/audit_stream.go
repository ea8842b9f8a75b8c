package db

import (
	"context"
	"time"

	"countersign/internal/audit"
)

// chainWindow is how many links are read at once.
const chainWindow = 2000

// sealedRow is a link with its entry, which may be gone, and the names as they are now.
type sealedRow struct {
	Seq                                                int64
	Entry                                              string
	ContentHash, Prev, Hash                            []byte
	Content                                            []byte
	Stored                                             *string
	At                                                 *time.Time
	ActorKind, Actor, OnBehalfOf, Via, Action, Outcome string
	Code, ObjectKind, Object, Patient, Proposal        string
	PlanHash, Risk, Request                            string
	Version                                            int64
	Revision                                           int
	ActorName, OnBehalfOfName                          string
}

const (
	sealedColumns = `c.seq, c.entry, c.content_hash AS contenthash, c.prev_hash AS prev, c.chain_hash AS hash, a.content, a.content_hash AS stored, a.at,
	coalesce(a.actor_kind, '') AS actorkind, coalesce(a.actor, '') AS actor, coalesce(a.on_behalf_of, '') AS onbehalfof, coalesce(a.via, '') AS via,
	coalesce(a.action, '') AS action, coalesce(a.outcome, '') AS outcome, coalesce(a.code, '') AS code, coalesce(a.object_kind, '') AS objectkind,
	coalesce(a.object, '') AS object, coalesce(a.patient, '') AS patient, coalesce(a.proposal, '') AS proposal, coalesce(a.plan_hash, '') AS planhash,
	coalesce(a.risk, '') AS risk, coalesce(a.request, '') AS request, coalesce(a.version, 0) AS version, coalesce(a.revision, 0) AS revision`
	sealedNames = `, coalesce(u.name, k.name, '') AS actorname, coalesce(o.name, '') AS onbehalfofname`
)

func (r sealedRow) row(clinic string) audit.Row {
	out := audit.Row{Link: linkRow{r.Seq, r.Entry, r.ContentHash, r.Prev}.link(clinic)}
	out.Chain, _ = audit.HashOf(r.Hash)
	if r.Stored == nil {
		return out
	}
	out.Content, out.Stored = r.Content, *r.Stored
	if out.Content == nil {
		out.Content = []byte{}
	}
	out.Columns = audit.Fields{ID: r.Entry, Clinic: clinic, At: audit.TimeText(*r.At), ActorKind: r.ActorKind, Actor: r.Actor, OnBehalfOf: r.OnBehalfOf, Via: r.Via,
		Action: r.Action, Outcome: r.Outcome, Code: r.Code, ObjectKind: r.ObjectKind, Object: r.Object, Version: r.Version, Patient: r.Patient,
		Proposal: r.Proposal, Revision: r.Revision, PlanHash: r.PlanHash, Risk: r.Risk, Request: r.Request}
	return out
}

// eachLink gives every link behind the after-th to fn, in order, in windows that are read and forgotten.
func (t *Tx) eachLink(ctx context.Context, after int64, fn func(audit.Row) error) error {
	var last int64
	if err := t.get(ctx, &last, `SELECT coalesce(max(seq), 0) FROM chain`); err != nil {
		return err
	}
	for ; after < last; after += chainWindow {
		var rows []sealedRow
		if err := t.sel(ctx, &rows, `SELECT `+sealedColumns+` FROM chain c LEFT JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry
			WHERE c.seq > $1 AND c.seq <= $2 ORDER BY c.seq`, after, after+chainWindow); err != nil {
			return err
		}
		for _, r := range rows {
			if err := fn(r.row(t.clinic)); err != nil {
				return err
			}
		}
	}
	return nil
}
