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

// PatientAnswer is a patient as the API gives one (GET /patients/{id}).
type PatientAnswer struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	BirthDate string  `json:"birth_date"`
	MRN       string  `json:"mrn"`
	Version   int64   `json:"version"`
	Phone     *string `json:"phone"`
	Email     *string `json:"email"`
	Contact   string  `json:"contact_preference"`
}

// PolicyAnswer is a policy as the API gives it.
type PolicyAnswer struct {
	Version int64 `json:"version"`
	PolicyFacts
}

// MessageAnswer is one message that was put in the outbox.
type MessageAnswer struct {
	ID string `json:"id"`
	Message
}

// result is what a plan that ran answers: the row it was about, or the messages.
func result(p Plan, step Step, version int64, rows []OutboxRow) map[string]any {
	f := p.After.Patient
	switch step.Op {
	case OpRegister, OpContact:
		return map[string]any{"patient": PatientAnswer{f.ID, f.Name, f.BirthDate, f.MRN, version, f.Phone, f.Email, f.Contact}}
	case OpPolicy:
		return map[string]any{"policy": PolicyAnswer{version, *step.Policy}}
	case OpSend:
		sent := make([]MessageAnswer, len(rows))
		for i, r := range rows {
			sent[i] = MessageAnswer{r.ID, r.Message}
		}
		return map[string]any{"messages": sent}
	default:
		return map[string]any{"appointment": appointmentAnswer(p.After, version)}
	}
}

// failure is the result of an approved write that did not happen.
type failure struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	Alternatives any    `json:"alternatives"`
}
