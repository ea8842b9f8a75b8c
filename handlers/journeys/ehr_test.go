package journeys

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// withEHR has Havnegade keep its visits in a faulty EHR, which knows one of them. The lane takes a step when it is told.
func (w *world) withEHR(visit string) (*ehrtest.Server, *ehr.Lane) {
	w.t.Helper()
	w.desk.EHR = func(string) bool { return true }
	fake := ehrtest.New(ehrtest.Mode{}, ehrtest.NewClock(time.Now()))
	w.t.Cleanup(fake.Close)
	client, err := ehr.NewClient(ehr.Connection{URL: "http://ehr.test/fhir"}, fake)
	w.must(err)
	var patient, practitioner, location string
	w.must(w.root.QueryRow(`SELECT patient, practitioner, location FROM appointments WHERE id = $1`, visit).Scan(&patient, &practitioner, &location))
	starts := w.start(visit)
	id := fake.Visit(patient, practitioner, location, starts, starts.Add(30*time.Minute))
	w.exec(`INSERT INTO ehr_links (clinic, kind, id, remote_id, remote_version) SELECT clinic, 'Appointment', id, $2, '1' FROM appointments WHERE id = $1`, visit, id)
	return fake, &ehr.Lane{Clinic: w.row(`SELECT clinic FROM appointments WHERE id = $1`, visit), Client: client, Store: db.Operations{DB: w.pool},
		Desk: ehr.ProposalDesk{Service: w.desk}, IDs: desktest.ID, Log: slog.New(slog.NewJSONHandler(w.log, nil))}
}

// step has the lane do what is due, all that waits being due now.
func (w *world) step(l *ehr.Lane) {
	w.t.Helper()
	w.exec(`UPDATE ehr_lanes SET paused_until = NULL`)
	w.exec(`UPDATE ehr_operations SET next_at = app_now() WHERE ended_at IS NULL`)
	_, err := l.Once(context.Background())
	w.must(err)
}

// A person confirms, and the EHR's answer is lost after it has booked: nobody reads "done" before the EHR is known to
// have it, nobody reads "failed", nothing is sent twice, and the patient is told once, afterwards.
func TestTheAnswerOfTheEHRIsLost(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		fake, lane := w.withEHR("appt_maria84")
		fake.Script(ehrtest.Rule{Method: "PUT", To: 1, Fault: ehrtest.Fault{Name: "lost", Drop: true}})
		p := w.person("staff@demo.test", scripts)
		id, at := p.asked("appt_maria84", 2)
		p.swap("#confirm")
		p.says("Accepted, waiting for the EHR", "nobody has been told", "Sent once the EHR has the change")
		p.saysNot("Completed")
		p.noConfirm()
		p.look()
		w.stored("executing unknown", `SELECT state, outcome FROM inspect.proposals WHERE id = $1`, id)
		was := w.visit("appt_maria84")

		w.step(lane)
		if scripts {
			p.until(`document.body.innerText.includes("Not confirmed yet, we are checking")`)
		} else {
			p.follow("#look")
		}
		p.says("Not confirmed yet, we are checking", "Do not ask for it a second time")
		p.noConfirm()
		w.stored("0", `SELECT count(*) FROM inspect.outbox`)
		if now := w.visit("appt_maria84"); now != was {
			t.Errorf("the visit is %s while nobody knows", now)
		}

		w.step(lane)
		if scripts {
			p.until(`document.body.innerText.includes("Completed: Maria Jensen’s visit is moved")`)
		} else {
			p.follow("#look")
		}
		p.says("Completed: Maria Jensen’s visit is moved")
		p.look()
		w.stored("booked prac_holm "+at+" 2 1", `SELECT status, practitioner, to_char(starts_at AT TIME ZONE 'UTC', `+utc+`), version,
			(SELECT count(*) FROM inspect.outbox WHERE kind = 'change') FROM inspect.appointments WHERE id = 'appt_maria84'`)
		if n := fake.Count("PUT", "Appointment"); n != 1 {
			t.Errorf("the EHR was written to %d times", n)
		}
	})
}

// The EHR says that the time is taken: the visit stays, the time is free again here, and other times are offered.
func TestTheEHRSaysThatTheTimeIsTaken(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		fake, lane := w.withEHR("appt_maria84")
		fake.Script(ehrtest.Rule{Method: "PUT", Fault: ehrtest.Status("taken", 409, "conflict", "slot-taken")})
		p := w.person("staff@demo.test", scripts)
		id, _ := p.asked("appt_maria84", 2)
		was := w.visit("appt_maria84")
		p.swap("#confirm")
		p.says("Accepted, waiting for the EHR")
		w.step(lane)
		w.step(lane)
		if scripts {
			p.until(`document.body.innerText.includes("Not done")`)
		} else {
			p.follow("#look")
		}
		p.says("Not done: the time is taken in the EHR", "Nothing was changed", "Nobody was told")
		p.look()
		w.stored("failed failed", `SELECT state, outcome FROM inspect.proposals WHERE id = $1`, id)
		w.stored("0 0", `SELECT (SELECT count(*) FROM inspect.outbox), (SELECT count(*) FROM slots WHERE held_by IS NOT NULL)`)
		if now := w.visit("appt_maria84"); now != was {
			t.Errorf("the visit is %s", now)
		}
	})
}
