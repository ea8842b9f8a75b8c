package ehr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/ehr/fhir"
)

func TestABookingIsTheSameBytes(t *testing.T) {
	a, err := fhir.Encode(booking(wanted, "op_1", plain))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := fhir.Encode(booking(wanted, "op_1", plain))
	const want = `{"resourceType":"Appointment","identifier":[{"system":"https://countersign.invalid/operation","value":"op_1"}],"status":"booked",` +
		`"appointmentType":{"coding":[{"system":"https://countersign.invalid/appointment-type","code":"std","display":"Standard"}]},` +
		`"start":"2026-06-09T10:00:00Z","end":"2026-06-09T10:30:00Z","minutesDuration":30,"participant":[` +
		`{"actor":{"reference":"Patient/p"},"required":"required","status":"accepted"},{"actor":{"reference":"Practitioner/h"},"required":"required","status":"accepted"},` +
		`{"actor":{"reference":"Location/rl"},"required":"required","status":"accepted"}]}`
	if string(a) != want || string(b) != want {
		t.Errorf("%s", a)
	}
	if c := Compare(wanted, nil, booking(wanted, "op_1", plain)); !c.Equal() {
		t.Errorf("what we write is not what we want: %+v", c)
	}
}

func TestCompare(t *testing.T) {
	for want, change := range map[string]func(a *fhir.Appointment){
		"":                           func(*fhir.Appointment) {},
		"start":                      func(a *fhir.Appointment) { a.Start = fhir.At(noon.Add(time.Hour)) },
		"end,start":                  func(a *fhir.Appointment) { a.Start, a.End = nil, nil },
		"end":                        func(a *fhir.Appointment) { a.End = fhir.At(noon.Add(time.Hour)) },
		"duration":                   func(a *fhir.Appointment) { a.MinutesDuration = 20 },
		"status":                     func(a *fhir.Appointment) { a.Status = fhir.StatusNoShow },
		"patient":                    func(a *fhir.Appointment) { a.Participant = a.Participant[1:] },
		"practitioner":               func(a *fhir.Appointment) { a.Participant[1].Actor.Reference = "Practitioner/x" },
		"location":                   func(a *fhir.Appointment) { a.Participant[2].Actor.Reference = "Location/x" },
		"type":                       func(a *fhir.Appointment) { a.AppointmentType.Coding[0].Code = "long" },
		"wrong":                      func(a *fhir.Appointment) { a.Participant[0].Actor.Reference = "Patient/x" },
		"wrong, two of them":         func(a *fhir.Appointment) { a.Participant = append(a.Participant, takesPart("Patient/x")) },
		" in another zone":           func(a *fhir.Appointment) { a.Start = &fhir.Instant{Time: noon.In(time.FixedZone("", 7200))} },
		" with codes of its own":     func(a *fhir.Appointment) { a.AppointmentType.Coding[0].System = "https://ehr.test" },
		" with a nurse":              func(a *fhir.Appointment) { a.Participant = append(a.Participant, takesPart("Practitioner/n")) },
		" by whole address":          func(a *fhir.Appointment) { a.Participant[0].Actor.Reference = "https://e.test/r4/Patient/p/_history/2" },
		"practitioner, who declined": func(a *fhir.Appointment) { a.Participant[1].Status = "declined" },
		"end,start, an hour of a zone": func(a *fhir.Appointment) {
			a.Start, a.End = fhir.At(noon.Add(-2*time.Hour)), fhir.At(noon.Add(-90*time.Minute))
		},
	} {
		a := booking(wanted, "op_1", plain)
		change(&a)
		c := Compare(wanted, nil, a)
		got := strings.Join(c.Differs, ",")
		if c.WrongPatient {
			got = "wrong"
		}
		if expected, _, _ := strings.Cut(want, ", "); got != expected && !(strings.HasPrefix(want, " ") && got == "") {
			t.Errorf("%q: got %q", want, got)
		}
	}
}

func TestAMoveChangesOnlyWhatItMoves(t *testing.T) {
	before := wanted
	after := wanted
	after.StartsAt, after.EndsAt, after.Practitioner = noon.Add(time.Hour), noon.Add(90*time.Minute), clinic.Ref{ID: "o"}
	read := booking(before, "op_0", plain)
	read.ID, read.Description = "7", "as it was"
	read.Participant = append(read.Participant, takesPart("Device/ecg"))
	a := moved(read, before, after, "op_1", plain)
	if c := Compare(after, &before, a); !c.Equal() {
		t.Errorf("%+v", c)
	}
	if a.Description != "as it was" || len(a.Participant) != 4 || len(a.Actors("Device")) != 1 || !a.Identified(IdentifierSystem, "op_0") || !a.Identified(IdentifierSystem, "op_1") {
		t.Errorf("%+v", a)
	}
	if c := Compare(before, nil, read); !c.Equal() {
		t.Errorf("what was read has changed: %+v", c)
	}
	if c := Compare(after, &before, read); c.Equal() {
		t.Error("the old one counts as moved")
	}
	// Who was there before is not there any more.
	a.Participant = append(a.Participant, takesPart("Practitioner/h"))
	if c := Compare(after, &before, a); strings.Join(c.Differs, ",") != "practitioner" {
		t.Errorf("%+v", c)
	}
}

func TestAMarkIsExact(t *testing.T) {
	keepsNone := plain.with(Settings{IdentifierWritable: new(bool)})
	a := booking(wanted, "op_1", keepsNone)
	if len(a.Identifier) != 0 || !marked(&a, "op_1") || marked(&a, "op_") || marked(&a, "op_11") {
		t.Errorf("%+v", a)
	}
	a.Comment = "see Countersign op_1 for more"
	if marked(&a, "op_1") {
		t.Error("a part of a line is a mark")
	}
	b := fhir.Appointment{Identifier: []fhir.Identifier{{System: "https://other.test", Value: "op_1"}}}
	if marked(&b, "op_1") {
		t.Error("the value alone is a mark")
	}
	end := cancelled(booking(wanted, "op_1", plain), "patient_request", "op_2", plain)
	if end.Status != "cancelled" || !end.CancelationReason.Has("", "pat") || len(end.Identifier) != 2 {
		t.Errorf("%+v", end)
	}
}

// Marks finds what marked would, whatever way an EHR left us to mark it.
func TestMarks(t *testing.T) {
	a := fhir.Appointment{Identifier: []fhir.Identifier{{System: IdentifierSystem, Value: "op_1"}, {System: "urn:other", Value: "op_9"}},
		Comment: "first floor\nCountersign op_2\nsee Countersign op_3"}
	if got := Marks(&a); !slices.Equal(got, []string{"op_1", "op_2"}) {
		t.Errorf("%v", got)
	}
	for _, op := range Marks(&a) {
		if !marked(&a, op) {
			t.Errorf("%s is no mark", op)
		}
	}
}
