package proposal

import (
	"context"
	"time"

	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

const (
	resolveName = "resolve_operation@1"

	// Resolutions: the EHR has what was approved, or it has not.
	Booked    = "booked"
	NotBooked = "not_booked"

	codeNotBooked = "ehr_not_booked"
)

// resolveOperation ends an operation whose outcome in the EHR the program does not know. A reviewer says what stands
// there, another decides. Nothing is ever sent to the EHR by it.
var resolveOperation = action{
	name:    resolveName,
	subject: "operation",
	parameters: []parameter{
		{name: "operation", kind: kindID, required: true},
		{name: "resolution", kind: kindCode, required: true, codes: []string{Booked, NotBooked}},
		{name: "remote_id", kind: kindRemote},
		{name: "note", kind: kindText},
	},
	check: func(params map[string]any) []refusal.Field {
		if text(params, "resolution") == NotBooked && text(params, "remote_id") != "" {
			return []refusal.Field{{Name: "remote_id", Message: "What is not in the EHR has no id there."}}
		}
		return nil
	},
	draft: draftResolution,
	title: resolutionTitle,
	audit: audit.ResolveOperation,
}

// OperationFacts is an operation as a resolution shows it: what was confirmed, what is known, and what a person says.
type OperationFacts struct {
	ID          string     `json:"id"`
	Proposal    string     `json:"proposal"` // whose confirmed change it is
	Revision    int        `json:"revision"`
	PlanHash    string     `json:"plan_hash"`
	Action      string     `json:"action"`
	Item        int        `json:"item"` // of a bulk, from 1; 0 = the plan's only visit
	Kind        string     `json:"kind"` // book, move, cancel
	ConfirmedBy clinic.Ref `json:"confirmed_by"`
	ConfirmedAt time.Time  `json:"confirmed_at"`
	State       string     `json:"state"` // unknown, manual
	Code        *string    `json:"code"`
	TwoBookings bool       `json:"two_bookings"` // the new one was written, and the old one is not known to be ended
	Attempts    int        `json:"attempts"`
	Seen        *SeenFacts `json:"seen"` // by the last look that saw anything; null = none did
	Was         *Facts     `json:"was"`  // the visit as it stands here; null = a booking
	Wanted      *Facts     `json:"wanted"`
	Resolution  string     `json:"resolution"`
	RemoteID    *string    `json:"remote_id"` // what the visit is in the EHR from then on
	OldRemoteID *string    `json:"old_remote_id"`
}

// SeenFacts is what a look into the EHR saw.
type SeenFacts struct {
	Verdict  string  `json:"verdict"`
	Matches  *int    `json:"matches"`
	Differs  *string `json:"differs"` // codes of the members that differ
	RemoteID *string `json:"remote_id"`
}

// ResolveStep is what a resolution runs: exactly the step and messages of that plan, or none of them.
type ResolveStep struct {
	ID            string  `json:"id"`
	Proposal      string  `json:"proposal"`
	PlanHash      string  `json:"plan_hash"`
	Resolution    string  `json:"resolution"`
	RemoteID      *string `json:"remote_id"`
	RemoteVersion *string `json:"remote_version"`
}

// OperationNow is an operation as it stands. Sending is how long a claim on it still lives: the program may be writing to
// the EHR meanwhile.
type OperationNow struct {
	ID, Proposal, Kind, Appointment string
	Item                            int
	State, Phase, Code              string
	RemoteID, OldRemoteID           string // "" = not known
	Attempts                        int
	By                              clinic.Ref
	At                              time.Time // confirmed
	Version                         int64
	LookOnly                        bool
	Sending                         time.Duration
	Seen                            []Seen // looks that saw anything, the last first
}

// Seen is one look into the EHR that saw something.
type Seen struct {
	Verdict                       string
	Matches                       *int
	Code, RemoteID, RemoteVersion string
}

// remote is the one appointment in the EHR that the operation is known to be about, and its version there.
func (o OperationNow) remote() (id, version string) {
	for _, s := range o.Seen {
		if s.RemoteID != "" && s.RemoteID != o.OldRemoteID {
			return s.RemoteID, s.RemoteVersion
		}
	}
	return o.RemoteID, ""
}

// resolvable refuses what is not a person's to say.
func (o OperationNow) resolvable() error {
	why := ""
	switch o.State {
	case "unknown", "manual":
		return nil
	case "ready":
		why = "Nothing of this change is in the EHR yet: it waits to be sent. There is nothing to say about it."
	case "pending":
		why = "The EHR has taken this change in and is working on it. Wait for its answer."
	default:
		why = "The outcome of this change is known already. Open it to see what became of it."
	}
	return refusal.Invalid(refusal.Field{Name: "operation", Message: why})
}

func draftResolution(ctx context.Context, d *drafting) error {
	id := text(d.params, "operation")
	op, err := d.tx.OperationNow(ctx, id)
	if err = d.unknown("operation", err); err != nil {
		return err
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	if err := op.resolvable(); err != nil {
		return err
	}
	r, err := d.tx.Get(ctx, op.Proposal)
	if err != nil {
		return err
	}
	if r.Tampered() {
		return d.invalid("operation", "The stored plan is not the one that was approved, so nobody can say whether the EHR has it. Tell the operator.")
	}
	of := r.Plan
	if op.Item > 0 {
		of = of.Item(op.Item - 1)
	}
	visit, err := mainStep(of)
	if err != nil {
		return err
	}
	f := &OperationFacts{ID: op.ID, Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Action: of.Action, Item: op.Item, Kind: op.Kind, ConfirmedBy: op.By,
		ConfirmedAt: op.At, State: op.State, Code: orNil(op.Code), TwoBookings: op.Phase == "cancel_old", Attempts: op.Attempts,
		Was: of.Before, Wanted: of.After, Resolution: text(d.params, "resolution"), OldRemoteID: orNil(op.OldRemoteID)}
	if len(op.Seen) > 0 {
		s := op.Seen[0]
		f.Seen = &SeenFacts{s.Verdict, s.Matches, orNil(s.Code), orNil(s.RemoteID)}
	}
	step := &ResolveStep{ID: op.ID, Proposal: r.ID, PlanHash: r.PlanHash, Resolution: f.Resolution}
	if f.Resolution == Booked {
		if err := d.linking(ctx, op, visit, step); err != nil {
			return err
		}
		f.RemoteID = step.RemoteID
		d.plan.Messages = append(d.plan.Messages, of.Messages...)
	}
	remote := ""
	if step.RemoteID != nil {
		remote = *step.RemoteID
	}
	warnings, err := op.against(f.Resolution, remote)
	if err != nil {
		return err
	}
	d.plan.Warnings = append(d.plan.Warnings, warnings...)
	d.plan.After = &Facts{Patient: of.After.Patient, Operation: f}
	d.plan.Steps = []Step{{Op: OpResolve, ExpectVersion: &op.Version, FreeSlots: []string{}, TakeSlots: []string{}, Operation: step}}
	d.rows.add(PinOperation, op.ID, op.Version)
	return nil
}

// linking fills in what the visit is in the EHR, and refuses what could not be made here.
func (d *drafting) linking(ctx context.Context, op OperationNow, visit Step, step *ResolveStep) error {
	known, version := op.remote()
	remote := text(d.params, "remote_id")
	switch {
	case remote == "" && known == "":
		return d.invalid("remote_id", "Give the id of the appointment in the EHR, so that later changes reach that one.")
	case remote == "":
		remote = known
	case remote != known:
		version = ""
		for _, s := range op.Seen {
			if s.RemoteID == remote {
				version = s.RemoteVersion
				break
			}
		}
	}
	if op.OldRemoteID != "" && remote == op.OldRemoteID {
		return d.invalid("remote_id", "That is the old booking of this visit. Give the id of the new one.")
	}
	other, err := d.tx.Linked(ctx, "Appointment", remote)
	if err != nil {
		return err
	}
	if other != "" && other != op.Appointment {
		return d.invalid("remote_id", "That appointment in the EHR is another visit of this clinic’s.")
	}
	step.RemoteID, step.RemoteVersion = &remote, orNil(version)
	if visit.ExpectVersion == nil {
		return nil
	}
	v, err := d.tx.Visit(ctx, op.Appointment)
	if err != nil {
		return err
	}
	if v.Version != *visit.ExpectVersion {
		return d.invalid("resolution", "The visit was changed here since this was confirmed, so what was approved cannot be made here any more. "+
			"Undo it in the EHR, and then say that it is not there; or correct the visit here.")
	}
	d.rows.add(PinAppointment, v.ID, v.Version)
	return nil
}
