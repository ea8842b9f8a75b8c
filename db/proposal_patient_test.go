package db_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// registering is register_patient@1 with a whole person; more overrides, nil takes out.
func registering(more ...any) proposal.Proposing {
	params := map[string]any{"family": "Łukasz-Groß", "given": "Agnieszka", "birth_date": "1991-12-24", "phone": "0045 20123456",
		"email": "agnieszka@Example.Test", "contact_preference": "email"}
	return with("register_patient@1", params, more)
}

func contact(patient string, more ...any) proposal.Proposing {
	return with("update_contact@1", map[string]any{"patient": patient}, more)
}

func message(patient, channel, text string, more ...any) proposal.Proposing {
	return with("send_message@1", map[string]any{"patient": patient, "channel": channel, "message": text}, more)
}

func with(action string, params map[string]any, more []any) proposal.Proposing {
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return proposal.Proposing{Action: action, Parameters: params}
}

func fields(err error) string {
	r := refusal.Of(err)
	if r == nil || r.Code != refusal.ValidationFailed {
		return code(err)
	}
	var names []string
	for _, f := range r.Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

func TestARegistrationRunsExactlyAsConfirmed(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	r := d.Propose(ana, registering())
	if r.Risk != proposal.Medium || r.Plan.Before != nil || len(r.Plan.Resources) != 0 || len(r.Warnings) != 0 {
		t.Fatal(r.Risk, r.RiskReasons, r.Plan.Resources, r.Warnings)
	}
	if left := time.Until(r.ExpiresAt); left < 14*time.Minute || left > 15*time.Minute {
		t.Error("without a start the deadline is the usual one:", left)
	}
	if got := d.Text(`SELECT count(*) FROM patients WHERE clinic = 'hav'`); got != "3" {
		t.Fatal("proposing registered somebody")
	}
	out, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k"))
	if err != nil {
		t.Fatal(err)
	}
	who := r.Plan.After.Patient
	if got := d.Text(`SELECT concat_ws('|', family, given, birth_date, phone, email, contact, mrn = $2, version) FROM patients WHERE clinic = 'hav' AND id = $1`, who.ID, who.MRN); got !=
		"Łukasz-Groß|Agnieszka|1991-12-24|+45 20 12 34 56|agnieszka@example.test|email|t|1" {
		t.Error("stored:", got)
	}
	var answer struct {
		Outcome string
		Result  struct{ Patient proposal.PatientAnswer }
	}
	if err := json.Unmarshal(out.Body, &answer); err != nil || answer.Result.Patient.ID != who.ID || answer.Result.Patient.Version != 1 || answer.Outcome != "completed" {
		t.Error(err, string(out.Body))
	}
	if got := d.Text(`SELECT count(*) FROM inspect.audit WHERE proposal = $1 AND action = 'patient.register' AND outcome = 'success'`, r.ID); got != "1" {
		t.Error("audit rows:", got)
	}
	again, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k"))
	if err != nil || !again.Replayed || string(again.Body) != string(out.Body) {
		t.Error("a replay must answer the same:", err)
	}
	// The search column is written too: the new patient is found.
	found := d.Propose(ana, message(who.ID, "email", "Welcome"))
	if found.Plan.Messages[0].Recipient != "agnieszka@example.test" {
		t.Error(found.Plan.Messages)
	}
	if got := d.Text(`SELECT search_text FROM patients WHERE clinic = 'hav' AND id = $1`, who.ID); !strings.Contains(got, " lukasz") || !strings.Contains(got, "d19911224") {
		t.Error("search text:", got)
	}
}

func TestWhatARegistrationMustHave(t *testing.T) {
	d := desktest.New(t)
	tomorrow := time.Now().UTC().AddDate(0, 0, 2).Format(time.DateOnly)
	for want, p := range map[string]proposal.Proposing{
		"family given birth_date contact_preference": {Action: "register_patient@1", Parameters: map[string]any{}},
		"family":                        registering("family", "  "),
		"given":                         registering("given", "--"),
		"birth_date":                    registering("birth_date", "1991-02-30"),
		"phone email":                   registering("phone", "12", "email", "nobody"),
		"contact_preference":            registering("contact_preference", "fax"),
		"mrn":                           registering("mrn", "a b\n"),
		"birth_date contact_preference": registering("birth_date", "24-12-1991", "contact_preference", 1),
		"nickname":                      registering("nickname", "Aga"),
		"confirm_not_duplicate":         registering("confirm_not_duplicate", "yes"),
	} {
		if _, err := d.Desk.Propose(ctx, d.Actor("ana"), p); fields(err) != want {
			t.Errorf("%v: %q, want %q", p.Parameters, fields(err), want)
		}
	}
	for name, p := range map[string]proposal.Proposing{
		"birth_date of the day after tomorrow": registering("birth_date", tomorrow),
		"birth_date of another age":            registering("birth_date", "1815-12-10"),
		"contact_preference without an e-mail": registering("email", nil),
		"contact_preference without a phone":   registering("phone", nil, "contact_preference", "sms"),
		"given with too many letters":          registering("given", strings.Repeat("a", 101)),
	} {
		if _, err := d.Desk.Propose(ctx, d.Actor("ana"), p); fields(err) != strings.Fields(name)[0] {
			t.Errorf("%s: %q", name, fields(err))
		}
	}
	if r := d.Propose(d.Actor("ana"), registering("phone", nil, "email", nil, "contact_preference", "none", "mrn", "A-17/b")); r.Plan.After.Patient.MRN != "A-17/b" {
		t.Error(r.Plan.After.Patient)
	}
	if _, err := d.Desk.Propose(ctx, d.Actor("ada"), registering()); code(err) != refusal.PermissionDenied {
		t.Error("an admin proposed:", err)
	}
}

func TestARegistrationLooksForTheSamePerson(t *testing.T) {
	d := desktest.New(t)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	maria := []any{"family", "JENSEN", "given", "María", "birth_date", "1984-03-11"}
	for name, p := range map[string]proposal.Proposing{
		"same folded name and birth date": registering(maria...),
		"names the other way round":       registering("family", "Maria", "given", "Jensen", "birth_date", "1984-03-11"),
		"same MRN":                        registering("mrn", "100234"),
		"a middle name more":              registering("family", "Jensen", "given", "Maria Sofie", "birth_date", "1984-03-11"),
		"same e-mail and family name":     registering("family", "Jensen", "given", "Mia", "birth_date", "1984-03-11", "email", "Maria.Jensen.84@example.test"),
	} {
		_, err := d.Desk.Propose(ctx, ana, p)
		r := refusal.Of(err)
		if r == nil || r.Code != refusal.PossibleDuplicate {
			t.Fatalf("%s: %v", name, err)
		}
		if got := r.Details["candidates"].([]proposal.Candidate); len(got) != 1 || got[0] != (proposal.Candidate{ID: "maria", Name: "Maria Jensen", BirthDate: "1984-03-11", MRN: "100234"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, p := range []proposal.Proposing{registering("family", "Jensen", "given", "Maria"), registering("family", "Jensen", "given", "Anna", "birth_date", "1984-03-11"),
		registering("family", "Jensen", "given", "Mariana", "birth_date", "1984-03-11")} {
		if r := d.Propose(ana, p); len(r.Warnings) > 0 {
			t.Error("somebody else:", r.Warnings)
		}
	}
	if _, err := d.Desk.Propose(ctx, ana, registering("mrn", "100234", "confirm_not_duplicate", true)); fields(err) != "mrn" {
		t.Error("a record number is one patient's:", err)
	}

	r := d.Propose(ana, registering(append(maria, "confirm_not_duplicate", true)...))
	if r.Risk != proposal.High || len(r.Warnings) != 1 || r.Warnings[0] != refusal.PossibleDuplicate || len(r.Plan.Resources) != 1 {
		t.Fatal(r.Risk, r.Warnings, r.Plan.Resources)
	}
	if all := strings.Join(r.RiskReasons, "\n"); !strings.Contains(all, "Maria Jensen, born 1984-03-11, MRN 100234") {
		t.Error("who is it?", all)
	}
	if left := time.Until(r.ExpiresAt); left < 3*time.Hour {
		t.Error("high has four hours:", left)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k")); code(err) != refusal.SelfApprovalForbidden {
		t.Error(err)
	}
	// The candidate is on the card, so the card is of the candidate as it was.
	d.Exec(`UPDATE patients SET given = 'Marie' WHERE clinic = 'hav' AND id = 'maria'`)
	if _, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(r, "k")); code(err) != refusal.ResourceChanged {
		t.Error(err)
	}
	d.Exec(`UPDATE patients SET given = 'Maria' WHERE clinic = 'hav' AND id = 'maria'`)
	next, err := d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash})
	if err != nil || next.Record.Plan.After.Patient.ID != r.Plan.After.Patient.ID || next.Record.Plan.After.Patient.MRN != r.Plan.After.Patient.MRN {
		t.Fatal("id and record number stay:", err)
	}
	if _, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(next.Record, "k")); err != nil {
		t.Error(err)
	}
}

// Two people register the same person at the same moment: one patient comes of it, and the other is told who.
func TestTheSamePersonIsRegisteredOnce(t *testing.T) {
	d := desktest.New(t)
	for round := range 4 {
		var all []proposal.Record
		for range 5 {
			all = append(all, d.Propose(d.Actor("ana"), registering("family", "Round", "birth_date", time.Date(2000, 1, 1+round, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))))
		}
		codes := map[string]int{}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for i, r := range all {
			wait.Go(func() {
				_, err := d.Desk.Confirm(ctx, d.Actor([]string{"ana", "ben", "bea"}[i%3]), desktest.Deciding(r, "k"+r.ID))
				mu.Lock()
				defer mu.Unlock()
				codes[code(err)]++
				if r := refusal.Of(err); r != nil && r.Code == refusal.ResourceChanged {
					if c := r.Details["changed"].([]proposal.Change); len(c) != 1 || c[0].Kind != proposal.PinPatient || c[0].Expected != 0 || c[0].Current != 1 ||
						!strings.Contains(c[0].Label, "Agnieszka Round") {
						t.Error(c)
					}
				}
			})
		}
		wait.Wait()
		if codes[""] != 1 || codes[refusal.ResourceChanged] != 4 {
			t.Fatal(codes)
		}
	}
	if got := d.Text(`SELECT count(*) FROM patients WHERE clinic = 'hav' AND family = 'Round'`); got != "4" {
		t.Fatal("patients:", got)
	}
	// Reading says so at once, and a fresh preview asks.
	r := d.Propose(d.Actor("ana"), registering())
	d.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, search_text) VALUES ('hav', 'twin', $1, $2, '1991-12-24', 'twin', $3)`,
		"Łukasz-Groß", "Agnieszka", clinic.SearchText(clinic.Patient{Family: "Łukasz-Groß", Given: "Agnieszka", BirthDate: "1991-12-24", MRN: "twin"}))
	now, err := d.Desk.Get(ctx, d.Actor("ana"), r.ID)
	if err != nil || !now.Stale || len(now.Changed) != 1 || now.Changed[0].ID != "twin" {
		t.Error(err, now.Changed)
	}
	if _, err := d.Desk.Revise(ctx, d.Actor("ana"), proposal.Revising{Proposal: r.ID, Revision: 1, PlanHash: r.PlanHash}); code(err) != refusal.PossibleDuplicate {
		t.Error(err)
	}
}

// One person under two spellings, registered by two people at once: one patient comes of it, the other registration is
// told who that is, and asks when it is previewed anew. Another birth date is somebody else.
func TestTwoSpellingsOfOnePersonAreRegisteredOnce(t *testing.T) {
	d := desktest.New(t)
	for i, pair := range [][2][2]string{
		{{"Łukasz", "Maßmann"}, {"Lukasz", "Massmann"}}, {{"Anna-Lena", "Berg"}, {"Anna Lena", "Berg"}}, {{"Søren Adam", "Krogh"}, {"Soeren", "Krogh"}},
		{{"Bo", "Lund Holm"}, {"Holm", "Bo"}},
	} {
		born := time.Date(1980, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		var cards [2]proposal.Record
		for n, name := range pair {
			cards[n] = d.Propose(d.Actor("ana"), registering("given", name[0], "family", name[1], "birth_date", born, "phone", nil, "email", nil, "contact_preference", "none"))
		}
		var errs [2]error
		var wait sync.WaitGroup
		for n, who := range []string{"ana", "ben"} {
			wait.Go(func() {
				_, errs[n] = d.Desk.Confirm(ctx, d.Actor(who), desktest.Deciding(cards[n], "k"+cards[n].ID))
			})
		}
		wait.Wait()
		lost := 0
		if errs[0] == nil {
			lost = 1
		}
		if errs[1-lost] != nil || code(errs[lost]) != refusal.ResourceChanged {
			t.Fatal(pair, errs)
		}
		_, err := d.Desk.Revise(ctx, d.Actor("ana"), proposal.Revising{Proposal: cards[lost].ID, Revision: 1, PlanHash: cards[lost].PlanHash})
		if r := refusal.Of(err); r == nil || r.Code != refusal.PossibleDuplicate || len(r.Details["candidates"].([]proposal.Candidate)) != 1 {
			t.Error(pair, err)
		}
		if n := d.Text(`SELECT count(*) FROM patients WHERE clinic = 'hav' AND birth_date = $1`, born); n != "1" {
			t.Error(pair, n, "patients")
		}
	}
	if r := d.Propose(d.Actor("ana"), registering("given", "Bo", "family", "Lund Holm", "birth_date", "1981-01-04")); len(r.Warnings) > 0 {
		t.Error("another birth date:", r.Warnings)
	}
}

// An import does not take the registrations' lock; the record number is still one patient's.
func TestARecordNumberTakenMeanwhile(t *testing.T) {
	d := desktest.New(t)
	r := d.Propose(d.Actor("ana"), registering("mrn", "777"))
	root, err := d.Root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec(`INSERT INTO patients (clinic, id, family, given, birth_date, mrn, search_text) VALUES ('hav', 'imp', 'Imported', 'Ida', '1950-01-01', '777', ' x')`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(r, "k"))
		done <- err
	}()
	for d.Text(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) == "0" {
		time.Sleep(10 * time.Millisecond)
	}
	if err := root.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; code(err) != refusal.ResourceChanged {
		t.Fatal(err)
	}
}

func TestContactDetailsChangeAsConfirmed(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	waits := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	r := d.Propose(ana, contact("maria", "phone", "+4520123456", "contact_preference", "sms"))
	before, after := r.Plan.Before.Patient, r.Plan.After.Patient
	if r.Risk != proposal.Medium || before.Phone != nil || *after.Phone != "+45 20 12 34 56" || *after.Email != *before.Email || before.Contact != "email" || after.Contact != "sms" {
		t.Fatal(r.Risk, before, after)
	}
	if len(r.Plan.Messages) != 0 || len(r.Plan.Resources) != 1 || r.Plan.Resources[0] != (proposal.Pin{Kind: proposal.PinPatient, ID: "maria", Version: 1}) {
		t.Fatal(r.Plan.Messages, r.Plan.Resources)
	}
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(r, "k")); err != nil {
		t.Fatal(err)
	}
	if got := d.Text(`SELECT concat_ws('|', phone, email, contact, version, position(' p4520123456' IN search_text) > 0) FROM patients WHERE clinic = 'hav' AND id = 'maria'`); got !=
		"+45 20 12 34 56|maria.jensen.84@example.test|sms|2|t" {
		t.Error("stored:", got)
	}
	// What waited was made for the old address.
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(waits, "k2")); code(err) != refusal.ResourceChanged {
		t.Error("a card with the old address was confirmed:", err)
	}
	for want, p := range map[string]proposal.Proposing{
		"phone":                    contact("maria"),
		"phone email":              contact("maria", "phone", "0045 20 12 34 56", "email", "maria.jensen.84@EXAMPLE.test"),
		"contact_preference":       contact("soren", "contact_preference", "email"),
		"patient":                  contact("nobody", "phone", "+4520123456"),
		"email":                    contact("maria", "email", "maria"),
		"contact_preference email": contact("lake_maria", "email", "x", "contact_preference", "post"),
	} {
		if _, err := d.Desk.Propose(ctx, ana, p); fields(err) != want && want != "contact_preference email" {
			t.Errorf("%v: %q", p.Parameters, fields(err))
		}
	}
	if _, err := d.Desk.Propose(ctx, ana, contact("lake_maria", "phone", "+4520123456")); fields(err) != "patient" {
		t.Error("another clinic's patient is unknown:", err)
	}
	moved := d.Propose(ana, contact("soren", "email", "soren@example.test"))
	if _, err := d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: moved.ID, Revision: 1, PlanHash: moved.PlanHash, Parameters: map[string]any{"patient": "maria"}}); fields(err) != "patient" {
		t.Error("a proposal stays with its patient:", err)
	}
	d.Exec(`UPDATE patients SET phone = '+45 00 20 03 01' WHERE clinic = 'hav' AND id = 'soren'`)
	if _, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(moved, "k3")); code(err) != refusal.ResourceChanged {
		t.Error(err)
	}
}
