package gallery

import (
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// onRecord is Maria Jensen as a plan about herself shows her.
func onRecord(phone, email, contact string) *proposal.Facts {
	f := &proposal.Facts{Patient: proposal.PatientFacts{ID: maria91.ID, Name: maria91.Name, BirthDate: maria91.BirthDate, MRN: maria91.MRN, Contact: contact}}
	if phone != "" {
		f.Patient.Phone = ptr(phone)
	}
	if email != "" {
		f.Patient.Email = ptr(email)
	}
	return f
}

func patientRecord(action, id, state string, before, after *proposal.Facts, change func(*proposal.Plan)) proposal.Record {
	p := proposal.Plan{V: 1, Clinic: "havnegade", Proposal: id, Revision: 1, Action: action, Parameters: map[string]any{}, Before: before, After: after,
		Resources: []proposal.Pin{{Kind: proposal.PinPatient, ID: maria91.ID, Version: 11}}, Risk: proposal.Medium, ExpiresAt: at(21, 11, 27)}
	change(&p)
	r := record(p, hashA, state)
	r.Reason, r.Summary = nil, proposal.Summarize(p)
	return r
}

func registering(state string) proposal.Record {
	return patientRecord(views.ActionRegister, "2260", state, nil, onRecord("+45 20 12 34 56", "", "sms"), func(p *proposal.Plan) {
		p.Resources, p.RiskReasons = nil, []string{"A registration"}
		p.Steps = []proposal.Step{{Op: proposal.OpRegister}}
	})
}

func contacting(state, phone string) proposal.Record {
	return patientRecord(views.ActionContact, "2261", state, onRecord("+45 20 08 71 00", "maria@example.test", "sms"), onRecord(phone, "maria@example.test", "email"), func(p *proposal.Plan) {
		p.RiskReasons, p.Steps = []string{"Contact details change"}, []proposal.Step{{Op: proposal.OpContact}}
	})
}

func writing(state string) proposal.Record {
	who := onRecord("+45 20 08 71 00", "maria@example.test", "sms")
	return patientRecord(views.ActionMessage, "2262", state, who, who, func(p *proposal.Plan) {
		p.RiskReasons = []string{"The message is free text"}
		p.Steps = []proposal.Step{{Op: proposal.OpSend, Message: ptr(0)}}
		p.Messages = []proposal.Message{{Kind: "message", Channel: "sms", Recipient: "+45 20 08 71 00", Text: "Please bring your vaccination card.\n  Havnegade clinic"}}
	})
}

func patientCards() []Item {
	doubt := cardOf(registering(proposal.StateProposed))
	doubt.Record.Risk, doubt.Record.Warnings = proposal.High, []string{proposal.WarnDuplicate}
	doubt.Record.RiskReasons = append(doubt.Record.RiskReasons, "May be the same as Maria Jensen, born 1984-03-11, MRN 100234")
	doubt.Confirm = views.Permission{Code: refusal.SelfApprovalForbidden}
	appeared := cardOf(registering(proposal.StateProposed))
	appeared.Record.Stale = true
	appeared.Record.Changed = []proposal.Change{{Kind: proposal.PinPatient, ID: "p1", Current: 1, Label: "May be the same as Maria Jensen, born 1991-07-02, MRN 900871"}}
	seen := cardOf(contacting(proposal.StateProposed, "+45 20 12 34 56"))
	seen.Record.Revision = 2
	seen.Refusal = views.Refusal{Status: 409, Code: refusal.ResourceChanged, Title: "This changed while you had it open", Words: "Nothing was done."}
	seen.Seen = &views.SeenRevision{Revision: 1, PlanHash: hashB, Plan: contacting(proposal.StateProposed, "+45 20 12 34 55").Plan, EditedBy: "Emil Brandt", EditedAt: at(21, 11, 14)}
	sent := cardOf(writing(proposal.StateCompleted))
	sent.Messages = []views.MessageState{{ID: "m1", Kind: "message", Channel: "sms", Recipient: "+45 20 08 71 00", State: "sent", At: at(21, 11, 16), PlanHash: hashA}}
	return []Item{
		{Name: "card-register", Component: views.Card(cardOf(registering(proposal.StateProposed)))},
		{Name: "card-register-duplicate", Component: views.Card(doubt)},
		{Name: "card-register-appeared", Component: views.Card(appeared)},
		{Name: "card-register-done", Component: views.Card(cardOf(registering(proposal.StateCompleted)))},
		{Name: "card-register-expired", Component: views.Card(cardOf(registering(proposal.StateExpired)))},
		{Name: "card-contact", Component: views.Card(cardOf(contacting(proposal.StateProposed, "+45 20 12 34 56")))},
		{Name: "card-contact-seen", Refused: true, Component: views.Card(seen)},
		{Name: "card-contact-done", Component: views.Card(cardOf(contacting(proposal.StateCompleted, "+45 20 12 34 56")))},
		{Name: "card-message", Component: views.Card(cardOf(writing(proposal.StateProposed)))},
		{Name: "card-message-done", Component: views.Card(sent)},
	}
}

func patientForms() []Item {
	register := views.PatientFormPage{Shell: shell(""), Action: views.ActionRegister, IdempotencyKey: "k"}
	wrong := register
	wrong.Family, wrong.Phone, wrong.Contact = "Jensen", "12", "email"
	wrong.Refusal = views.Refusal{Status: 422, Code: refusal.ValidationFailed, Title: "Some fields need another look", Words: "Nothing was done.", Fields: []refusal.Field{
		{Name: "given", Message: "This is needed."}, {Name: "phone", Message: "Give the whole number with its country code."}, {Name: "contact_preference", Message: "Messages by e-mail need an e-mail address."}}}
	twin := register
	twin.Family, twin.Given, twin.BirthDate, twin.Contact = "Jensen", "Maria", maria84.BirthDate, "none"
	twin.Candidates = []views.Person{maria84}
	twin.Refusal = views.Refusal{Status: 422, Code: refusal.PossibleDuplicate, Title: "This patient may be here already", Words: "There is a patient who looks like this one.", Next: "Compare, and say whether it is somebody else."}
	edit := twin
	edit.Refusal, edit.Candidates, edit.NotDuplicate, edit.Proposal, edit.Revision, edit.PlanHash = views.Refusal{}, nil, true, "2260", 1, hashA
	contact := views.PatientFormPage{Shell: shell(""), Action: views.ActionContact, IdempotencyKey: "k", Patient: maria91, PhoneNow: "+45 00 20 08 71", ContactNow: clinic.ContactSMS}
	message := contact
	message.Action, message.Channels = views.ActionMessage, []views.Option{{Value: "sms", Label: "SMS to +45 00 20 08 71"}}
	unsendable := message
	unsendable.Channels = nil
	return []Item{
		{Name: "patient-register", Component: views.PatientForm(register)},
		{Name: "patient-register-wrong", Component: views.PatientForm(wrong)},
		{Name: "patient-register-duplicate", Component: views.PatientForm(twin)},
		{Name: "patient-register-edit", Component: views.PatientForm(edit)},
		{Name: "patient-contact", Component: views.PatientForm(contact)},
		{Name: "patient-message", Component: views.PatientForm(message)},
		{Name: "patient-message-nobody", Component: views.PatientForm(unsendable)},
	}
}
