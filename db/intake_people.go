package db

import (
	"context"

	"github.com/lib/pq"

	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
)

func (s *intakeTx) putPractitioners(ctx context.Context, items []*item[*intake.Practitioner], _ []*intake.Problem) (int, error) {
	type row struct {
		ID, Name string
		Active   bool
	}
	var rows []row
	for _, x := range items {
		rows = append(rows, row{x.ID, x.R.Name, x.R.Active})
	}
	return s.put(ctx, rows, `INSERT INTO practitioners AS o (clinic, id, name, active)
		SELECT $2, x."ID", x."Name", x."Active" FROM json_to_recordset($1::json) AS x("ID" text, "Name" text, "Active" boolean)
		ON CONFLICT (clinic, id) DO UPDATE SET name = excluded.name, active = excluded.active
		WHERE (o.name, o.active) IS DISTINCT FROM (excluded.name, excluded.active)`)
}

// put runs a statement on rows as $1 and the clinic as $2, and counts what it wrote.
func (s *intakeTx) put(ctx context.Context, rows any, statement string, more ...any) (int, error) {
	list, err := jsonText(rows)
	if err != nil || list == "null" {
		return 0, err
	}
	keep, err := s.keepPlans(ctx)
	if err != nil {
		return 0, err
	}
	n, err := s.t.exec(ctx, statement, append([]any{list, s.t.clinic}, more...)...)
	if err == nil && keep {
		_, err = s.t.exec(ctx, planAsTheyAre)
	}
	return int(n), err
}

// putPatients adds patients, or brings them to what the EHR says. Who is here keeps how they are told, unless the address
// for it is gone: then they are told nothing, rather than another way that nobody agreed to.
func (s *intakeTx) putPatients(ctx context.Context, items []*item[*intake.Patient], problems []*intake.Problem) (int, error) {
	if err := s.checkRecordNumbers(ctx, items, problems); err != nil {
		return 0, err
	}
	type row struct {
		ID, Family, Given, Birth, MRN, Phone, Email, Contact, Language, Search, Zone string
		Deceased                                                                     bool
	}
	var fresh, known []row
	for _, x := range items {
		if problems[x.n] != nil {
			continue
		}
		p := x.R
		r := row{x.ID, p.Family, p.Given, p.BirthDate, p.MRN, p.Phone, p.Email, p.Contact, p.Language,
			clinic.SearchText(clinic.Patient{Family: p.Family, Given: p.Given, BirthDate: p.BirthDate, MRN: p.MRN, Phone: p.Phone, Email: p.Email}), p.Zone, p.Deceased}
		if x.Here {
			known = append(known, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	const shape = ` json_to_recordset($1::json) AS x("ID" text, "Family" text, "Given" text, "Birth" date, "MRN" text, "Phone" text, "Email" text,
		"Contact" text, "Language" text, "Search" text, "Zone" text, "Deceased" boolean)`
	changed, err := s.put(ctx, known, `UPDATE patients o SET family = n.family, given = n.given, birth_date = n.birth_date, mrn = n.mrn, phone = n.phone,
			email = n.email, contact = n.contact, language = n.language, deceased = n.deceased, search_text = n.search_text, zone = n.zone
		FROM (SELECT p.id, x."Family" AS family, x."Given" AS given, x."Birth" AS birth_date, x."MRN" AS mrn, nullif(x."Phone", '') AS phone,
				nullif(x."Email", '') AS email, coalesce(nullif(x."Language", ''), p.language) AS language, x."Deceased" AS deceased, x."Search" AS search_text, coalesce(nullif(x."Zone", ''), p.zone) AS zone,
				CASE WHEN p.contact = 'email' AND x."Email" = '' OR p.contact IN ('sms', 'phone') AND x."Phone" = '' THEN 'none' ELSE p.contact END AS contact
			FROM`+shape+` JOIN patients p ON p.id = x."ID" AND p.clinic = $2) n
		WHERE o.id = n.id AND (o.family, o.given, o.birth_date, o.mrn, o.phone, o.email, o.contact, o.language, o.deceased, o.zone)
			IS DISTINCT FROM (n.family, n.given, n.birth_date, n.mrn, n.phone, n.email, n.contact, n.language, n.deceased, n.zone)`)
	if err != nil {
		return 0, err
	}
	made, err := s.put(ctx, fresh, `INSERT INTO patients (clinic, id, family, given, birth_date, mrn, phone, email, contact, language, search_text, zone, deceased)
		SELECT $2, x."ID", x."Family", x."Given", x."Birth", x."MRN", nullif(x."Phone", ''), nullif(x."Email", ''), x."Contact",
			coalesce(nullif(x."Language", ''), 'en'), x."Search", nullif(x."Zone", ''), x."Deceased" FROM`+shape)
	return changed + made, err
}

// checkRecordNumbers refuses a patient whose MRN is another's. One who was registered here, is not known to be anybody in
// the EHR, and has the same MRN, birth date and family name is this patient.
func (s *intakeTx) checkRecordNumbers(ctx context.Context, items []*item[*intake.Patient], problems []*intake.Problem) error {
	byMRN := map[string]*item[*intake.Patient]{}
	var numbers pq.StringArray
	for _, x := range items {
		if byMRN[x.R.MRN] != nil {
			problems[x.n] = &intake.Problem{Code: intake.CodeMRNTaken, Words: "another patient of the file has its record number"}
			continue
		}
		byMRN[x.R.MRN] = x
		numbers = append(numbers, x.R.MRN)
	}
	var found []struct{ ID, MRN, Family, Birth string }
	if err := s.t.sel(ctx, &found, `SELECT p.id, p.mrn, p.family, p.birth_date::text AS birth FROM patients p WHERE p.mrn = ANY ($1)`, numbers); err != nil {
		return err
	}
	var unsure pq.StringArray
	for _, f := range found {
		if f.ID != byMRN[f.MRN].ID {
			unsure = append(unsure, f.ID)
		}
	}
	linked, err := s.linked(ctx, intake.KindPatient, unsure)
	for _, f := range found {
		x := byMRN[f.MRN]
		switch {
		case x.ID == f.ID:
		case !x.Here && !linked[f.ID] && x.R.BirthDate == f.Birth && clinic.Fold(x.R.Family) == clinic.Fold(f.Family):
			x.ID, x.Here = f.ID, true
		default:
			problems[x.n] = &intake.Problem{Code: intake.CodeMRNTaken, Words: "another patient has its record number"}
		}
	}
	return err
}
