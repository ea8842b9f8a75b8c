package views

import (
	"strconv"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Outside is how far a confirmed change has come on its way into the EHR. Zero = it does not go there, or is not on its way.
type Outside struct {
	Operation   string // id
	State       string // of package ehr: ready, unknown, pending, manual
	Code        string // why
	TwoBookings bool   // the new booking stands and the old one is not ended yet
	Attempts    int
	SendUntil   time.Time
	AskAt       time.Time // then a person is asked
	MayResolve  bool      // the viewer works the reconciliation desk
}

// waits: it was confirmed, and the page asks by itself what has become of it (beside a conversation, the conversation does).
func (p CardPage) waits() bool { return p.Record.State == proposal.StateExecuting && p.Thread == "" }

// Progress names a state of the card: it changes whenever the card would.
func (p CardPage) Progress() string {
	return Progress(p.Record) + "-" + p.Outside.State + "-" + p.Outside.Code + "-" + strconv.Itoa(p.Outside.Attempts)
}

// outsideEnding says how far it is. It never says done, and never asks to press again.
func (p CardPage) outsideEnding(by string) ending {
	confirmed := "It was confirmed by " + by + ". "
	const held = " Its time is kept free meanwhile, and nobody has been told. Do not ask for it a second time: this page says when the answer is there."
	switch o := p.Outside; o.State {
	case ehr.Manual:
		return ending{"warn", "Not certain: a person must look", confirmed + "The EHR’s answers do not show clearly whether it has the change, so a reviewer must look there." + held}
	case ehr.Unknown:
		if o.TwoBookings {
			return ending{"warn", "Not confirmed yet: two bookings are held", confirmed + "The new time stands in the EHR, and the old one could not be ended there yet. It is looked at again and again." + held}
		}
		return ending{"warn", "Not confirmed yet, we are checking", confirmed + "It was sent to the EHR, which has not said clearly whether it has it. We look there until we know." + held}
	case ehr.Pending:
		return ending{"warn", "Accepted, waiting for the EHR", confirmed + "The EHR has taken it in and is still working on it." + held}
	case ehr.Ready:
		if o.Attempts > 0 || o.Code != "" {
			return ending{"warn", "Accepted, waiting for the EHR", confirmed + "The EHR does not take it at the moment; nothing of it is there. It is tried until " + Clock(p.at(o.SendUntil)) + ", and then it counts as not done." + held}
		}
	}
	return ending{"warn", "Accepted, waiting for the EHR", confirmed + "It is on its way to the EHR." + held}
}

// outsideFailed is the panel of a change that the EHR does not have.
func (p CardPage) outsideFailed() ending {
	title := "Not done: the EHR refused it"
	switch p.Failure {
	case refusal.SlotTaken:
		title = "Not done: the time is taken in the EHR"
	case refusal.ResourceChanged:
		title = "Not done: the visit was changed in the EHR"
	case "ehr_not_reached":
		title = "Not done: the EHR was not reached"
	}
	return ending{"no", title, proposal.OutsideWords(p.Failure) + " Nobody was told."}
}
