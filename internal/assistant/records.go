package assistant

import (
	"slices"

	"countersign/internal/clinic"
)

// register comes to a new record; whether the patient is here already is asked when it is proposed, and again under a
// lock when it is confirmed.
func (d *dialog) register() (reply, error) {
	w := d.w
	switch {
	case w.Given == "" && w.Family == "":
		return reply{text: "What is the new patient’s name?", asks: AskName}, nil
	case w.Family == "":
		return reply{text: "What is the family name?", asks: AskFamily}, nil
	case w.Given == "":
		return reply{text: "What is the given name?", asks: AskGiven}, nil
	case w.BirthDate == "":
		return reply{text: "When was " + w.Given + " " + w.Family + " born?", asks: AskBirthDate}, nil
	case w.Contact == "":
		r := reply{text: "How does " + w.Given + " " + w.Family + " want to be told about visits?", asks: AskContact}
		for _, c := range []string{"email", "sms", "phone", "none"} {
			r.choices = append(r.choices, Choice{Label: contactWords[c], Set: &Work{Contact: c}})
		}
		return r, nil
	case w.Contact == "email" && w.Email == "":
		return reply{text: "What is the e-mail address?", asks: AskContact}, nil
	case (w.Contact == "sms" || w.Contact == "phone") && w.Phone == "":
		return reply{text: "What is the phone number?", asks: AskContact}, nil
	}
	return reply{propose: w.registration()}, nil
}

func (w *Work) registration() *Action {
	input := map[string]any{"family": w.Family, "given": w.Given, "birth_date": w.BirthDate, "contact_preference": w.Contact}
	if w.Phone != "" {
		input["phone"] = w.Phone
	}
	if w.Email != "" {
		input["email"] = w.Email
	}
	return &Action{Name: "register_patient@1", Input: input}
}

// contact corrects how a patient is reached.
func (d *dialog) contact() (reply, error) {
	w := d.w
	if w.Phone == "" && w.Email == "" && w.Contact == "" {
		return reply{text: "What should be corrected for " + w.Patient.Name + ": the phone number, the e-mail address, or how to be told?", asks: AskContact}, nil
	}
	input := map[string]any{"patient": w.Patient.ID}
	for name, v := range map[string]string{"phone": w.Phone, "email": w.Email, "contact_preference": w.Contact} {
		if v != "" {
			input[name] = v
		}
	}
	return reply{propose: &Action{Name: "update_contact@1", Input: input}}, nil
}

// message goes to the patient's own address on record: words never give a recipient.
func (d *dialog) message() (reply, error) {
	w := d.w
	found, _, err := d.tx.SearchPatients(d.ctx, clinic.SearchTerms(w.Patient.MRN), mostPeople)
	if err != nil {
		return reply{}, err
	}
	i := slices.IndexFunc(found, func(p clinic.Patient) bool { return p.ID == w.Patient.ID })
	if i < 0 {
		w.Patient = nil
		return reply{text: "Who should get the message?", asks: AskPatient}, nil
	}
	var ways []string
	if found[i].Email != "" {
		ways = append(ways, "email")
	}
	if found[i].Phone != "" {
		ways = append(ways, "sms")
	}
	switch {
	case len(ways) == 0:
		w.Workflow = ""
		return reply{text: "No phone number or e-mail address is on record for " + w.Patient.Name + ", so no message can be sent.",
			choices: []Choice{{Label: "Add a phone number or e-mail address", Set: &Work{Workflow: UpdateContact}}}}, nil
	case w.Contact == "" && slices.Contains(ways, found[i].Contact):
		w.Contact = found[i].Contact
	case !slices.Contains(ways, w.Contact):
		text := "How should the message go to " + w.Patient.Name + "?"
		if w.Contact != "" {
			text = "That way nobody can be reached: there is no address for it on record. " + text
		}
		w.Contact = ""
		r := reply{text: text, asks: AskChannel}
		for _, way := range ways {
			r.choices = append(r.choices, Choice{Label: contactWords[way], Set: &Work{Contact: way}})
		}
		return r, nil
	}
	if w.Text == "" {
		return reply{text: "What should the message say? It is sent exactly as you write it.", asks: AskText}, nil
	}
	return reply{propose: &Action{Name: "send_message@1", Input: map[string]any{"patient": w.Patient.ID, "channel": w.Contact, "message": w.Text}}}, nil
}
