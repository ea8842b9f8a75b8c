package proposal

import (
	"context"

	"countersign/internal/audit"
	"countersign/internal/clinic"
)

// sendMessage writes to one patient, about no visit. What is typed is what is sent, to the letter.
var sendMessage = action{
	name:    "send_message@1",
	subject: "patient",
	parameters: []parameter{
		{name: "patient", kind: kindID, required: true},
		{name: "channel", kind: kindCode, required: true, codes: []string{ChannelEmail, ChannelSMS}},
		{name: "message", kind: kindText, required: true},
	},
	draft: draftMessage,
	title: func(p Plan) string {
		how := "an SMS"
		if len(p.Messages) > 0 && p.Messages[0].Channel == ChannelEmail {
			how = "an e-mail"
		}
		return "Send " + p.After.Patient.Name + " " + how
	},
	audit: audit.SendMessage,
}

func draftMessage(ctx context.Context, d *drafting) error {
	patient, err := d.tx.Patient(ctx, text(d.params, "patient"))
	if err := d.unknown("patient", err); err != nil {
		return err
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	m := Message{Kind: "message", Channel: text(d.params, "channel"), Text: text(d.params, "message")}
	switch {
	case patient.Deceased:
		return d.invalid("patient", "The record says that this patient has died. Nothing is sent.")
	case patient.Contact == clinic.ContactNone:
		return d.invalid("channel", "This patient does not want messages.")
	case m.Channel == ChannelEmail && patient.Email == "":
		return d.invalid("channel", "No e-mail address is on record.")
	case m.Channel == ChannelSMS && patient.Phone == "":
		return d.invalid("channel", "No phone number is on record.")
	}
	m.Recipient = patient.Phone
	if m.Channel == ChannelEmail {
		subject := "A message from your clinic"
		m.Recipient, m.Subject = patient.Email, &subject
	}
	if patient.Contact != m.Channel {
		d.why = append(d.why, "The patient asked for another way: "+contactWords[patient.Contact])
	}
	facts, first := contactFacts(patient), 0
	d.plan.Before, d.plan.After = facts, facts
	d.plan.Messages = []Message{m}
	d.plan.Steps = []Step{{Op: OpSend, Patient: &patient.ID, ExpectVersion: &patient.Version, FreeSlots: []string{}, TakeSlots: []string{}, Message: &first}}
	d.rows.add(PinPatient, patient.ID, patient.Version)
	return nil
}

// contactWords are the contact preferences as staff read them.
var contactWords = map[string]string{clinic.ContactEmail: "e-mail", clinic.ContactSMS: "SMS", clinic.ContactPhone: "a phone call", clinic.ContactNone: "no messages"}
