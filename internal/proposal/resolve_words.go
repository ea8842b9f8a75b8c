package proposal

import "strconv"

func resolutionTitle(p Plan) string {
	f := p.After.Operation
	name := p.After.Patient.Name
	switch {
	case f.Resolution == Booked && f.Here() == OpCancel:
		return "The EHR has it: the visit of " + name + " is cancelled"
	case f.Resolution == Booked && f.Here() == OpCreate:
		return "The EHR has it: a visit for " + name + " is booked"
	case f.Resolution == Booked:
		return "The EHR has it: the visit of " + name + " is moved"
	case f.Here() == OpCancel:
		return "The EHR does not have it: the visit of " + name + " is not cancelled"
	case f.Here() == OpCreate:
		return "The EHR does not have it: no visit was booked for " + name
	}
	return "The EHR does not have it: the visit of " + name + " was not moved"
}

// Here is what it does in this desk's book: a visit that the EHR has not is moved here and booked there.
func (f *OperationFacts) Here() string { return HereOf(f.Was, f.Wanted) }

// HereOf is the operation of a step that leads from one to the other.
func HereOf(was, wanted *Facts) string {
	switch {
	case was == nil:
		return OpCreate
	case wanted.Status == "cancelled":
		return OpCancel
	}
	return OpMove
}

// operationFields draws a resolution from its plan: what was asked, what is known, what a person says and what it does.
func operationFields(p Plan) []Field {
	f, who := p.After.Operation, p.After.Patient
	same := func(label, v string) Field { return Field{label, &v, &v} }
	change := func(label, old, now string) Field { return Field{label, &old, &now} }
	at := f.Wanted.local(f.ConfirmedAt).Format("Mon 2 Jan 2006, 15:04")
	fields := []Field{
		change("In the EHR", f.known(), f.said()),
		change("The confirmed change", "waits for the EHR", f.ends()),
	}
	if f.Resolution == Booked && f.Here() != OpCancel {
		fields = append(fields, f.visitField("Visit here", f.Was, f.Wanted))
	} else if f.Resolution == Booked {
		fields = append(fields, change("Visit here", f.Was.line()+", "+f.Was.Status, "cancelled"))
	} else {
		fields = append(fields, f.visitField("Visit here", f.Was, f.Was))
	}
	if f.Here() != OpCancel {
		kept := "taken by the visit"
		if f.Resolution == NotBooked {
			kept = "free for others again"
		}
		fields = append(fields, change("Time kept for it", f.Wanted.line(), kept))
	}
	fields = append(fields,
		same("Patient", who.Name+", born "+who.BirthDate+", MRN "+who.MRN),
		same("Was confirmed", f.asked()+", by "+f.ConfirmedBy.Name+" on "+at+" (proposal "+f.Proposal+")"))
	if note := text(p.Parameters, "note"); note != "" {
		fields = append(fields, same("Note", note))
	}
	return fields
}

func (f *OperationFacts) visitField(label string, was, now *Facts) Field {
	line := func(v *Facts) *string {
		if v == nil {
			return value("not booked")
		}
		return value(v.line())
	}
	return Field{label, line(was), line(now)}
}

// line is where and when, in wall time.
func (f *Facts) line() string {
	at := f.local(f.StartsAt)
	return at.Format("Monday 2 January 2006, 15:04") + "–" + f.local(f.EndsAt).Format("15:04") + " " + f.Zone + ", " + f.Practitioner.Name + ", " + f.Location.Name
}

func (f *OperationFacts) asked() string {
	switch f.Here() {
	case OpCreate:
		return "book " + f.Wanted.line()
	case OpCancel:
		return "cancel " + f.Was.line()
	}
	return "move to " + f.Wanted.line()
}

// known says what the program knows, in one sentence.
func (f *OperationFacts) known() string {
	sent := "Not known. It was sent " + times(f.Attempts)
	if f.TwoBookings {
		sent = "Two bookings may be held: the new one was written, and the old one is not known to be ended"
	}
	if f.Code != nil && *f.Code == sawWrongPatient {
		sent += ", and its answer named another patient"
	}
	return sent + ". " + SeenWords(f.Seen)
}

func times(n int) string {
	switch n {
	case 0:
		return "not once"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// SeenWords says what a look saw.
func SeenWords(s *SeenFacts) string {
	if s == nil {
		return "No look has shown anything yet."
	}
	words := map[string]string{"equal": "The last look saw exactly what was approved.", "different": "The last look saw one that differs from what was approved.",
		"wrong_patient": "The last look saw one of another patient.", "none": "The last look saw none.", "several": "The last look saw several of the same number.",
		"unchanged": "The last look saw the visit as it was before.", "moved_on": "The last look saw the visit changed by somebody else."}[s.Verdict]
	if words == "" {
		return "A look was made."
	}
	return words
}

// said is what a person says of the EHR.
func (f *OperationFacts) said() string {
	if f.Resolution == NotBooked {
		switch {
		case f.TwoBookings:
			return "The old booking stands, and no new one"
		case f.Kind == "cancel":
			return "Not cancelled there"
		case f.Kind == "move":
			return "Not moved there; the visit stands as it was"
		}
		return "Not there"
	}
	words := map[string]string{"book": "Booked there", "move": "Moved there", "cancel": "Cancelled there"}[f.Kind] + " exactly as approved, as appointment " + *f.RemoteID
	if f.TwoBookings {
		words += "; the old booking is ended"
	}
	return words
}

func (f *OperationFacts) ends() string {
	if f.Resolution == Booked {
		return "is carried out here exactly as it was approved, and completed"
	}
	return "failed: nothing is changed here, and nobody is told"
}
