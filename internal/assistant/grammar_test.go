package assistant

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"countersign/internal/clinic"
)

func grammar(t testing.TB) *Grammar {
	t.Helper()
	g, err := NewGrammar("en")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// havnegade is the lexicon of the cases' world.
var havnegade = Lexicon{
	Practitioners: []string{"Dr Anna Holm", "Dr Ben Okafor", "Nurse Liv Dahl"},
	Locations:     []string{"Havnegade 12", "Havnegade Annex"},
	Types:         []string{"Standard", "Long", "Injection"},
}

// utterance is a row of testdata/utterances.json. Now is a wall time in Copenhagen; fields that say nothing are left out.
type utterance struct {
	Now  string         `json:"now,omitempty"`
	Asks string         `json:"asks,omitempty"`
	On   string         `json:"on,omitempty"`
	Text string         `json:"text"`
	Is   map[string]any `json:"is"`
}

func (u utterance) request(t testing.TB) Request {
	t.Helper()
	zone, err := clinic.LoadZone("Europe/Copenhagen")
	if err != nil {
		t.Fatal(err)
	}
	if u.Now == "" {
		u.Now = "2026-06-01T09:00" // a Monday
	}
	now, err := time.ParseInLocation("2006-01-02T15:04", u.Now, zone)
	if err != nil {
		t.Fatal(err)
	}
	r := Request{Text: u.Text, Now: now, Asks: u.Asks, Names: havnegade}
	if u.On != "" {
		if r.On, err = clinic.ParseDate(u.On); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// said is a meaning without the fields that say nothing; times are HH:MM and days YYYY-MM-DD.
func said(m Meaning) map[string]any {
	all := map[string]any{}
	add := func(name string, v any, says bool) {
		if says {
			all[name] = v
		}
	}
	for name, v := range map[string]string{"workflow": m.Workflow, "patient": m.Patient, "practitioner": m.Practitioner, "location": m.Location,
		"type": m.Type, "reason_code": m.ReasonCode, "note": m.Note, "text": m.Text, "family": m.Family, "given": m.Given, "birth_date": m.BirthDate,
		"phone": m.Phone, "email": m.Email, "contact": m.Contact, "unsure": m.Unsure} {
		add(name, v, v != "")
	}
	for name, v := range map[string]bool{"other": m.Other, "any_doctor": m.AnyDoctor, "first": m.First, "silent": m.Silent, "yes": m.Yes, "no": m.No, "start_over": m.StartOver, "leave": m.Leave} {
		add(name, v, v)
	}
	for name, v := range map[string]*int{"clock": m.Clock, "from": m.From, "until": m.Until, "visit_clock": m.VisitClock, "zoned": m.Zoned} {
		if v != nil {
			all[name] = wall(*v)
		}
	}
	add("pick", float64(m.Pick), m.Pick != 0)
	add("days", days(m.Days), len(m.Days) > 0)
	add("visit_days", days(m.VisitDays), len(m.VisitDays) > 0)
	add("to", m.DaysEnd.String(), !m.DaysEnd.IsZero())
	if m.Born != nil {
		all["born"] = []any{float64(m.Born.Year), float64(m.Born.Month), float64(m.Born.Day)}
	}
	return all
}

func days(all []clinic.Date) string {
	var s []string
	for _, d := range all {
		s = append(s, d.String())
	}
	return strings.Join(s, " ")
}

func utterances(t testing.TB) (all []utterance) {
	t.Helper()
	data, err := os.ReadFile("testdata/utterances.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
