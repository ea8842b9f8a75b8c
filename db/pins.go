package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/proposal"
)

// pinKinds is the fixed order in which pinned rows are locked, policies after them; lock_pins takes the ids in this order.
var pinKinds = []string{proposal.PinAppointment, proposal.PinSlot, proposal.PinPatient, proposal.PinPractitioner, proposal.PinLocation, proposal.PinType}

// doubleBooked is the kind of the row by which lock_pins tells of a double booking.
const doubleBooked = "double_booked"

// LockPins implements proposal.Tx.
func (t proposalTx) LockPins(ctx context.Context, pins []proposal.Pin, s proposal.Stay) (map[proposal.Pin]int64, bool, error) {
	held, err := t.lockOperations(ctx, pins)
	if err != nil {
		return nil, false, err
	}
	args := append([]any{t.clinic}, idsByKind(pins)...)
	twice := proposal.Pin{Kind: doubleBooked}
	now, err := t.versions(ctx, append(pins[:len(pins):len(pins)], twice), `SELECT kind, id, version FROM lock_pins($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		append(args, s.Patient, s.Except, s.From, s.To))
	booked := now[twice] != 0
	delete(now, twice)
	for _, p := range held {
		for _, want := range pins {
			if want.Kind == p.Kind && want.ID == p.ID {
				now[want] = p.Version
			}
		}
	}
	policies := policyIDs(pins)
	if err != nil || len(policies) == 0 {
		return now, booked, err
	}
	rules, err := t.versions(ctx, pins, `SELECT kind, id, version FROM lock_policies($1, $2)`, []any{t.clinic, policies})
	for p, version := range rules {
		if p.Kind == proposal.PinPolicy {
			now[p] = version
		}
	}
	return now, booked, err
}

// lockOperations locks the pinned operations, each behind the proposal that it is of, as everybody does who ends one.
func (t proposalTx) lockOperations(ctx context.Context, pins []proposal.Pin) (held []proposal.Pin, err error) {
	ids := idsOf(pins, proposal.PinOperation)
	if len(ids) == 0 {
		return nil, nil
	}
	if _, err = t.exec(ctx, `SELECT 1 FROM proposals WHERE id IN (SELECT proposal FROM ehr_operations WHERE id = ANY ($1)) ORDER BY id FOR UPDATE`, ids); err != nil {
		return nil, translate(err)
	}
	err = t.sel(ctx, &held, `SELECT 'operation' AS kind, id, version FROM ehr_operations WHERE id = ANY ($1) ORDER BY id FOR UPDATE`, ids)
	return held, translate(err)
}

// Versions implements proposal.Tx.
func (t proposalTx) Versions(ctx context.Context, pins []proposal.Pin) (map[proposal.Pin]int64, error) {
	return t.versions(ctx, pins, `SELECT 'appointment' AS kind, id, version FROM appointments WHERE id = ANY ($1)
		UNION ALL SELECT 'slot', id, version FROM slots WHERE id = ANY ($2)
		UNION ALL SELECT 'patient', id, version FROM patients WHERE id = ANY ($3)
		UNION ALL SELECT 'practitioner', id, version FROM practitioners WHERE id = ANY ($4)
		UNION ALL SELECT 'location', id, version FROM locations WHERE id = ANY ($5)
		UNION ALL SELECT 'type', id, version FROM appointment_types WHERE id = ANY ($6)
		UNION ALL SELECT 'policy', action, max(version) FROM policies WHERE action = ANY ($7) GROUP BY action
		UNION ALL SELECT 'operation', id, version FROM ehr_operations WHERE id = ANY ($8)`, append(idsByKind(pins), policyIDs(pins), idsOf(pins, proposal.PinOperation)))
}

func (t proposalTx) versions(ctx context.Context, pins []proposal.Pin, query string, args []any) (map[proposal.Pin]int64, error) {
	var rows []proposal.Pin
	if err := t.sel(ctx, &rows, query, args...); err != nil {
		return nil, translate(err)
	}
	type name struct{ kind, id string }
	now := make(map[name]int64, len(rows))
	for _, r := range rows {
		now[name{r.Kind, r.ID}] = r.Version
	}
	out := make(map[proposal.Pin]int64, len(pins))
	for _, p := range pins {
		out[p] = now[name{p.Kind, p.ID}]
	}
	return out, nil
}

// idsByKind gives one array for each kind, in the order of pinKinds. A kind that nobody knows finds no row and so counts
// as gone.
func idsByKind(pins []proposal.Pin) []any {
	ids := make(map[string]pq.StringArray, len(pinKinds))
	for _, p := range pins {
		ids[p.Kind] = append(ids[p.Kind], p.ID)
	}
	out := make([]any, len(pinKinds))
	for i, k := range pinKinds {
		out[i] = append(pq.StringArray{}, ids[k]...)
	}
	return out
}

// policyIDs are the actions whose policy is pinned. Their lock is another (lock_policies), taken last.
func policyIDs(pins []proposal.Pin) pq.StringArray { return idsOf(pins, proposal.PinPolicy) }

func idsOf(pins []proposal.Pin, kind string) pq.StringArray {
	ids := pq.StringArray{}
	for _, p := range pins {
		if p.Kind == kind {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
