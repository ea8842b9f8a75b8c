package casetest

import (
	"strings"
	"testing"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// R10: what has begun cannot be booked, also when the card was drawn before.
func TestThePastCannotBeBooked(t *testing.T) {
	morning := worldAt(t, "2026-06-03 08:00")
	morning.clear("2026-06-03") // so that the time is free and only the clock speaks against it
	r := morning.propose(ana, move("appt_maria84", "2026-06-03T10:00"))
	if r.ExpiresAt.After(at(t, "2026-06-03 08:16")) {
		t.Errorf("valid until %s", r.ExpiresAt)
	}
	evening := morning.later("2026-06-03 17:56")
	evening.refusedPropose(refusal.InThePast, move("appt_maria84", "2026-06-03T10:00"))
	_, err := evening.desk.Confirm(ctx, ana, desktest.Deciding(r, "k"))
	evening.refusedWith(refusal.ProposalExpired, err)
	near := morning.later("2026-06-03 09:55").propose(ana, move("appt_maria84", "2026-06-03T10:00"))
	if !near.ExpiresAt.Equal(near.Plan.After.StartsAt) {
		t.Errorf("valid until %s, after its own start", near.ExpiresAt)
	}
	if !strings.HasSuffix(evening.stands("appt_maria84"), "10:00 booked") || strings.HasPrefix(evening.stands("appt_maria84"), "2026-06-03") {
		t.Error(evening.stands("appt_maria84"))
	}
}

// R11: a visit of yesterday is not moved; the words say what to do instead. One of today, begun already, still is.
func TestAVisitOfYesterdayIsNotMoved(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	start := w.text(`SELECT to_char(starts_at AT TIME ZONE 'Europe/Copenhagen', 'YYYY-MM-DD') FROM appointments WHERE id = 'appt_maria84'`)
	r := w.later(start+" 23:00").refusedPropose(refusal.OutsideSchedule, move("appt_maria84", "2026-06-19T23:30"))
	if len(r.Fields) != 0 {
		t.Error(r.Fields)
	}
	day, err := clinic.ParseDate(start)
	if err != nil {
		t.Fatal(err)
	}
	r = w.later(day.AddDays(1).String()+" 00:30").refusedPropose(refusal.ValidationFailed, move("appt_maria84", "2026-06-19T10:00"))
	if len(r.Fields) != 1 || r.Fields[0].Name != "appointment" || !strings.Contains(r.Fields[0].Message, "Book a new one") {
		t.Error(r.Fields)
	}
}

// R12: an edit of the note alone leaves the start alone, whatever day it is by then.
func TestAnEditOfTheNoteLeavesTheTime(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	first := w.propose(ana, move("appt_maria84", "2026-06-18T11:00"))
	a, err := w.later("2026-06-03 09:10").desk.Revise(ctx, ana, proposal.Revising{Proposal: first.ID, Revision: 1, PlanHash: first.PlanHash,
		Parameters: map[string]any{"message": "Bring your glasses."}})
	if err != nil {
		t.Fatal(err)
	}
	second := a.Record
	if !second.Plan.After.StartsAt.Equal(at(t, "2026-06-18 11:00")) || second.Plan.Messages[0].Text != "Bring your glasses." || second.Revision != 2 {
		t.Errorf("%d: %s, %q", second.Revision, second.Plan.After.StartsAt, second.Plan.Messages[0].Text)
	}
	w.confirm(ana, second, "k")
	if w.stands("appt_maria84") != "2026-06-18 11:00 booked" {
		t.Error(w.stands("appt_maria84"))
	}
}

// C01, S05: after a move there is one visit, the old time is free at once, and the history says from where, by whom and
// by which proposal, with its reason.
func TestAMoveLeavesNothingBehind(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	wish := move("appt_maria84", "2026-06-17T14:00")
	wish.Reason = "The train was cancelled"
	old := w.text(`SELECT to_char(starts_at AT TIME ZONE 'Europe/Copenhagen', 'YYYY-MM-DD"T"HH24:MI') FROM appointments WHERE id = 'appt_maria84'`)
	r := w.confirm(ana, w.propose(ana, wish), "k")
	if w.stands("appt_maria84") != "2026-06-17 14:00 booked" || w.held("appt_maria84") != "2/0" {
		t.Error(w.stands("appt_maria84"), w.held("appt_maria84"))
	}
	w.in(func(tx *db.Tx) error {
		coming, _, _, err := tx.PatientVisits(ctx, "pat_maria84", 5)
		if err != nil || len(coming) != 1 {
			t.Errorf("%d visits to come, %v", len(coming), err)
		}
		h, err := tx.History(ctx, "appt_maria84")
		if err != nil || len(h) != 2 || h[0].By.ID != "ana" || h[0].Via != "plan" || h[0].Proposal != r.ID || h[0].StartsAt.Equal(h[1].StartsAt) {
			t.Errorf("history %+v %v", h, err)
		}
		return err
	})
	if w.text(`SELECT reason FROM proposals WHERE id = $1`, r.ID) != "The train was cancelled" {
		t.Error("why is not stored")
	}
	w.confirm(ana, w.propose(ana, book("pat_aoife", "prac_holm", "loc_hav12", old)), "k2")
}

// C03: the new time is taken between card and click. The visit still stands where it stood, with its slots.
func TestALostTimeLeavesTheVisitWhereItWas(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	before := w.stands("appt_maria84")
	r := w.propose(ana, move("appt_maria84", "2026-06-17T14:00"))
	w.confirm(emil, w.propose(emil, book("pat_aoife", "prac_holm", "loc_hav12", "2026-06-17T14:00")), "k")
	_, err := w.desk.Confirm(ctx, ana, desktest.Deciding(r, "k"))
	w.refusedWith(refusal.ResourceChanged, err)
	if w.stands("appt_maria84") != before || w.held("appt_maria84") != "2/0" || w.text(`SELECT version FROM appointments WHERE id = 'appt_maria84'`) != "1" {
		t.Error(w.stands("appt_maria84"), w.held("appt_maria84"))
	}
	if w.text(`SELECT count(*) FROM outbox WHERE appointment = 'appt_maria84'`) != "0" {
		t.Error("the patient was told of a move that was not")
	}
}

// S19: on leave is on leave for everybody at the desk.
func TestNobodyBooksWhoIsOnLeave(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	r := w.propose(ana, move("appt_maria84", "2026-06-17T14:00"))
	w.in(func(tx *db.Tx) error {
		day := clinic.Date{Year: 2026, Month: 6, Day: 17}
		return tx.SaveLeave(ctx, clinic.Leave{ID: "leave_holm", Practitioner: "prac_holm", From: day, To: day, Opens: -1, Closes: -1})
	})
	w.refusedPropose(refusal.OutsideSchedule, book("pat_aoife", "prac_holm", "loc_hav12", "2026-06-17T14:00"))
	_, err := w.desk.Confirm(ctx, ben, desktest.Deciding(r, "k"))
	w.refusedWith(refusal.ResourceChanged, err)
}

// A11: what is cancelled stays readable: by its id, in the lists, in the day's sheet and with its history.
func TestACancelledVisitStaysReadable(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	w.confirm(ana, w.propose(ana, proposal.Proposing{Action: "cancel_appointment@1", Parameters: map[string]any{"appointment": "appt_maria84", "reason_code": "patient_request"}}), "k")
	w.in(func(tx *db.Tx) error {
		v, err := tx.Visit(ctx, "appt_maria84")
		if err != nil || v.Status != clinic.StatusCancelled || v.ReasonCode != "patient_request" {
			t.Errorf("%+v %v", v, err)
		}
		listed, _, err := tx.Appointments(ctx, db.VisitFilter{Patient: "pat_maria84", Limit: 50})
		if err != nil || len(listed) == 0 || listed[0].ID != "appt_maria84" {
			t.Errorf("%d listed, %v", len(listed), err)
		}
		sheet, err := tx.DaySheet(ctx, "loc_hav12", clinic.DateOf(v.StartsAt, copenhagen(t)))
		n := 0
		for _, x := range sheet.Visits {
			if x.ID == "appt_maria84" {
				n++
			}
		}
		h, _ := tx.History(ctx, "appt_maria84")
		if err != nil || n != 1 || len(h) != 2 || h[0].Status != clinic.StatusCancelled || h[1].Status != clinic.StatusBooked {
			t.Errorf("on the sheet %d times, history %+v, %v", n, h, err)
		}
		return err
	})
}

// A08: who asked, who approved, whose time it is, and through which door, each under their own name.
func TestTheTrailNamesEachPartOfADecision(t *testing.T) {
	w := worldAt(t, "2026-06-03 09:00")
	asker := ana
	asker.Via = "api"
	w.exec(`INSERT INTO tokens (id, clinic, account, name, kind, decide, secret_hash) VALUES ('bot', 'hav', 'ana', 'bot', 'agent', false, decode(repeat('ab', 32), 'hex'))`)
	asker.Kind, asker.Agent, asker.AgentName, asker.MayDecide = clinic.KindAgent, "bot", "bot", false
	r := w.confirm(ben, w.propose(asker, move("appt_maria84", "2026-06-17T14:00")), "k")
	got := w.text(`SELECT string_agg(concat_ws(' ', action, actor_kind, actor, on_behalf_of, via, outcome, patient), '; ' ORDER BY at, action DESC) FROM audit WHERE proposal = $1`, r.ID)
	want := "proposal.propose agent bot ana api success pat_maria84; proposal.confirm user ben page success pat_maria84; appointment.move user ben page success pat_maria84"
	if got != want {
		t.Errorf("the trail says\n%s", got)
	}
	if r.CreatedBy.ID != "bot" || r.CreatedBy.OnBehalfOf == nil || r.CreatedBy.OnBehalfOf.ID != "ana" || r.DecidedBy.ID != "ben" || r.Plan.After.Practitioner.ID != "prac_holm" {
		t.Errorf("the record says %+v, decided by %+v", r.CreatedBy, r.DecidedBy)
	}
	if w.text(`SELECT changed_by || ' ' || proposal FROM appointments WHERE id = 'appt_maria84'`) != "ben "+r.ID {
		t.Error("the visit does not say who changed it")
	}
}
