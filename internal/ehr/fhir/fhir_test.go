package fhir

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const visit = `{"resourceType":"Appointment","id":"7","meta":{"versionId":"3","security":[{"code":"R"}]},"extension":[{"url":"x","valueDecimal":1.50}],
"status":"booked","start":"2026-06-09T10:00:00+02:00","end":"2026-06-09T10:30:00+02:00","participant":[
{"actor":{"reference":"https://ehr.test/fhir/Patient/p1/_history/4"},"status":"accepted","period":{"start":"2026"}},
{"actor":{"reference":"Practitioner/h1"},"status":"declined"},{"actor":{"reference":"#x"},"status":"accepted"}]}`

func TestAppointmentKeepsWhatItDoesNotKnow(t *testing.T) {
	var a Appointment
	if err := Decode([]byte(visit), "Appointment", &a); err != nil {
		t.Fatal(err)
	}
	if !a.Start.Equal(time.Date(2026, 6, 9, 8, 0, 0, 0, time.UTC)) || a.Version() != "3" {
		t.Errorf("start %v, version %q", a.Start, a.Version())
	}
	if got := a.Actors("Patient"); len(got) != 1 || got[0] != "p1" {
		t.Errorf("patients: %v", got)
	}
	if got := a.Actors("Practitioner"); len(got) != 0 {
		t.Errorf("who declined is no actor: %v", got)
	}
	out, err := Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{`"valueDecimal":1.50`, `"security":[{"code":"R"}]`, `"period":{"start":"2026"}`} {
		if !strings.Contains(string(out), kept) {
			t.Errorf("%s is lost in %s", kept, out)
		}
	}
	again, _ := Encode(a)
	if string(again) != string(out) {
		t.Error("the same value made other bytes")
	}
}

func TestStrict(t *testing.T) {
	for name, text := range map[string]string{
		"duplicate":       `{"resourceType":"Appointment","status":"booked","status":"cancelled"}`,
		"nested twice":    `{"resourceType":"Appointment","status":"booked","meta":{"versionId":"1","versionId":"2"}}`,
		"unknown twice":   `{"resourceType":"Appointment","status":"booked","x":{"a":1,"a":2}}`,
		"other type":      `{"resourceType":"Patient","status":"booked"}`,
		"no type":         `{"status":"booked"}`,
		"trailing":        `{"resourceType":"Appointment","status":"booked"} {}`,
		"html":            `<html><body>502</body></html>`,
		"empty":           ``,
		"array":           `[]`,
		"null":            `null`,
		"cut off":         `{"resourceType":"Appointment","status":"boo`,
		"bad utf-8":       "{\"resourceType\":\"Appointment\",\"status\":\"\xff\"}",
		"wrong kind":      `{"resourceType":"Appointment","status":7}`,
		"day alone":       `{"resourceType":"Appointment","status":"booked","start":"2026-06-09"}`,
		"no such instant": `{"resourceType":"Appointment","status":"booked","start":"2026-02-30T10:00:00Z"}`,
	} {
		var a Appointment
		if err := Decode([]byte(text), "Appointment", &a); err == nil {
			t.Errorf("%s was read", name)
		} else if strings.Contains(err.Error(), "booked") || strings.Contains(err.Error(), "2026") {
			t.Errorf("%s: the error repeats what was read: %v", name, err)
		}
	}
	var a Appointment
	err := Decode([]byte(`{"resourceType":"Appointment","status":"booked","start":"2026-06-09T10:00:00"}`), "Appointment", &a)
	if !errors.Is(err, ErrNoOffset) {
		t.Errorf("without an offset: %v", err)
	}
	// Names are exact: another case is another, unknown member.
	if err := Decode([]byte(`{"resourceType":"Appointment","status":"booked","Status":"cancelled"}`), "Appointment", &a); err != nil || a.Status != "booked" {
		t.Errorf("%q, %v", a.Status, err)
	}
}

func TestOutcome(t *testing.T) {
	var o OperationOutcome
	text := `{"resourceType":"OperationOutcome","issue":[{"severity":"warning","code":"business-rule","details":{"coding":[{"code":"Slot-Busy"}]}}]}`
	if err := Decode([]byte(text), "OperationOutcome", &o); err != nil || o.Serious() || !o.Says("slot-busy") || !o.Says("business-rule") || o.Says("conflict") {
		t.Errorf("%+v, %v", o, err)
	}
}
