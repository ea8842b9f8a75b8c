package seed_test

import (
	"strings"
	"testing"

	"countersign/db"
	"countersign/db/seed"
	"countersign/internal/clinic"
)

func TestFindingPatients(t *testing.T) {
	w := newWorld(t)
	// A decomposed name must be found by its composed form and the other way about (case P12).
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		return tx.AddPatients(ctx, []clinic.Patient{{ID: "pat_jose", Given: "Jose\u0301", Family: "Zzyzx", BirthDate: "1980-01-01", MRN: "999999", Contact: "none", Language: "en"}})
	})
	for query, want := range map[string]string{
		"soren": "100300", "lukasz": "100300", "gross": "100300", "Søren Łukasz Groß": "100300", "GROSS, soren": "100300", // P04, P05
		"nunez": "100411", "Núñez": "100411", "o'brien": "100411", "obrien": "100411",
		"Jensen, Maria": "100234 100871", "maria jensen": "100234 100871", "JENSEN M": "100234 100871", // P08
		"maria jensen 1984-03-11": "100234", "100871": "100871", "anna nielsen 1990": "200001 200002",
		"Jos\u00e9 Zzyzx": "999999", "jose zzyzx": "999999", // P12
		"xqxqxq": "", "": "", " % ": "", "_": "", `\`: "",
	} {
		w.in(seed.Havnegade, func(tx *db.Tx) error {
			found, _, err := tx.SearchPatients(ctx, clinic.SearchTerms(query), 20)
			if err != nil {
				return err
			}
			got := map[string]bool{}
			for _, p := range found {
				got[p.MRN] = true
			}
			for _, mrn := range strings.Fields(want) {
				if !got[mrn] {
					t.Errorf("%q did not find %s", query, mrn)
				}
			}
			if want == "" && len(found) > 0 {
				t.Errorf("%q found %d", query, len(found))
			}
			return nil
		})
	}
}

// Case Z01: at most so many, in order of the name, and whether there are more.
func TestManyPatientsOfOneTerm(t *testing.T) {
	w := newWorld(t)
	total := number(t, w.text(`SELECT count(*) FROM patients WHERE clinic = 'hav' AND search_text LIKE '%sen%'`))
	if total < 25 {
		t.Fatal("too few to tell:", total)
	}
	w.in(seed.Havnegade, func(tx *db.Tx) error {
		found, more, err := tx.SearchPatients(ctx, []string{"sen"}, 20)
		if err != nil || len(found) != 20 || !more {
			t.Error(len(found), more, err)
		}
		for i := 1; i < len(found); i++ {
			if found[i].Family < found[i-1].Family {
				t.Error("out of order:", found[i-1].Family, found[i].Family)
			}
		}
		found, more, err = tx.SearchPatients(ctx, []string{"sen"}, total)
		if err != nil || len(found) != total || more {
			t.Error(len(found), more, err)
		}
		// A term is a text, not a pattern and not SQL.
		for _, term := range []string{"%", "_", `\`, "'", `' OR true --`, "$1", "%L"} {
			if found, _, err := tx.SearchPatients(ctx, []string{term}, 20); err != nil || len(found) > 0 {
				t.Errorf("%q: %d %v", term, len(found), err)
			}
		}
		return nil
	})
}
