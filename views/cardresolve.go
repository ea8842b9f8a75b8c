package views

import (
	"net/url"

	"countersign/internal/proposal"
)

// Cards of a resolution: what a person says of an operation in the EHR.

// OperationsURL is the reconciliation desk.
const OperationsURL = "/operations"

// OperationURL is the evidence of one operation.
func OperationURL(id string) string { return OperationsURL + "/" + url.PathEscape(id) }

// aboutOperation: the plan shows an operation, and its patient.
func aboutOperation(p proposal.Plan) bool { return p.After != nil && p.After.Operation != nil }

// resolves says what confirming a resolution does.
func resolves(f *proposal.OperationFacts) string {
	if f.Resolution == proposal.NotBooked {
		return "ends the change as not done and gives its time back; nothing is sent to the EHR and nobody will be told"
	}
	what := map[string]string{proposal.OpCreate: "books the visit here", proposal.OpMove: "moves the visit here", proposal.OpCancel: "cancels the visit here"}[f.Here()]
	return what + " exactly as it was approved, with nothing sent to the EHR,"
}

func resolvedEnding(p proposal.Plan) ending {
	f := p.After.Operation
	if f.Resolution == proposal.NotBooked {
		return ending{"ok", "Completed: the change was ended as not done", "Nothing was changed here, its time is free again, and nobody was told. It may be proposed anew."}
	}
	return ending{"ok", "Completed: the change was carried out here", "It was carried out exactly as it was approved by " + f.ConfirmedBy.Name + ", and its messages are in the outbox."}
}

// operation is what the card's operation is, nil for every other card.
func (p CardPage) operation() *proposal.OperationFacts {
	if !aboutOperation(p.Record.Plan) {
		return nil
	}
	return p.Record.Plan.After.Operation
}

// resolutionLine is a resolution in a list, for somebody who has not seen the operation.
func resolutionLine(r proposal.Record) string {
	f := r.Plan.After.Operation
	what := shortVisit(f.Wanted)
	if f.Here() == proposal.OpMove {
		what = shortVisit(f.Was) + " → " + what
	}
	does := "; confirming carries it out here"
	if f.Resolution == proposal.NotBooked {
		does = "; confirming gives the time back"
	}
	return r.Summary.Title + " (" + what + ")" + does
}
