// Package mirrortest holds an EHR's resources, from files and from a real FHIR server, against the rows they become.
package mirrortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/ehr/intake"
)

var ctx = context.Background()

// A small clinic as its EHR has it. Times are in the year after next, so that no test grows old.
var year = time.Now().Year() + 2

func at(clock string) string { return fmt.Sprintf("%d-03-02T%s+01:00", year, clock) }

const zoneExtension = `"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/timezone","valueCode":"Europe/Copenhagen"}]`

func location(id string) string {
	return `{"resourceType":"Location","id":"` + id + `","name":"Havnegade 12",` + zoneExtension + `}`
}

func practitioner(id string) string {
	return `{"resourceType":"Practitioner","id":"` + id + `","name":[{"prefix":["Dr"],"given":["Anna"],"family":"Holm"}]}`
}

func patient(id, mrn string) string {
	return `{"resourceType":"Patient","id":"` + id + `","identifier":[{"value":"old-7"},{"type":{"coding":[{"code":"MR"}]},"value":"` + mrn + `"}],
		"name":[{"use":"old","family":"Before"},{"use":"official","family":"Jensen","given":["Maria","Ane"]}],"birthDate":"1984-03-11",
		"telecom":[{"system":"phone","value":"+45 20 12 34 56","use":"mobile"},{"system":"email","value":"maria@example.test"}],
		"communication":[{"language":{"coding":[{"code":"da"}]}}]}`
}

func schedule(id, practitioner, location string) string {
	return `{"resourceType":"Schedule","id":"` + id + `","serviceType":[{"coding":[{"system":"urn:x","code":"std","display":"Control"}]}],
		"actor":[{"reference":"Practitioner/` + practitioner + `"},{"reference":"Location/` + location + `"}]}`
}

func slot(id, schedule, status, from, to string) string {
	return `{"resourceType":"Slot","id":"` + id + `","schedule":{"reference":"Schedule/` + schedule + `"},"status":"` + status + `","start":"` + at(from) + `","end":"` + at(to) + `"}`
}

func visit(id, patient, practitioner, from, to string) string {
	return `{"resourceType":"Appointment","id":"` + id + `","status":"booked","serviceType":[{"coding":[{"system":"urn:x","code":"std","display":"Control"}]}],
		"start":"` + at(from) + `","end":"` + at(to) + `","participant":[{"status":"accepted","actor":{"reference":"Patient/` + patient + `"}},
		{"status":"accepted","actor":{"reference":"Practitioner/` + practitioner + `"}},{"status":"accepted","actor":{"reference":"Location/n_main"}}]}`
}

// world is one of each, and what a visit needs around it.
func world() []string {
	return []string{visit("n_a1", "n_p1", "n_holm", "09:00:00", "09:30:00"), location("n_main"), practitioner("n_holm"), patient("n_p1", "N1"), schedule("n_s1", "n_holm", "n_main"),
		slot("n_sl1", "n_s1", "busy", "09:00:00", "09:30:00"), slot("n_sl2", "n_s1", "free", "09:30:00", "10:00:00"), slot("n_sl3", "n_s1", "busy", "10:00:00", "10:30:00")}
}

func lines(resources ...string) string {
	for i, r := range resources {
		resources[i] = strings.ReplaceAll(strings.ReplaceAll(r, "\n", ""), "\t", "")
	}
	return strings.Join(resources, "\n") + "\n"
}

func bundle(resources ...string) string {
	return `{"resourceType":"Bundle","type":"collection","entry":[{"resource":` + strings.Join(resources, `},{"resource":`) + `}]}`
}

// taken imports a text as one file into the desk's clinic hav.
func taken(t *testing.T, d *desktest.Desk, text string) *intake.Result {
	t.Helper()
	f, err := intake.Open(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var r *intake.Result
	err = d.DB.InClinic(ctx, "hav", func(tx *db.Tx) error {
		if r, err = f.Into(ctx, tx.Intake(db.IntakeOptions{By: "import", Via: "import"})); err != nil {
			return err
		}
		if !r.Whole() {
			return errRefused
		}
		return nil
	})
	if err != nil && !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	return r
}

var errRefused = errors.New("refused")

// refusals are "PLACE KIND/ID", sorted.
func refusals(r *intake.Result) (list []string) {
	for _, x := range r.Refused {
		if !x.Note {
			list = append(list, fmt.Sprintf("%d %s/%s", x.Place, x.Kind, x.ID))
		}
	}
	slices.Sort(list)
	return list
}

// rows is everything of the clinic that an import may write, as text.
func rows(t *testing.T, d *desktest.Desk) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"locations", "practitioners", "appointment_types", "patients", "schedules", "slots", "appointments", "appointment_history", "ehr_links", "ehr_types", "audit"} {
		var text string
		if err := d.Root.QueryRow(`SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM ` + table + ` x WHERE clinic = 'hav'`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		all.WriteString(table + "\n" + text + "\n")
	}
	return all.String()
}

