package handlers

import (
	"cmp"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/ehr"
	"countersign/views"
)

// outsideEntry is a row of the trail about the EHR as a line; ok is false for any other. Nobody did it: the program did
// what was confirmed.
func outsideEntry(a db.AuditRow, e views.Entry) (views.Entry, bool) {
	e.By, e.Mark = "", views.MarkPlain
	switch a.Action {
	case audit.SendToEHR:
		e.Title = "Sent to the EHR"
	case audit.AnswerOfEHR:
		e.Title, e.Text = "Answer of the EHR", cmp.Or(answerWords[a.Code], a.Code)
	case audit.LookIntoEHR:
		e.Title, e.Text = "Looked in the EHR", cmp.Or(lookWords[a.Code], a.Code)
		if a.Code == ehr.SawEqual {
			e.Mark = views.MarkSign
		}
	case audit.AlarmEHR:
		e.Title, e.Text, e.Mark = "Left to a person", "What the EHR shows is not clear.", views.MarkStop
	default:
		return e, false
	}
	return e, true
}

// answerWords say what one attempt came to.
var answerWords = map[string]string{ehr.NotSent: "It was not reached; nothing was sent.", ehr.Rejected: "It refused.", ehr.Throttled: "Not now; it is asked again later.",
	ehr.Accepted: "It says that it has it.", ehr.PendingIt: "It has taken it in and works on it.", ehr.Unclear: "No clear answer.", ehr.ForPeople: "It contradicts itself."}

// lookWords say what one look saw.
var lookWords = map[string]string{ehr.SawEqual: "It is there, exactly as approved.", ehr.SawDifferent: "It is there and differs from what was approved.",
	ehr.SawPatient: "It is there for another patient.", ehr.SawNone: "Nothing of it is there.", ehr.SawSeveral: "It is there more than once.",
	ehr.SawUnchanged: "The visit stands there as it was.", ehr.SawMovedOn: "Somebody else has changed the visit there.", ehr.SawFailed: "It could not be read."}
