package model

import (
	"bytes"
	"encoding/json"
	"io"

	"countersign/internal/assistant"
	"countersign/internal/clinic"
)

const toolName = "understand"

// words is what the model may say: names and words, no ids, no dates worked out, no zones, no recipients.
type words struct {
	Workflow     string `json:"workflow"`
	Patient      string `json:"patient"`
	Born         string `json:"born"`
	Other        bool   `json:"other"`
	Practitioner string `json:"practitioner"`
	AnyDoctor    bool   `json:"any_practitioner"`
	Location     string `json:"location"`
	Type         string `json:"type"`
	When         string `json:"when"`
	VisitWhen    string `json:"visit_when"`
	Reason       string `json:"reason"`
	Silent       bool   `json:"do_not_notify"`
	Family       string `json:"family"`
	Given        string `json:"given"`
	BirthDate    string `json:"birth_date"`
	Phone        string `json:"phone"`
	Email        string `json:"email"`
	Contact      string `json:"contact"`
	Unclear      string `json:"unclear"`
}

var (
	workflows = []string{"", assistant.Reschedule, assistant.Book, assistant.Cancel, assistant.Register, assistant.UpdateContact, assistant.Message}
	contacts  = []string{"", "email", "sms", "phone", "none"}
)

// limit is how many characters of a word of the model's are read.
const limit = 200

// tool is the schema of words for the API.
func tool() map[string]any {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "maxLength": limit, "description": description}
	}
	yes := func(description string) map[string]any {
		return map[string]any{"type": "boolean", "description": description}
	}
	return map[string]any{"type": "function", "function": map[string]any{
		"name": toolName, "description": "What the receptionist's message says, in its own words. It changes nothing.",
		"parameters": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
			"workflow":         map[string]any{"type": "string", "enum": workflows, "description": "what is asked for, if it is"},
			"patient":          text("the name or record number of the patient, as written"),
			"born":             text("what is said of the patient's birth, such as “in 84”"),
			"other":            yes("another person of that name is meant than the one taken"),
			"practitioner":     text("the practitioner, as written"),
			"any_practitioner": yes("it does not matter who sees the patient"),
			"location":         text("the place, as written"),
			"type":             text("the kind of visit, as written"),
			"when":             text("the day and time asked for, in English words, as said"),
			"visit_when":       text("of a move: the day and time of the visit as it is now, in English words, as said"),
			"reason":           text("why, in English, in a few words"),
			"do_not_notify":    yes("the patient shall not be told"),
			"family":           text("registration: the family name, as written"),
			"given":            text("registration: the given names, as written"),
			"birth_date":       text("registration: the birth date, as written"),
			"phone":            text("a telephone number, as written"),
			"email":            text("an e-mail address, as written"),
			"contact":          map[string]any{"type": "string", "enum": contacts, "description": "how the patient wants to be told"},
			"unclear":          text("what is said but not clear"),
		}},
	}}
}

// decode reads the arguments strictly: one object, known names only, texts cleaned and short.
func decode(arguments json.RawMessage) (w words, err error) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, refused("other arguments than asked for")
	}
	if _, err := d.Token(); err != io.EOF {
		return w, refused("more than one object")
	}
	for _, s := range []*string{&w.Workflow, &w.Patient, &w.Born, &w.Practitioner, &w.Location, &w.Type, &w.When, &w.VisitWhen, &w.Reason,
		&w.Family, &w.Given, &w.BirthDate, &w.Phone, &w.Email, &w.Contact, &w.Unclear} {
		if *s, err = clinic.CleanText(*s, limit); err != nil {
			return w, refused("text too long or not text")
		}
	}
	return w, nil
}