func one(t *testing.T, d *desktest.Desk, query string, args ...any) (text string) {
	t.Helper()
	if err := d.Root.QueryRow(query, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestAFileBecomesAClinicsRows(t *testing.T) {
	for name, text := range map[string]string{
		"lines":                     lines(world()...),
		"lines, CRLF":               "\xef\xbb\xbf" + strings.ReplaceAll(lines(world()...), "\n", "\r\n\r\n"),
		"a bundle":                  bundle(world()...),
		"a bundle, in an odd order": strings.Replace(strings.TrimSuffix(bundle(world()...), "}"), `"resourceType":"Bundle",`, "", 1) + `,"resourceType":"Bundle"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := desktest.New(t)
			r := taken(t, d, text)
			if !r.Whole() {
				t.Fatalf("%+v", r.Refused)
			}
			for query, want := range map[string]string{
				`SELECT concat_ws('|', family, given, birth_date, mrn, phone, email, contact, language, deceased, version) FROM patients WHERE id = 'n_p1'`:                         "Jensen|Maria Ane|1984-03-11|N1|+45 20 12 34 56|maria@example.test|email|da|f|1",
				`SELECT concat_ws('|', name, active) FROM practitioners WHERE id = 'n_holm'`:                                                                                        "Dr Anna Holm|t",
				`SELECT concat_ws('|', status, practitioner, location, to_char(starts_at AT TIME ZONE 'UTC', 'HH24:MI'), changed_via, version) FROM appointments WHERE id = 'n_a1'`: "booked|n_holm|n_main|08:00|import|1",
				`SELECT concat_ws('|', y.name, y.minutes) FROM appointments a JOIN appointment_types y ON y.clinic = a.clinic AND y.id = a.type WHERE a.id = 'n_a1'`:                "Control|30",
				`SELECT string_agg(concat_ws('|', id, state, appointment), ' ' ORDER BY id) FROM slots WHERE schedule = 'n_s1'`:                                                     "n_sl1|open|n_a1 n_sl2|open n_sl3|closed",
				`SELECT count(*)::text FROM schedule_hours WHERE schedule = 'n_s1'`:                                                                                                 "0",
			} {
				if got := one(t, d, query); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			before := rows(t, d)
			if again := taken(t, d, text); !again.Whole() || len(again.Changed) > 0 && again.Changed[intake.KindSlot]+again.Changed[intake.KindAppointment] > 0 {
				t.Errorf("again: %+v", again)
			}
			if after := rows(t, d); after != before {
				t.Errorf("running it again changed rows:\n%s\n---\n%s", before, after)
			}
		})
	}
}

// Case S21: a visit that ends before it starts is refused, and the page still draws the rest.
func TestARowThatEndsBeforeItStartsIsRefused(t *testing.T) {
	t.Parallel()
	d := desktest.New(t)
	before := rows(t, d)
	bad := append(world(), visit("n_bad", "n_p1", "n_holm", "12:00:00", "11:59:00"), visit("n_same", "n_p1", "n_holm", "13:00:00", "13:00:00"))
	r := taken(t, d, lines(bad...))
	if got := refusals(r); !slices.Equal(got, []string{"10 Appointment/n_same", "9 Appointment/n_bad"}) {
		t.Errorf("%v", got)
	}
	if after := rows(t, d); after != before {
		t.Error("something of a refused file was taken")
	}
	err := d.DB.Read(ctx, "hav", func(tx *db.Tx) error {
		sheet, err := tx.DaySheet(ctx, "main", clinic.DateOf(d.Day, time.UTC))
		if err == nil && len(sheet.Visits) != 2 {
			t.Errorf("the day sheet shows %d visits", len(sheet.Visits))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Each of these files has one fault, which is named with its line; nothing of it is taken, and nothing of a patient is said.
func TestWhatIsRefused(t *testing.T) {
	d := desktest.New(t)
	before := rows(t, d)
	zoneless := strings.Replace(visit("n_x", "n_p1", "n_holm", "11:00:00", "11:30:00"), "11:00:00+01:00", "11:00:00", 1)
	for name, c := range map[string]struct{ extra, want, says string }{
		"no offset":                {zoneless, "9 Appointment/n_x", "offset"},
		"unknown patient":          {visit("n_x", "nobody", "n_holm", "11:00:00", "11:30:00"), "9 Appointment/n_x", "Patient/nobody, which is neither"},
		"unknown schedule":         {slot("n_x", "nothing", "free", "11:00:00", "11:30:00"), "9 Slot/n_x", "Schedule/nothing, which is neither"},
		"overlap":                  {visit("n_x", "n_p1", "n_holm", "09:15:00", "09:45:00"), "1 Appointment/n_a1,9 Appointment/n_x", "another visit"},
		"overlap with ours":        {strings.Replace(visit("n_x", "n_p1", "holm", "09:15:00", "09:45:00"), at("09:15:00"), d.Day.Add(10*time.Hour).Format(time.RFC3339), 1), "9 Appointment/n_x", ""},
		"twice":                    {patient("n_p1", "N2"), "9 Patient/n_p1", "twice, first at line 4"},
		"record number taken":      {patient("n_p2", "N1"), "9 Patient/n_p2", "record number"},
		"taken here":               {strings.Replace(patient("n_p2", "100234"), "1984-03-11", "1990-01-01", 1), "9 Patient/n_p2", "record number"},
		"half a birth date":        {strings.Replace(patient("n_p2", "N2"), "1984-03-11", "1984-03", 1), "9 Patient/n_p2", "birth date"},
		"no zone":                  {strings.Replace(location("n_2"), zoneExtension, `"status":"active"`, 1), "9 Location/n_2", "--zone"},
		"a zone that is none":      {strings.Replace(location("n_2"), "Europe/Copenhagen", "CET", 1), "9 Location/n_2", "zone"},
		"cut off":                  {`{"resourceType":"Patient","id":"n_p2","birthDate":"19`, "9 /", "malformed"},
		"a member twice":           {strings.Replace(patient("n_p2", "N2"), `"birthDate"`, `"birthDate":"1985-01-01","birthDate"`, 1), "9 /", "malformed"},
		"deep":                     {`{"resourceType":"Patient","id":"n_p2","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "9 /", "malformed"},
		"no resource":              {`{"id":"n_p2"}`, "9 /", "no FHIR resource"},
		"odd id":                   {strings.Replace(patient("x", "N2"), `"id":"x"`, `"id":"a b\u0007<i>"`, 1), "9 Patient/(no valid id)", "valid id"},
		"two patients":             {strings.Replace(visit("n_x", "n_p1", "n_holm", "11:00:00", "11:30:00"), `"participant":[`, `"participant":[{"status":"accepted","actor":{"reference":"Patient/soren"}},`, 1), "9 Appointment/n_x", "several"},
		"two slots, one start":     {slot("n_x", "n_s1", "free", "09:00:00", "09:15:00"), "9 Slot/n_x", "same start"},
		"another clinic's patient": {visit("n_x", "lake_maria", "n_holm", "11:00:00", "11:30:00"), "9 Appointment/n_x", "neither"},
	} {
		end := strings.Replace(c.extra, "", "", 1)
		if name == "overlap with ours" {
			end = strings.Replace(end, at("09:45:00"), d.Day.Add(10*time.Hour+15*time.Minute).Format(time.RFC3339), 1)
		}
		r := taken(t, d, lines(append(world(), end)...))
		got := strings.Join(refusals(r), ",")
		said := ""
		for _, x := range r.Refused {
			said += x.Words + "\n"
			for _, secret := range []string{"Jensen", "Maria", "1984", "1990", "100234", "maria@"} {
				if strings.Contains(x.Words, secret) {
					t.Errorf("%s: %q names a patient", name, x.Words)
				}
			}
		}
		if got != c.want || !strings.Contains(said, c.says) {
			t.Errorf("%s: %s: %s", name, got, said)
		}
	}
	if after := rows(t, d); after != before {
		t.Error("something of a refused file was taken")
	}
}

func TestABundleThatEndsTooEarlyIsRefused(t *testing.T) {
	t.Parallel()
	whole := bundle(world()...)
	for name, text := range map[string]string{
		"cut off":      whole[:len(whole)-2],
		"in an entry":  whole[:len(whole)/2],
		"followed":     whole + "{}",
		"two entries":  strings.Replace(whole, `"type"`, `"entry":[],"type"`, 1),
		"a huge entry": bundle(`{"resourceType":"Patient","id":"x","text":"` + strings.Repeat("x", 5<<20) + `"}`),
	} {
		if _, err := intake.Open(strings.NewReader(text)); !errors.Is(err, intake.ErrNotWhole) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
