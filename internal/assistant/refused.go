package assistant

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// refused explains why there is no card, and asks on. Nothing is substituted for what was asked.
func (d *dialog) refused(r *refusal.Error, act Action) (reply, error) {
	d.w.Start = ""
	switch r.Code {
	case refusal.TimeDoesNotExist, refusal.TimeIsAmbiguous:
		list, _ := r.Details["choices"].([]proposal.Choice)
		out := reply{text: "The clocks change then. Which time is meant?", asks: AskTime}
		for _, c := range list {
			at := c.StartsAt.UTC().Format(time.RFC3339)
			out.choices = append(out.choices, Choice{Label: c.Label, Action: act.with(map[string]any{"starts_at": at}), Set: &Work{Start: at}})
		}
		return out, nil
	case refusal.SlotTaken:
		list, _ := r.Details["alternatives"].([]proposal.Alternative)
		return taken("That time is taken, and nothing was changed.", act, list), nil
	case refusal.InThePast:
		return d.elsewhere("That time has passed.")
	case refusal.OutsideSchedule:
		return d.elsewhere("There are no hours for this type of visit with that practitioner, at that place and time.")
	case refusal.PossibleDuplicate:
		return d.duplicate(r, act), nil
	case refusal.UnknownAction:
		d.w.Workflow = ""
		return reply{text: "That cannot be proposed here. Nothing was changed."}, nil
	case refusal.ValidationFailed:
		var words []string
		for _, f := range r.Fields {
			words = append(words, f.Message)
			d.forget(f.Name)
		}
		if d.w.Workflow == "" {
			return reply{text: "That cannot be proposed: " + strings.Join(words, " ")}, nil
		}
		d.w.Halted = true
		return reply{text: "That cannot be proposed: " + strings.Join(words, " ") + " What should it be instead?", asks: fieldAsks[firstField(r)]}, nil
	case refusal.RateLimited:
		d.w.Halted = true
		return reply{text: "Too many proposals were made in a short time, so this one was not. Nothing was changed. Decide those that wait, or try again later."}, nil
	}
	d.w.Halted = true
	words := r.Message
	if words == "" {
		words = "It was refused (" + r.Code + ")."
	}
	return reply{text: words + " Nothing was changed."}, nil
}

func firstField(r *refusal.Error) string {
	if len(r.Fields) == 0 {
		return ""
	}
	return r.Fields[0].Name
}

var fieldAsks = map[string]string{"starts_at": AskTime, "patient": AskPatient, "appointment": AskAppointment, "type": AskType, "practitioner": AskPractitioner,
	"location": AskLocation, "reason_code": AskReasonCode, "message": AskText, "family": AskFamily, "given": AskGiven, "birth_date": AskBirthDate,
	"phone": AskContact, "email": AskContact, "contact_preference": AskContact, "channel": AskChannel}

// forget drops what a refusal named, so that it is asked for again.
func (d *dialog) forget(field string) {
	w := d.w
	switch field {
	case "appointment":
		*w = Work{Patient: w.Patient}
	case "patient":
		*w = Work{}
	case "starts_at":
		if w.When != nil {
			w.When.Clock = nil
		}
	case "message":
		w.Text = ""
	case "phone":
		w.Phone = ""
	case "email":
		w.Email = ""
	case "contact_preference", "channel":
		w.Contact = ""
	case "family":
		w.Family = ""
	case "given":
		w.Given = ""
	case "birth_date":
		w.BirthDate = ""
	}
}

// with is the same action with other arguments; the first one's are not touched.
func (a Action) with(change map[string]any) *Action {
	input := maps.Clone(a.Input)
	maps.Copy(input, change)
	return &Action{Name: a.Name, Input: input}
}

// taken offers the other times that came with a refusal or a failure.
func taken(text string, act Action, list []proposal.Alternative) reply {
	out := reply{text: text + " Which other time should it be?", asks: AskTime}
	for _, a := range list {
		at := a.StartsAt.UTC().Format(time.RFC3339)
		out.choices = append(out.choices, Choice{Label: a.Label + " with " + a.Practitioner.Name + ", " + a.Location.Name,
			Action: act.with(map[string]any{"starts_at": at, "practitioner": a.Practitioner.ID, "location": a.Location.ID}),
			Set:    &Work{Start: at, Practitioner: &clinic.Ref{ID: a.Practitioner.ID, Name: a.Practitioner.Name}, Location: &clinic.Ref{ID: a.Location.ID, Name: a.Location.Name}}})
	}
	if len(list) == 0 {
		out.text = text + " Say another day or time."
	}
	return out
}

// elsewhere offers the next free starts after a time that cannot be.
func (d *dialog) elsewhere(why string) (reply, error) {
	when := d.w.When
	d.w.When = nil
	r, err := d.next()
	if when != nil { // the day stays what was said
		d.w.When = &When{Days: when.Days, DaysEnd: when.DaysEnd, From: when.From, Until: when.Until}
	}
	r.text, r.asks, r.propose = why+" "+r.text, AskTime, nil
	return r, err
}

// duplicate asks whether a patient who looks the same is the same.
func (d *dialog) duplicate(r *refusal.Error, act Action) reply {
	out := reply{text: "A patient who looks the same is here already. Is it the same person?", asks: AskPatient}
	list, _ := r.Details["candidates"].([]proposal.Candidate)
	for _, p := range list {
		who := &Who{ID: p.ID, Name: p.Name, BirthDate: p.BirthDate, MRN: p.MRN}
		d.shown = append(d.shown, p.ID)
		out.choices = append(out.choices, Choice{Label: "The same: " + who.Line(), Who: who, Note: "The same person: correct their details", Set: &Work{Workflow: UpdateContact, Patient: who}})
	}
	out.choices = append(out.choices, Choice{Label: "Somebody else: register " + d.w.Given + " " + d.w.Family + ", born " + d.w.BirthDate,
		Action: act.with(map[string]any{"confirm_not_duplicate": true}), Set: &Work{}})
	return out
}

// failure is the result of an approved write that did not happen.
type failure struct {
	Code         string                 `json:"code"`
	Message      string                 `json:"message"`
	Alternatives []proposal.Alternative `json:"alternatives"`
}

func failureOf(result json.RawMessage) (f failure) {
	_ = json.Unmarshal(result, &f) // what cannot be read is told without details
	return f
}
