package intake

import (
	"context"
	"strings"
	"testing"
)

// keeping is a store that takes everything, by what it is called.
type keeping map[string]Row

func (keeping) TakeTypes(context.Context, []TypeWish) error     { return nil }
func (keeping) Settle(context.Context) (over []string, _ error) { return nil, nil }

func (k keeping) Take(_ context.Context, rows []Row) (int, []*Problem, error) {
	for _, r := range rows {
		k[r.Kind()+"/"+r.Header().Remote] = r
	}
	return len(rows), make([]*Problem, len(rows)), nil
}

// Entries of a transaction refer to each other by the addresses that the sender made up.
func TestEntriesOfATransactionReferToEachOther(t *testing.T) {
	f, err := Open(strings.NewReader(`{"resourceType":"Bundle","type":"transaction","entry":[
		{"fullUrl":"urn:uuid:a1","resource":{"resourceType":"Appointment","status":"booked","start":"2026-01-05T10:00:00Z","end":"2026-01-05T10:30:00Z","identifier":[{"value":"urn:uuid:p1"}],
			"participant":[{"status":"accepted","actor":{"reference":"urn:uuid:p1"}},{"status":"accepted","actor":{"reference" : "urn:uuid:h1"}}]},"request":{"method":"POST","url":"Appointment"}},
		{"fullUrl":"urn:uuid:h1","resource":{"resourceType":"Practitioner","id":"holm","name":[{"family":"Holm"}]}},
		{"fullUrl":"urn:uuid:p1","resource":{"resourceType":"Patient","identifier":[{"value":"7"}],"name":[{"family":"F"}],"birthDate":"1980-01-02"}},
		{"fullUrl":"urn:uuid:o1","resource":{"resourceType":"Organization","id":"o"}},
		{"request":{"method":"DELETE","url":"Patient/7"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	took := keeping{}
	r, err := f.Into(context.Background(), took)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := took["Appointment/a1"].(*Appointment)
	if !ok || a.Patient != "p1" || a.Practitioner != "holm" {
		t.Errorf("%+v", took)
	}
	if r.Left["Organization"] != 1 || len(r.Refused) != 1 || r.Refused[0].Place != 5 || r.Whole() {
		t.Errorf("%+v", r)
	}
}

// How a new patient is told: never over a number that only looks mobile, never at an address that is no longer used.
func TestContactIsNotGuessed(t *testing.T) {
	for telecom, want := range map[string]string{
		`{"system":"phone","value":"+45 20 12 34 56","use":"mobile"},{"system":"email","value":"a@example.test"}`: "email",
		`{"system":"phone","value":"+45 20 12 34 56","use":"mobile"}`:                                             "sms",
		`{"system":"phone","value":"+45 20 12 34 56","use":"home"}`:                                               "none",
		`{"system":"phone","value":"20 12 34 56","use":"mobile"}`:                                                 "none",
		`{"system":"email","value":"a@example.test","use":"old"}`:                                                 "none",
		`{"system":"email","value":"no address"}`:                                                                 "none",
	} {
		row, _, p := Map([]byte(`{"resourceType":"Patient","id":"p","identifier":[{"value":"7"}],"name":[{"family":"F"}],"birthDate":"1980-01-02","telecom":[`+telecom+`]}`), "")
		if p != nil || row.(*Patient).Contact != want {
			t.Errorf("%s: %+v %v", telecom, row, p)
		}
	}
}

// What is wrong with a time is said by the member's name, and nothing of what stands there.
func TestATimeThatDoesNotExistIsNamed(t *testing.T) {
	for start, want := range map[string]string{
		"2026-12-22T838:59:59+01:00": "start is not a time that exists",
		"2026-12-22T24:00:00Z":       "start is not a time that exists",
		"2026-12-22T23:59:60Z":       "start is not a time that exists",
		"2026-02-30T10:00:00Z":       "start is not a time that exists",
		"2026-12-22T10:00:00":        "a time without its offset from UTC",
	} {
		_, _, p := Map([]byte(`{"resourceType":"Appointment","id":"a","status":"booked","start":"`+start+`","end":"2026-12-22T10:30:00Z"}`), "")
		if p == nil || p.Words != want {
			t.Errorf("%s: %+v", start, p)
		}
	}
	_, _, p := Map([]byte(`{"resourceType":"Slot","id":"a","meta":{"lastUpdated":"yesterday"},"status":"free"}`), "")
	if p == nil || p.Words != "lastUpdated is not a time that exists" {
		t.Errorf("%+v", p)
	}
}
