package assistant

import (
	"slices"
	"strings"
)

// Settled is what is known without what is still in question: what was asked for last, and a day of several readings.
func (w Work) Settled() Work {
	var to When
	if w.When != nil {
		to = *w.When
	}
	if w.Asks == AskDay || len(to.Days) != 1 || !to.DaysEnd.IsZero() {
		to.Days, to.DaysEnd = nil, When{}.DaysEnd
	}
	switch w.Asks {
	case AskPatient:
		w.Patient, w.Visit = nil, nil
	case AskAppointment:
		w.Visit = nil
	case AskType:
		w.Type = nil
	case AskPractitioner:
		w.Practitioner, w.AnyDoctor = nil, false
	case AskLocation:
		w.Location = nil
	case AskTime:
		to.Clock, to.From, to.Until = nil, nil, nil
	case AskReasonCode:
		w.ReasonCode = ""
	case AskFamily:
		w.Family = ""
	case AskGiven:
		w.Given = ""
	case AskBirthDate:
		w.BirthDate = ""
	case AskContact, AskChannel:
		w.Contact = ""
	case AskText:
		w.Text = ""
	}
	w.When = &to
	if to.empty() {
		w.When = nil
	}
	return w
}

// Known is what is settled, by names of the API.
func (w Work) Known() map[string]any {
	w = w.Settled()
	out := map[string]any{}
	add := func(name string, v any, known bool) {
		if known {
			out[name] = v
		}
	}
	add("workflow", w.Workflow, w.Workflow != "")
	if p := w.Patient; p != nil {
		out[AskPatient] = map[string]any{"id": p.ID, "name": p.Name, "birth_date": p.BirthDate, "mrn": p.MRN}
	}
	if v := w.Visit; v != nil {
		out[AskAppointment] = map[string]any{"id": v.ID, "name": v.Type.Name, "starts_at": v.StartsAt, "zone": v.Zone}
	}
	add(AskType, w.Type, w.Type != nil)
	add(AskPractitioner, w.Practitioner, w.Practitioner != nil)
	add(AskPractitioner, "any", w.AnyDoctor)
	add(AskLocation, w.Location, w.Location != nil)
	if t := w.When; t != nil {
		add(AskDay, dayWords(t), len(t.Days) > 0)
		add(AskTime, clockWords(t), t.Clock != nil || t.From != nil || t.Until != nil)
	}
	for name, v := range map[string]string{AskReasonCode: w.ReasonCode, AskText: w.Text, AskFamily: w.Family, AskGiven: w.Given,
		AskBirthDate: w.BirthDate, "phone": w.Phone, "email": w.Email} {
		add(name, v, v != "")
	}
	contact := AskContact
	if w.Workflow == Message {
		contact = AskChannel
	}
	add(contact, w.Contact, w.Contact != "")
	return out
}

// Missing is what the workflow still needs, in the order in which it asks; what is being asked for is among it.
func (w Work) Missing() []string {
	known, exact := w.Known(), w.Start != "" || w.When != nil && w.When.Clock != nil
	need := map[string][]string{
		Reschedule: {AskPatient, AskAppointment, AskDay, AskTime}, Book: {AskPatient, AskType, AskDay, AskTime},
		Cancel: {AskPatient, AskAppointment, AskReasonCode}, Register: {AskFamily, AskGiven, AskBirthDate, AskContact},
		UpdateContact: {AskPatient, AskContact}, Message: {AskPatient, AskChannel, AskText},
	}[w.Workflow]
	out := []string{}
	for _, n := range need {
		_, there := known[n]
		switch {
		case n == w.Asks:
			out = append(out, n)
		case n == AskDay && w.Start != "", n == AskTime && exact, n != AskTime && there:
		case n == AskContact && w.Workflow == UpdateContact && (w.Phone != "" || w.Email != "" || w.Contact != ""):
		default:
			out = append(out, n)
		}
	}
	if w.Asks != "" && w.Workflow != "" && !slices.Contains(out, w.Asks) {
		out = append(out, w.Asks)
	}
	return out
}

// Lack says of something that is missing why, for people.
func (w Work) Lack(name string) string {
	t := w.When
	switch name {
	case AskPatient:
		switch {
		case w.Workflow == Register:
			return "somebody who looks the same is here already"
		case w.Query != "":
			return "“" + w.Query + "” does not say which one"
		}
	case AskAppointment:
		if w.Patient == nil {
			return "looked for once the patient is known"
		}
		return "more than one can be meant"
	case AskDay:
		switch {
		case t == nil || len(t.Days) == 0:
		case !t.DaysEnd.IsZero():
			return "any from " + dateWords(t.Days[0]) + " to " + dateWords(t.DaysEnd) + " was said"
		case len(t.Days) > 1:
			days := make([]string, len(t.Days))
			for i, d := range t.Days {
				days[i] = dateWords(d)
			}
			return strings.Join(days, " or ") + " can be meant"
		default:
			return dateWords(t.Days[0]) + " is in question"
		}
	case AskTime:
		switch c := clockWords(t); {
		case c != "" && t.Clock != nil:
			return c + " is in question"
		case c != "":
			return c + " leaves more than one"
		}
	case AskReasonCode:
		return "every cancellation says why"
	case AskBirthDate:
		return "it tells people of one name apart"
	case AskContact:
		if w.Contact != "" {
			return "the address or number for it was not said"
		}
	case AskText:
		return "it is sent exactly as you write it"
	}
	return "not said yet"
}
