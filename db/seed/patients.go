package seed

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"countersign/internal/clinic"
)

// makePatients draws names that no two share but for those meant to: 1 % are half of a pair of one name, 0.05 % of one
// name and birth date.
func (s *site) makePatients() []clinic.Patient {
	r := s.random("patients")
	taken := map[string]bool{}
	for _, p := range s.named {
		taken[p.Name()] = true
	}
	patients := make([]clinic.Patient, 0, s.patients)
	year := s.today(s.locations[0]).Year
	for i := range s.patients {
		p := clinic.Patient{ID: newID(r, "pat_"), MRN: fmt.Sprint(s.firstMRN + i), BirthDate: birthDate(r, year), Language: "en"}
		p.Given, p.Family = freshName(r, taken)
		if dice := r.Float64(); i > 0 && dice < 0.005 { // half of the pairs' people: the other half is there already
			twin := patients[r.IntN(i)]
			p.Given, p.Family = twin.Given, twin.Family
			if dice < 0.00025 {
				p.BirthDate = twin.BirthDate
			}
		}
		if s.id == Havnegade && r.IntN(10) < 3 {
			p.Language = "da"
		}
		p.Deceased = r.IntN(200) == 0
		s.reach(r, &p, i)
		patients = append(patients, p)
	}
	return patients
}

func freshName(r *rand.Rand, taken map[string]bool) (given, family string) {
	for try := 0; ; try++ {
		given, family = pick(r, givenNames), pick(r, familyNames)
		if try > 0 || r.IntN(3) == 0 {
			given += " " + pick(r, givenNames)
		}
		switch r.IntN(12) {
		case 0:
			family += "-" + pick(r, familyNames)
		case 1:
			family = pick(r, familyNames) + " " + family
		}
		if name := given + " " + family; !taken[name] {
			taken[name] = true
			return given, family
		}
	}
}

func birthDate(r *rand.Rand, year int) string {
	if r.IntN(300) == 0 { // some of 29 February
		return fmt.Sprintf("%04d-02-29", (year-r.IntN(90)-1)/4*4)
	}
	return clinic.Date{Year: year - 1 - r.IntN(95), Month: 1, Day: 1}.AddDays(r.IntN(365)).String()
}

// reach gives phone and e-mail, or not, and a wish that can be met.
func (s *site) reach(r *rand.Rand, p *clinic.Patient, number int) {
	phone, email := r.IntN(100) < 94, r.IntN(100) < 82
	if phone {
		p.Phone = s.phone(r.Uint64())
	}
	if email {
		p.Email = strings.Join(clinic.Tokens(p.Given+" "+p.Family), ".") + fmt.Sprintf(".%d@example.test", number+1)
	}
	p.Contact = "none"
	switch dice := r.IntN(100); {
	case dice < 5:
	case dice < 55 && email:
		p.Contact = "email"
	case dice < 92 && phone:
		p.Contact = "sms"
	case phone:
		p.Contact = "phone"
	case email:
		p.Contact = "email"
	}
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }
