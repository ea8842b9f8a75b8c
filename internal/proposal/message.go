package proposal

import (
	"time"

	"countersign/internal/clinic"
)

// Channels a message can take.
const (
	ChannelEmail = "email"
	ChannelSMS   = "sms"
)

// Kinds of messages about a visit; a message about none is of kind `message`.
const (
	KindConfirmation = "confirmation"
	KindChange       = "change"
	KindCancellation = "cancellation"
	KindReminder     = "reminder"
)

const (
	// remindAhead is how long before its start a patient is reminded of a visit.
	remindAhead = 24 * time.Hour
	// remindMargin keeps a reminder from following on the heels of the message that booked the visit. It is longer than
	// any deadline of the product's, so that a reminder is never due before its plan is confirmed.
	remindMargin = 12 * time.Hour
)

// deceased is why nobody is told of a visit whose patient has died.
const deceased = "deceased"

// Unreachable says why no message can go to the patient, "" when one can. The channel is the patient's own choice;
// another one is never taken instead.
func Unreachable(p clinic.Patient) string {
	switch {
	case p.Deceased:
		return deceased
	case p.Contact == "phone":
		return "prefers_phone"
	case p.Contact == ChannelEmail && p.Email == "", p.Contact == ChannelSMS && p.Phone == "":
		return "no_address"
	case p.Contact == ChannelEmail, p.Contact == ChannelSMS:
		return ""
	default:
		return "prefers_none"
	}
}

// tell adds the message of the plan and, where there will be a visit that is far enough ahead, its reminder, each with
// the step that sends it; unless nobody shall or can be told. A text that somebody wrote takes the place of the first
// message alone. It is called when the plan has its facts and the step about its visit.
func (d *drafting) tell(patient clinic.Patient, kind string) {
	if d.params["notify"] == false || d.plan.After.Patient.Unreachable != nil {
		return
	}
	l := letter{given: patient.Given, name: patient.Name(), visit: d.plan.After, was: d.plan.Before, in: languageOf(patient.Language)}
	m := l.message(kind, patient)
	if own := text(d.params, "message"); own != "" {
		m.Text = own
	}
	if m.Channel == ChannelEmail {
		entry := d.entry(l, kind, m.Recipient)
		m.Calendar = &entry
	}
	d.send(m)
	if kind == KindCancellation || !l.visit.StartsAt.After(d.now.Add(remindAhead+remindMargin)) {
		return
	}
	m, at := l.message(KindReminder, patient), dayBefore(l.visit.local(l.visit.StartsAt))
	m.SendAt = &at
	d.send(m)
}

func (d *drafting) send(m Message) {
	d.plan.Messages = append(d.plan.Messages, m)
	at := len(d.plan.Messages) - 1
	d.plan.Steps = append(d.plan.Steps, Step{Op: OpSend, FreeSlots: []string{}, TakeSlots: []string{}, Message: &at})
}

// dayBefore is when a visit that starts then, in its own zone, is remembered: at its hour on the day before. On the days of a clock change that is 23 or 25
// hours, which is right: a visit at 08:00 is not remembered at 07:00, when the patient still sleeps. An hour that the day
// before does not have, or has twice, is 24 hours before.
func dayBefore(starts time.Time) time.Time {
	w := clinic.WallOf(starts, starts.Location())
	w.Date = w.Date.AddDays(-1)
	if at := clinic.Instants(w, starts.Location()); len(at) == 1 {
		return at[0].UTC()
	}
	return starts.Add(-remindAhead).UTC()
}

func possessive(name string) string { return name + "’s" }
