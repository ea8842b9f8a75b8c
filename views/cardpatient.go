package views

import "countersign/internal/proposal"

// Cards of what is about a patient and no visit: a registration, other contact details, a message.

// aboutPatient: the plan shows a patient and no visit.
func aboutPatient(p proposal.Plan) bool {
	return p.After != nil && p.After.Patient.ID != "" && !p.After.OfVisit() && p.After.Operation == nil
}

// patientCells are the rows of a patient alone.
func patientCells(f *proposal.Facts) []diffRow {
	if f == nil {
		f = &proposal.Facts{}
	}
	p := f.Patient
	return []diffRow{
		{label: "Name", same: p.Name},
		{label: "Birth date", same: p.BirthDate},
		{label: "MRN", same: p.MRN},
		{label: "Phone", same: orNone(deref(p.Phone))},
		{label: "E-mail", same: orNone(deref(p.Email))},
		{label: "Wants", same: ContactWord(p.Contact)},
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// patientRows draws what changes of a patient, changed rows first; of a new one, all.
func patientRows(plan proposal.Plan) []diffRow {
	rows := patientCells(plan.After)
	if plan.Before == nil {
		for i, r := range rows {
			rows[i] = diffRow{label: r.label, new: cell{main: r.same}, changed: true}
		}
		return rows
	}
	var changed, same []diffRow
	for i, was := range patientCells(plan.Before) {
		if r := compare(was.label, cell{main: was.same}, cell{main: rows[i].same}); r.changed {
			changed = append(changed, r)
		} else {
			same = append(same, r)
		}
	}
	return append(changed, same...)
}

// patientSeen compares two revisions of such a plan.
func patientSeen(saw, current proposal.Plan) []seenRow {
	now, a, b := patientCells(current.Before), patientCells(saw.After), patientCells(current.After)
	var rows []seenRow
	for i := range a {
		r := seenRow{label: a[i].label, now: cell{main: now[i].same}, saw: cell{main: a[i].same}, is: cell{main: b[i].same}}
		if current.Before == nil {
			r.now = cell{main: "None"}
		}
		rows = append(rows, r)
	}
	return append(rows, seenRow{label: "Goes to", now: cell{main: "None"}, saw: cell{main: recipients(saw)}, is: cell{main: recipients(current)}})
}

// patientHeads are the column heads of such a card.
func (p CardPage) patientHeads() (now, next string) {
	done := p.Record.State == proposal.StateCompleted
	switch {
	case p.Record.Action == ActionMessage:
		return "On record", "Not changed"
	case p.Record.Plan.Before == nil && done:
		return "", "Registered"
	case p.Record.Plan.Before == nil:
		return "", "To be registered"
	case done:
		return "Before", "Now"
	}
	return "Now", "Proposed"
}

// patientDone says what came of it.
func (p CardPage) patientDone() (title, words string) {
	name := p.patient().Name
	switch p.Record.Action {
	case ActionRegister:
		return name + " is registered", "MRN " + p.patient().MRN + ". Visits can be booked now."
	case ActionContact:
		return Possessive(name) + " contact details are changed", "Proposals that were made with the old ones must be looked at again."
	}
	return "the message to " + name + " is on its way", p.toldWords()
}

// patientAgain is the form for the same change anew: ids only.
func (p CardPage) patientAgain() string {
	if p.Record.Action == ActionRegister {
		return RegisterURL
	}
	return PatientFormURL(p.Record.Action, p.patient().ID)
}

// nowHead heads the column of what stands, on the card of a stale tab.
func (p CardPage) nowHead() string {
	if aboutPatient(p.Record.Plan) {
		return "Now"
	}
	return "Now booked"
}
