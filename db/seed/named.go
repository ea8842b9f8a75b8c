package seed

import (
	"fmt"

	"countersign/internal/clinic"
)

// The named people and places, under readable ids that tests and walkthroughs use. Addresses are invented; phones and
// e-mail addresses are of ranges reserved for that.

func havnegade(size Size, seed uint64) site {
	extra := size.Practitioners - 4
	mine := extra - extra/4
	s := site{
		id: Havnegade, name: "Havnegade", seed: seed,
		locations: []clinic.Location{
			{ID: "loc_hav12", Name: "Havnegade 12", Address: "Havnegade 12, 1058 København K", Phone: "+4500101200", Zone: "Europe/Copenhagen"},
			{ID: "loc_annex", Name: "Havnegade Annex", Address: "Havnegade 14, 1058 København K", Phone: "+4500101400", Zone: "Europe/Copenhagen"},
		},
		types: []clinic.Type{
			{ID: "type_standard", Name: "Standard", Minutes: 30},
			{ID: "type_long", Name: "Long", Minutes: 60},
			{ID: "type_injection", Name: "Injection", Minutes: 15},
		},
		practitioners: []practitioner{
			{clinic.Practitioner{ID: "prac_holm", Name: "Dr Anna Holm"}, everyDay("loc_hav12"), []string{"type_standard", "type_long"}},
			{clinic.Practitioner{ID: "prac_okafor", Name: "Dr Ben Okafor"}, everyDay("loc_hav12"), []string{"type_standard", "type_long"}},
			{clinic.Practitioner{ID: "prac_dahl", Name: "Nurse Liv Dahl"},
				[5]string{"loc_hav12", "loc_hav12", "loc_hav12", "loc_annex", "loc_hav12"}, []string{"type_standard", "type_injection"}},
		},
		named: []clinic.Patient{
			{ID: "pat_maria84", Given: "Maria", Family: "Jensen", BirthDate: "1984-03-11", MRN: "100234",
				Phone: "+4500100234", Email: "maria.jensen.84@example.test", Contact: "email"},
			{ID: "pat_maria91", Given: "Maria", Family: "Jensen", BirthDate: "1991-07-02", MRN: "100871",
				Phone: "+4500100871", Email: "maria.jensen.91@example.test", Contact: "sms"},
			{ID: "pat_soren", Given: "Søren Łukasz", Family: "Groß", BirthDate: "1970-02-28", MRN: "100300", Phone: "+4500100300", Contact: "sms"},
			{ID: "pat_aoife", Given: "Aoife", Family: "O'Brien-Núñez", BirthDate: "2008-02-29", MRN: "100411", Contact: "none"},
			{ID: "pat_anna1", Given: "Anna", Family: "Nielsen", BirthDate: "1990-01-01", MRN: "200001",
				Phone: "+4500200001", Email: "anna.nielsen.1@example.test", Contact: "email"},
			{ID: "pat_anna2", Given: "Anna", Family: "Nielsen", BirthDate: "1990-01-01", MRN: "200002",
				Phone: "+4500200002", Email: "anna.nielsen.2@example.test", Contact: "sms"},
		},
		appointments: []fixed{
			{"appt_maria84", "pat_maria84", "prac_holm", "type_standard", 0, 10 * 60},
			{"appt_maria91", "pat_maria91", "prac_holm", "type_standard", 1, 10*60 + 30},
			{"appt_soren", "pat_soren", "prac_okafor", "type_long", 5, 9 * 60},
			{"appt_aoife", "pat_aoife", "prac_dahl", "type_injection", 6, 13 * 60},
			{"appt_anna1", "pat_anna1", "prac_okafor", "type_standard", 6, 14 * 60},
			{"appt_anna2", "pat_anna2", "prac_holm", "type_standard", 7, 9*60 + 30},
		},
		leaveOf:  "prac_okafor",
		firstMRN: 300_001,
		phone:    func(n uint64) string { return fmt.Sprintf("+4500%06d", n%1_000_000) },
	}
	s.grow(size, mine, "loc_hav12", "loc_annex", "type_standard", "type_long")
	return s
}

func lakeview(size Size, seed uint64) site {
	extra := size.Practitioners - 4
	areas := [...]int{212, 315, 607, 716, 808}
	s := site{
		id: Lakeview, name: "Lakeview", seed: seed,
		locations: []clinic.Location{
			{ID: "loc_lakeview", Name: "Lakeview", Address: "40 Lake Street, Geneva, NY 14456", Phone: "+13155550100", Zone: "America/New_York"},
			{ID: "loc_kona", Name: "Kona", Address: "75 Alii Drive, Kailua-Kona, HI 96740", Phone: "+18085550100", Zone: "Pacific/Honolulu"},
		},
		types: []clinic.Type{
			{ID: "type_lake_standard", Name: "Standard", Minutes: 30},
			{ID: "type_lake_long", Name: "Long", Minutes: 60},
		},
		practitioners: []practitioner{
			{clinic.Practitioner{ID: "prac_reyes", Name: "Dr Sam Reyes"},
				[5]string{"loc_lakeview", "loc_lakeview", "loc_lakeview", "loc_lakeview", "loc_kona"}, []string{"type_lake_standard", "type_lake_long"}},
		},
		firstMRN: 700_001,
		phone: func(n uint64) string {
			return fmt.Sprintf("+1%d55501%02d", areas[n%uint64(len(areas))], n/uint64(len(areas))%100)
		},
	}
	s.grow(size, extra/4, "loc_lakeview", "loc_kona", "type_lake_standard", "type_lake_long")
	return s
}

// grow adds generated practitioners, every third at the second place, and this clinic's share of the size.
func (s *site) grow(size Size, extra int, first, second string, types ...string) {
	r := s.random("practitioners")
	for i := range extra {
		at := first
		if i%3 == 2 {
			at = second
		}
		given, family := givenNames[r.IntN(len(givenNames))], familyNames[r.IntN(len(familyNames))]
		s.practitioners = append(s.practitioners, practitioner{
			clinic.Practitioner{ID: fmt.Sprintf("prac_%s%d", s.id, i+1), Name: "Dr " + given + " " + family}, everyDay(at), types})
	}
	for i := range s.named {
		s.named[i].Language = "en"
	}
	s.patients = size.Patients*len(s.practitioners)/size.Practitioners - len(s.named)
	s.perDay = size.VisitsPerDay / size.Practitioners
	s.historyDays = size.HistoryDays
}
