package casetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func cancelling(appointment, reason string, more ...string) proposal.Proposing {
	p := proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": appointment, "reason_code": reason}}
	for i := 0; i+1 < len(more); i += 2 {
		p.Parameters[more[i]] = more[i+1]
	}
	return p
}

// mail is one stored message: kind, channel, recipient, when.
func (w *world) mails(proposalID string) string {
	w.Helper()
	return w.text(`SELECT coalesce(string_agg(concat_ws(' ', kind, channel, recipient, to_char(send_at AT TIME ZONE 'Europe/Copenhagen', 'YYYY-MM-DD HH24:MI')), '; ' ORDER BY send_at NULLS FIRST), '')
		FROM outbox WHERE proposal = $1`, proposalID)
}

// N03, N05, T13: who is moved by staff is told once by their own way, that it moved, from when to when in the words of
// the place's zone, and reminded of the new time; whatever staff wrote as a reason goes to nobody, nor does the type. We
// write to no practitioner.
func TestAMovedPatientIsToldOnceAndReminded(t *testing.T) {
	w := worldAt(t, usual)
	const secretly = "the doctor is on strike"
	wish := move("appt_maria84", "2026-06-17T14:00")
	wish.Reason = secretly
	r := w.propose(ana, wish)
	w.confirm(ana, r, "k")
	if got, want := w.mails(r.ID), "change email maria.jensen.84@example.test; reminder email maria.jensen.84@example.test 2026-06-16 14:00"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	was := r.Plan.Before.StartsAt.In(copenhagen(t)).Format("Monday 2 January 2006")
	told, reminded := r.Plan.Messages[0], r.Plan.Messages[1]
	if *told.Subject != "Your appointment has moved" || !strings.Contains(told.Text, was) || !strings.Contains(told.Text, "Wednesday 17 June 2026 at 2pm (Copenhagen time)") {
		t.Errorf("%s: %s", *told.Subject, told.Text)
	}
	if *reminded.Subject != "Reminder of your appointment" || !strings.Contains(reminded.Text, "Wednesday 17 June 2026 at 2pm (Copenhagen time)") || strings.Contains(reminded.Text, was) || reminded.Calendar != nil {
		t.Errorf("%s: %s", *reminded.Subject, reminded.Text)
	}
	for _, m := range r.Plan.Messages {
		whole := m.Text + *m.Subject
		if m.Calendar != nil {
			whole += *m.Calendar
		}
		for _, word := range []string{secretly, r.Plan.After.Type.Name, "http", "100234", "1984"} {
			if strings.Contains(whole, word) {
				t.Errorf("the %s says %q", m.Kind, word)
			}
		}
		for _, word := range []string{"Havnegade 12, 1058 København", r.Plan.After.Location.Phone} {
			if !strings.Contains(m.Text, word) {
				t.Errorf("the %s does not say %q: %s", m.Kind, word, m.Text)
			}
		}
	}
	if r.Plan.Risk != proposal.Low {
		t.Error("a reminder made it", r.Plan.Risk, r.Plan.RiskReasons)
	}
}

// N04: a text that somebody wrote takes the place of the standard one; there is one message.
func TestAnOwnTextIsNoSecondMessage(t *testing.T) {
	w := worldAt(t, usual)
	r := w.propose(ana, cancelling("appt_maria84", "clinic_closed", "message", "We are closed. Call us."))
	w.confirm(ana, r, "k")
	if got := w.mails(r.ID); got != "cancellation email maria.jensen.84@example.test" || r.Plan.Messages[0].Text != "We are closed. Call us." {
		t.Error(got, r.Plan.Messages[0].Text)
	}
	// Of a move it is the first; the reminder is the standard one.
	moved := w.propose(ana, move("appt_maria91", "2026-06-17T14:30", "message", "See you later."))
	if m := moved.Plan.Messages; len(m) != 2 || m[0].Text != "See you later." || !strings.Contains(m[1].Text, "we remind you") {
		t.Errorf("%+v", m)
	}
}

// N07: the message names the place of the visit, with its address and phone, and says that it is another one.
func TestAMessageNamesTheNewPlace(t *testing.T) {
	w := worldAt(t, usual)
	w.exec(`UPDATE patients SET contact = 'sms', phone = '+45 00 10 02 34' WHERE id = 'pat_maria84'`)
	annex := w.text(`SELECT address || '|' || phone FROM locations WHERE id = 'loc_annex'`)
	address, phone, _ := strings.Cut(annex, "|")
	w.exec(`UPDATE locations SET phone = phone || '9' WHERE id = 'loc_annex'`)
	phone += "9"
	w.exec(`INSERT INTO schedules (clinic, id, practitioner, location, valid_from, types) SELECT clinic, 'sch_annex', 'prac_holm', 'loc_annex', '2020-01-01', '{type_standard}' FROM locations WHERE id = 'loc_annex'`)
	w.exec(`INSERT INTO slots (clinic, id, practitioner, location, schedule, day, starts_at, ends_at, types)
		SELECT s.clinic, 'annex_' || s.i, 'prac_holm', 'loc_annex', 'sch_annex', '2026-06-13', s.at, s.at + interval '15 min', '{type_standard}'
		FROM (SELECT clinic, i, timestamptz '2026-06-13 10:00+02' + i * interval '15 min' AS at FROM locations, generate_series(0, 3) i WHERE id = 'loc_annex') s`)
	r := w.propose(ana, move("appt_maria84", "2026-06-13T10:00", "practitioner", "prac_holm", "location", "loc_annex"))
	for _, m := range r.Plan.Messages {
		if !strings.Contains(m.Text, address) || !strings.Contains(m.Text, phone) || strings.Contains(m.Text, "Havnegade 12, 1058") {
			t.Errorf("the %s: %s", m.Kind, m.Text)
		}
	}
	if !strings.Contains(r.Plan.Messages[0].Text, "the place has changed") || strings.Contains(r.Plan.Messages[1].Text, "has changed") {
		t.Error(r.Plan.Messages[0].Text)
	}
}

// N11: nobody writes to the dead, whether the record says so or only the reason of the cancellation, and that is no
// patient whom one could tell and does not.
func TestNobodyWritesToTheDead(t *testing.T) {
	w := worldAt(t, usual)
	r := w.propose(ana, cancelling("appt_maria84", "patient_deceased"))
	if len(r.Plan.Messages) != 0 || len(r.RiskReasons) != 1 || r.RiskReasons[0] != "A cancellation" || *r.Plan.After.Patient.Unreachable != "deceased" {
		t.Errorf("%+v %v", r.Plan.Messages, r.RiskReasons)
	}
	last := r.Summary.Fields[len(r.Summary.Fields)-1]
	if !strings.Contains(*last.New, "Nobody will be told: this patient has died") {
		t.Error(*last.New)
	}
	w.confirm(ana, r, "k")
	bulk := w.propose(ana, proposal.Proposing{Action: "bulk_change@1", Parameters: map[string]any{"items": []any{
		map[string]any{"appointment": "appt_maria91", "cancel": true, "reason_code": "patient_deceased"}}}})
	if len(bulk.Plan.Messages) != 0 {
		t.Errorf("%+v", bulk.Plan.Messages)
	}
	w.exec(`UPDATE patients SET deceased = true WHERE id = 'pat_maria91'`)
	if _, err := w.desk.Confirm(ctx, ana, desktest.Deciding(bulk, "k2")); refusal.Of(err) == nil || refusal.Of(err).Code != refusal.ResourceChanged {
		t.Error("the record changed, and it ran:", err)
	}
	w.refusedPropose(refusal.ValidationFailed, move("appt_maria91", "2026-06-17T14:30"))
	w.refusedPropose(refusal.ValidationFailed, book("pat_maria91", "prac_holm", "loc_hav12", "2026-06-17T14:30"))
	w.refusedPropose(refusal.ValidationFailed, proposal.Proposing{Action: "send_message@1", Parameters: map[string]any{"patient": "pat_maria91", "channel": "sms", "message": "Hello"}})
	if again := w.propose(ana, cancelling("appt_maria91", "other")); len(again.Plan.Messages) != 0 {
		t.Errorf("%+v", again.Plan.Messages)
	}
	if w.text(`SELECT count(*) FROM outbox`) != "0" {
		t.Error("somebody was told")
	}
}

// N15: no consent, no message, and the card says why; who wants Danish gets Danish; who wants SMS gets SMS, shorter and
// without a subject.
func TestConsentLanguageAndChannel(t *testing.T) {
	w := worldAt(t, usual)
	for _, c := range []struct{ contact, language, unreachable, says string }{
		{"none", "en", "prefers_none", ""}, {"phone", "en", "prefers_phone", ""},
		{"email", "da", "", "onsdag den 17. juni 2026 kl. 14.00 (dansk tid)"}, {"sms", "da-DK", "", "onsdag 17/6 2026 kl. 14.00 (dansk tid)"},
		{"email", "en-GB", "", "Wednesday 17 June 2026 at 2pm (Copenhagen time)"}, {"sms", "pl", "", "Wed 17 Jun 2026 at 2pm (Copenhagen time)"},
	} {
		w.exec(`UPDATE patients SET contact = $1, language = $2, phone = '+45 00 10 02 34' WHERE id = 'pat_maria84'`, c.contact, c.language)
		for _, wish := range []proposal.Proposing{move("appt_maria84", "2026-06-17T14:00"), book("pat_maria84", "prac_holm", "loc_hav12", "2026-06-17T14:00"), cancelling("appt_maria84", "other")} {
			p := w.propose(ana, wish).Plan
			name := fmt.Sprint(c, p.Action)
			if c.unreachable != "" {
				if len(p.Messages) != 0 || *p.After.Patient.Unreachable != c.unreachable {
					t.Errorf("%s: %+v", name, p.Messages)
				}
				continue
			}
			want := 2
			if p.After.Status == "cancelled" {
				want = 1
			}
			if len(p.Messages) != want {
				t.Fatalf("%s: %d messages", name, len(p.Messages))
			}
			for _, m := range p.Messages {
				sms := m.Channel == "sms"
				if m.Channel != c.contact || sms != (m.Subject == nil) || sms != !strings.Contains(m.Text, "\n") || sms && m.Calendar != nil || want == 2 && !strings.Contains(m.Text, c.says) {
					t.Errorf("%s: %+v", name, m)
				}
				if danish := strings.HasPrefix(c.language, "da"); danish != strings.HasPrefix(m.Text, "Kære Maria") || danish != (p.After.Patient.WrittenIn == "da") {
					t.Errorf("%s: in %s: %s", name, p.After.Patient.WrittenIn, m.Text)
				}
				if sms && (strings.Contains(m.Text, "Jensen") || strings.Contains(m.Text, "Holm") || len([]rune(m.Text)) > 320) {
					t.Errorf("%s: the SMS says too much: %s", name, m.Text)
				}
			}
		}
	}
}

// A reminder goes out at the visit's hour on the day before, also when the clocks change between; none when the visit is
// soon, and none when nobody shall be told.
func TestWhenAReminderGoesOut(t *testing.T) {
	w := worldAt(t, "2026-10-21 09:00")
	for start, want := range map[string]string{
		"2026-10-26T10:00": "2026-10-25T09:00:00Z", "2026-10-23T10:00": "2026-10-22T08:00:00Z", "2026-10-22T15:30": "", "2026-10-22T10:00": "",
	} {
		w.clear(start[:10])
		p := w.propose(ana, book("pat_maria84", "prac_holm", "loc_hav12", start)).Plan
		got := ""
		if n := len(p.Messages); n > 1 {
			got = p.Messages[n-1].SendAt.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: reminded %q, want %q", start, got, want)
		}
	}
	quiet := book("pat_maria84", "prac_holm", "loc_hav12", "2026-10-26T10:00")
	quiet.Parameters["notify"] = false
	if p := w.propose(ana, quiet).Plan; len(p.Messages) != 0 {
		t.Errorf("%+v", p.Messages)
	}
}
