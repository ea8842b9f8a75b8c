package views

import (
	"net/url"

	"countersign/internal/clinic"
)

// LeavePage is GET /leave: who is away, by practitioner.
type LeavePage struct {
	Shell
	Practitioners []Option // filter, named practitioner; Value "" = all
	Rows          []LeaveLine
	MayEnter      bool
	Freed         Freed // leave was just withdrawn
}

// LeaveLine is one leave. Hours is "" for whole days.
type LeaveLine struct {
	ID, Name, Days, Hours, Reason, By string
}

// LeaveFormPage is GET /leave/new: first who and when, then the visits that it hits, each with a choice that is shown
// and can be changed. Nothing is saved before the second form is sent.
type LeaveFormPage struct {
	Shell
	Practitioners, Reasons       []Option
	Practitioner, From, To       string // as typed
	Opens, Closes, Reason        string
	Name                         string // of the practitioner
	Asked                        bool   // the first form was filled in rightly: the second is shown
	Choices                      []BulkChoice
	Message, Why, IdempotencyKey string
	Notify                       bool
	Refusal                      Refusal
}

// BulkChoice is one visit and what can be done about it. Options are named choice-ID.
type BulkChoice struct {
	Visit   clinic.Visit
	Options []Option
	Wrong   string
}

// Values of a choice that are no time.
const (
	ChoiceKeep   = "keep"
	ChoiceCancel = "cancel"
)

// BulkFormPage is the form of a bulk alone: an edit of one that waits, or a new one like an old one.
type BulkFormPage struct {
	Shell
	Title          string
	Proposal       string // edit: POST /proposals/{id}/revisions
	Revision       int
	PlanHash       string
	IdempotencyKey string // new: POST /proposals
	Like           string // new: the proposal it was made from
	Choices        []BulkChoice
	Reasons        []Option // cancellation
	Message, Why   string
	Notify         bool
	Refusal        Refusal
}

func (p BulkFormPage) postURL() string {
	if p.Proposal == "" {
		return "/proposals"
	}
	return cardURL(p.Proposal) + "/revisions"
}

// LeaveReasonWord names why somebody is away.
func LeaveReasonWord(code string) string {
	return word(map[string]string{"sickness": "Sickness", "holiday": "Holiday", "training": "Training", "other": "Other", "": "Imported"}, code)
}

func endLeaveURL(id string) string { return "/leave/" + url.PathEscape(id) + "/end" }

func choiceName(c BulkChoice) string { return "choice-" + c.Visit.ID }

func (p LeaveFormPage) saveText() string {
	if len(p.Choices) == 0 {
		return "Save the leave"
	}
	return "Save the leave and make the card"
}
