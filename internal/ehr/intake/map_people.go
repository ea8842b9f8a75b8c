package intake

import (
	"slices"
	"strings"

	"countersign/internal/clinic"
	"countersign/internal/ehr/fhir"
)

func practitioner(r *fhir.Practitioner, fullURL string) (Row, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, p
	}
	n := nameOf(r.Name)
	name := text(n.Text, mostName)
	if name == "" {
		name = text(joined(append(append(slices.Clone(n.Prefix), n.Given...), n.Family), " "), mostName)
	}
	if name == "" {
		return nil, problem(CodeIncomplete, "it has no name, or one that is too long")
	}
	return &Practitioner{Head: h, Name: name, Active: r.Active == nil || *r.Active}, nil
}

// nameOf picks the official name, else the usual, else the first that is in use.
func nameOf(names []fhir.HumanName) fhir.HumanName {
	for _, use := range []string{"official", "usual", ""} {
		for _, n := range names {
			if n.Use == use {
				return n
			}
		}
	}
	for _, n := range names {
		if n.Use != "old" && n.Use != "maiden" {
			return n
		}
	}
	return fhir.HumanName{}
}

func patient(r *fhir.Patient, fullURL string) (Row, []string, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, nil, p
	}
	for _, l := range r.Link {
		if l.Type == "replaced-by" {
			return nil, nil, &Problem{CodeMerged, "it was merged into another record and is left as it is", true}
		}
	}
	n := nameOf(r.Name)
	x := &Patient{Head: h, Family: text(n.Family, mostName), Given: text(strings.Join(n.Given, " "), mostName), BirthDate: date(r.BirthDate),
		MRN: text(recordNumber(r.Identifier), mostName), Deceased: r.DeceasedBoolean || r.DeceasedDateTime != ""}
	switch {
	case x.Family == "":
		return nil, nil, problem(CodeIncomplete, "it has no family name, or one that is too long")
	case x.BirthDate == "":
		return nil, nil, problem(CodeIncomplete, "it has no full birth date")
	case x.MRN == "":
		return nil, nil, problem(CodeIncomplete, "it has no identifier")
	}
	var ok bool
	if x.Zone, ok = zoneOf(r.Extension); !ok {
		return nil, nil, problem(CodeNoZone, "its time zone is not known (an IANA name such as Europe/Copenhagen)")
	}
	for _, c := range r.Communication {
		if len(c.Language.Coding) > 0 && (x.Language == "" || c.Preferred) {
			x.Language = text(c.Language.Coding[0].Code, 35)
		}
	}
	notes := reach(x, r.Telecom)
	return x, notes, nil
}

// recordNumber is the identifier of type MR, else the first.
func recordNumber(list []fhir.Identifier) (number string) {
	for _, i := range list {
		if i.Type != nil && i.Type.Has("", "MR") && i.Value != "" {
			return i.Value
		}
		if number == "" {
			number = i.Value
		}
	}
	return number
}

// reach reads the addresses in use and how the patient is told by default: by e-mail, else by SMS where the number is said
// to be mobile, else not at all. No number is called mobile because it looks like one.
func reach(x *Patient, telecom []fhir.ContactPoint) (notes []string) {
	list := slices.Clone(telecom)
	slices.SortStableFunc(list, func(a, b fhir.ContactPoint) int { return rank(a) - rank(b) })
	mobile := false
	for _, t := range list {
		if t.Use == "old" || t.Value == "" {
			continue
		}
		switch t.System {
		case "email":
			if x.Email == "" {
				address, err := clinic.ParseEmail(t.Value)
				if err != nil {
					notes = append(notes, "an e-mail address is left out: it is none")
				}
				x.Email = address
			}
		case "phone", "sms":
			isMobile := t.Use == "mobile" || t.System == "sms"
			if x.Phone != "" && (mobile || !isMobile) {
				continue
			}
			number, err := clinic.ParsePhone(t.Value)
			if err != nil {
				notes = append(notes, "a phone number is left out: it has no country code, or is none")
				continue
			}
			x.Phone, mobile = number, isMobile
		}
	}
	switch {
	case x.Email != "":
		x.Contact = clinic.ContactEmail
	case mobile:
		x.Contact = clinic.ContactSMS
	default:
		x.Contact = clinic.ContactNone
	}
	return notes
}

func rank(t fhir.ContactPoint) int {
	if t.Rank <= 0 {
		return 1 << 20
	}
	return t.Rank
}
