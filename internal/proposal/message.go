package proposal

import (
	"fmt"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// Channels a message can take.
const (
	ChannelEmail = "email"
	ChannelSMS   = "sms"
)

// standardMessage is the kind, the subject and the text the patient gets when nobody wrote another.
type standardMessage struct {
	kind, subject string
	text          func(p Plan) string
}

var (
	changeMessage       = standardMessage{"change", "Your appointment has moved", changeText}
	confirmationMessage = standardMessage{"confirmation", "Your appointment", confirmationText}
	cancellationMessage = standardMessage{"cancellation", "Your appointment is cancelled", cancellationText}
)

// Unreachable says why no message can go to the patient, "" when one can. The channel is the patient's own choice;
// another one is never taken instead.
func Unreachable(p clinic.Patient) string {
	switch {
	case p.Deceased:
		return "deceased"
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

// tell adds the message of the plan and the step that sends it, unless nobody shall or can be told.
func (d *drafting) tell(patient clinic.Patient, std standardMessage) {
	if d.params["notify"] == false || Unreachable(patient) != "" {
		return
	}
	m := Message{Kind: std.kind, Channel: patient.Contact, Recipient: patient.Phone, Text: text(d.params, "message")}
	if m.Channel == ChannelEmail {
		subject := std.subject
		m.Recipient, m.Subject = patient.Email, &subject
	}
	if m.Text == "" {
		m.Text = std.text(*d.plan)
	}
	d.plan.Messages = append(d.plan.Messages, m)
	at := len(d.plan.Messages) - 1
	d.plan.Steps = append(d.plan.Steps, Step{Op: OpSend, FreeSlots: []string{}, TakeSlots: []string{}, Message: &at})
}

func changeText(p Plan) string {
	b, a := p.Before, p.After
	moved := ""
	if b.Location.ID != a.Location.ID {
		moved = "\nPlease note that the place has changed from " + b.Location.Name + " to " + a.Location.Name + ". The address is " + a.Location.Address + "."
	}
	return fmt.Sprintf("Dear %s\nYour appointment on %s has moved.\nYour new appointment is on %s (%s) with %s at %s.%s\nIf this does not suit you, call us on %s.\n%s",
		a.Patient.Name, patientTime(b), patientTime(a), zoneCity(a.Zone), a.Practitioner.Name, a.Location.Name, moved, a.Location.Phone, a.Location.Name)
}

func confirmationText(p Plan) string {
	a := p.After
	return fmt.Sprintf("Dear %s\nYour appointment is on %s (%s) with %s at %s.\nIf this does not suit you, call us on %s.\n%s",
		a.Patient.Name, patientTime(a), zoneCity(a.Zone), a.Practitioner.Name, a.Location.Line(), a.Location.Phone, a.Location.Name)
}

func cancellationText(p Plan) string {
	b := p.Before
	return fmt.Sprintf("Dear %s\nYour appointment on %s (%s) with %s at %s is cancelled.\nTo book a new one, call us on %s.\n%s",
		b.Patient.Name, patientTime(b), zoneCity(b.Zone), b.Practitioner.Name, b.Location.Name, b.Location.Phone, b.Location.Name)
}

// patientTime is a visit's start as patients read it: long date and twelve hours (9am, 2:15pm, midday). An hour that
// the clock shows twice carries its offset.
func patientTime(f *Facts) string {
	zone, err := clinic.LoadZone(f.Zone)
	if err != nil {
		zone = time.FixedZone("", f.OffsetMinutes*60)
	}
	t := f.StartsAt.In(zone)
	clock := t.Format("3:04pm")
	switch {
	case t.Hour() == 12 && t.Minute() == 0:
		clock = "midday"
	case t.Hour() == 0 && t.Minute() == 0:
		clock = "midnight"
	case t.Minute() == 0:
		clock = t.Format("3pm")
	}
	if len(clinic.Instants(clinic.WallOf(t, zone), zone)) > 1 {
		clock += " " + OffsetLabel(f.OffsetMinutes)
	}
	return t.Format("Monday 2 January 2006") + " at " + clock
}

// zoneCity names a zone for a patient: Europe/Copenhagen is Copenhagen time.
func zoneCity(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndexByte(zone, '/')+1:], "_", " ") + " time"
}

func possessive(name string) string { return name + "’s" }
