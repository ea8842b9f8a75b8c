package proposal

import (
	"strings"
	"time"

	"countersign/internal/clinic"
)

// Summarize draws the rows of a plan from the plan alone: what stands now and what is proposed.
func Summarize(p Plan) Summary {
	if p.V == 0 {
		return Summary{Title: "The stored plan is not the one that was proposed. It is not shown, and cannot run.", Fields: []Field{}}
	}
	a, err := actionNamed(p.Action)
	if err != nil {
		return Summary{Title: p.Action, Fields: []Field{}}
	}
	s := Summary{Title: a.title(p)}
	switch {
	case p.Action == bulkName:
		s.Fields = itemFields(p)
		return s
	case p.After.Operation != nil:
		s.Fields = append(operationFields(p), messageFields(p.After.Operation.Wanted, p)...)
		return s
	}
	row := func(label string, of func(*Facts) string) {
		f := Field{Label: label}
		if p.Before != nil {
			f.Old = value(of(p.Before))
		}
		f.New = value(of(p.After))
		s.Fields = append(s.Fields, f)
	}
	switch {
	case p.After.OfVisit():
		visitRows(row)
	case p.After.Policy != nil:
		policyRows(row)
	default:
		patientRows(row)
	}
	if code := text(p.Parameters, "reason_code"); code != "" {
		s.Fields = append(s.Fields, Field{Label: "Reason", New: value(strings.ReplaceAll(code, "_", " "))})
	}
	s.Fields = append(s.Fields, messageFields(p.After, p)...)
	if len(p.Messages) == 0 && p.After.OfVisit() {
		s.Fields = append(s.Fields, Field{Label: "Message", New: value("Nobody will be told: " + WhyNobodyIsTold(p))})
	}
	return s
}

func messageFields(f *Facts, p Plan) (out []Field) {
	for _, m := range p.Messages {
		out = append(out, Field{Label: f.messageLabel(m), New: value(m.Text)})
	}
	return out
}

// messageLabel says what a message is: by which way to whom, and when it goes out if that is later.
func (f *Facts) messageLabel(m Message) string {
	label := strings.ToUpper(m.Channel[:1]) + m.Channel[1:] + " to " + m.Recipient
	if m.SendAt != nil {
		return "Reminder, " + f.local(*m.SendAt).Format("Monday 2 January 2006, 15:04") + ", " + label
	}
	if m.Calendar != nil {
		label += ", with a calendar entry"
	}
	return label
}

type rowOf = func(label string, of func(*Facts) string)

func visitRows(row rowOf) {
	row("Patient", func(f *Facts) string {
		return f.Patient.Name + ", born " + f.Patient.BirthDate + ", MRN " + f.Patient.MRN
	})
	row("Date", func(f *Facts) string { return f.local(f.StartsAt).Format("Monday 2 January 2006") })
	row("Time", func(f *Facts) string {
		return f.local(f.StartsAt).Format("15:04") + "–" + f.local(f.EndsAt).Format("15:04") + " " + f.Zone + " (" + OffsetLabel(f.OffsetMinutes) + ")"
	})
	row("Practitioner", func(f *Facts) string { return f.Practitioner.Name })
	row("Location", func(f *Facts) string { return f.Location.Line() })
	row("Type", func(f *Facts) string { return f.Type.Name })
	row("Status", func(f *Facts) string { return f.Status })
}

func patientRows(row rowOf) {
	row("Patient", func(f *Facts) string { return f.Patient.Name })
	row("Birth date", func(f *Facts) string { return f.Patient.BirthDate })
	row("MRN", func(f *Facts) string { return f.Patient.MRN })
	row("Phone", func(f *Facts) string { return orNone(f.Patient.Phone) })
	row("E-mail", func(f *Facts) string { return orNone(f.Patient.Email) })
	row("Wants to be told by", func(f *Facts) string { return contactWords[f.Patient.Contact] })
}

// plainName is an action's name without its version, in words.
func plainName(action string) string {
	name, _, _ := strings.Cut(action, "@")
	return strings.ReplaceAll(name, "_", " ")
}

func policyRows(row rowOf) {
	row("Action", func(f *Facts) string { return plainName(f.Policy.Action) })
	row("Risk", func(f *Facts) string { return f.Policy.policy().FloorWords() })
	row("People", func(f *Facts) string { return f.Policy.policy().PeopleWords() })
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func value(s string) *string { return &s }

// Line is the place in one line. An address that begins with the name does not say it twice.
func (p PlaceFacts) Line() string {
	switch {
	case p.Address == "":
		return p.Name
	case strings.HasPrefix(p.Address, p.Name):
		return p.Address
	}
	return p.Name + ", " + p.Address
}

func (f *Facts) local(t time.Time) time.Time {
	zone, err := clinic.LoadZone(f.Zone)
	if err != nil {
		zone = time.FixedZone("", f.OffsetMinutes*60)
	}
	return t.In(zone)
}

// WhyNobodyIsTold says in words why a plan holds no message.
func WhyNobodyIsTold(p Plan) string {
	why := ""
	if p.After != nil && p.After.Patient.Unreachable != nil {
		why = *p.After.Patient.Unreachable
	}
	switch why {
	case "no_address":
		return "no phone number or e-mail address is on record for the way this patient wants to be told."
	case "prefers_phone":
		return "this patient wants to be phoned. Please call."
	case "prefers_none":
		return "this patient does not want messages."
	case "deceased":
		return "this patient has died, as the record or the reason given says."
	default:
		return "it was asked not to send a message."
	}
}
