package proposal

import (
	"bytes"
	"encoding/json"
	"time"

	"countersign/internal/clinic"
)

// encode writes an answer as the API gives it: no HTML escapes, no final newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// decided is the answer to a confirmation.
type decided struct {
	Outcome  string          `json:"outcome"`
	Proposal Record          `json:"proposal"`
	Result   json.RawMessage `json:"result"`
}

// notExecuted is the answer to a rejection.
type notExecuted struct {
	Outcome  string `json:"outcome"`
	Proposal Record `json:"proposal"`
}

// AppointmentAnswer is an appointment as the API gives it.
type AppointmentAnswer struct {
	ID           string      `json:"id"`
	Version      int64       `json:"version"`
	Status       string      `json:"status"`
	Type         clinic.Ref  `json:"type"`
	StartsAt     time.Time   `json:"starts_at"`
	EndsAt       time.Time   `json:"ends_at"`
	Zone         string      `json:"zone"`
	Practitioner clinic.Ref  `json:"practitioner"`
	Location     clinic.Ref  `json:"location"`
	Patient      clinic.Ref  `json:"patient"`
	Slots        []SlotFacts `json:"slots"`
}

func appointmentAnswer(f *Facts, version int64) AppointmentAnswer {
	return AppointmentAnswer{f.Appointment, version, f.Status, clinic.Ref{ID: f.Type.ID, Name: f.Type.Name}, f.StartsAt, f.EndsAt, f.Zone,
		f.Practitioner, clinic.Ref{ID: f.Location.ID, Name: f.Location.Name}, clinic.Ref{ID: f.Patient.ID, Name: f.Patient.Name}, f.Slots}
}

// failure is the result of an approved write that did not happen.
type failure struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	Alternatives any    `json:"alternatives"`
}
