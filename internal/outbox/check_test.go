package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

var (
	now    = time.Date(2026, 10, 20, 20, 0, 0, 0, time.UTC) // 22:00 in Copenhagen
	start  = time.Date(2026, 10, 22, 8, 0, 0, 0, time.UTC)
	stored = `{"messages":[{"calendar":null,"channel":"email","kind":"change","recipient":"m@example.test","send_at":null,"subject":"Moved","text":"Dear Maria"},` +
		`{"calendar":"BEGIN","channel":"email","kind":"reminder","recipient":"m@example.test","send_at":"2026-10-20T19:00:00Z","subject":"Soon","text":"Dear"}],` +
		`"proposal":"p","revision":2,"steps":[{"appointment":"a"},{"appointment":null}]}`
)

func hashOf(plan string) string {
	sum := sha256.Sum256([]byte("countersign.plan.v1\n" + plan))
	return hex.EncodeToString(sum[:])
}

func change() (Message, Facts) {
	return Message{Appointment: "a", Version: 3, Kind: Change, Channel: Email, Recipient: "m@example.test", Subject: "Moved", Text: "Dear Maria", Proposal: "p", Revision: 2, PlanHash: hashOf(stored)},
		Facts{Now: now, Action: "reschedule_appointment@1", Confirmed: true, PlanBytes: []byte(stored), Visit: &Visit{Version: 3, Status: "booked", StartsAt: start},
			Patient: &Patient{Contact: "email", Email: "m@example.test", Phone: "+4520123456"}, Zone: "Europe/Copenhagen"}
}

func TestAMessageIsJudgedJustBeforeItIsSent(t *testing.T) {
	night := func(m *Message, f *Facts) {
		due := time.Date(2026, 10, 20, 19, 0, 0, 0, time.UTC)
		m.Kind, m.Subject, m.Text, m.Calendar, m.SendAt = Reminder, "Soon", "Dear", "BEGIN", &due
	}
	for name, c := range map[string]struct {
		with func(*Message, *Facts)
		want string
	}{
		"as it should be":             {func(*Message, *Facts) {}, " "},
		"nobody confirmed":            {func(_ *Message, f *Facts) { f.Confirmed = false }, "dead not_confirmed"},
		"the visit moved on":          {func(_ *Message, f *Facts) { f.Visit.Version = 4 }, "superseded visit_changed"},
		"arrived, and taken back":     {func(_ *Message, f *Facts) { f.Visit.Version, f.Visit.OnlyStatus = 5, true }, " "},
		"arrived for the second time": {func(_ *Message, f *Facts) { f.Visit.Version, f.Visit.OnlyStatus, f.Visit.Status = 6, true, "arrived" }, "superseded visit_changed"},
		"an older visit":              {func(_ *Message, f *Facts) { f.Visit.Version = 2 }, "superseded visit_changed"},
		"cancelled":                   {func(_ *Message, f *Facts) { f.Visit.Status = "cancelled" }, "superseded visit_changed"},
		"arrived":                     {func(_ *Message, f *Facts) { f.Visit.Status = "arrived" }, "superseded visit_changed"},
		"no visit":                    {func(_ *Message, f *Facts) { f.Visit = nil }, "superseded visit_changed"},
		"deceased":                    {func(_ *Message, f *Facts) { f.Patient.Deceased = true }, "suppressed deceased"},
		"wants SMS by now":            {func(_ *Message, f *Facts) { f.Patient.Contact = "sms" }, "suppressed no_consent"},
		"wants none by now":           {func(_ *Message, f *Facts) { f.Patient.Contact = "none" }, "suppressed no_consent"},
		"another address":             {func(_ *Message, f *Facts) { f.Patient.Email = "n@example.test" }, "suppressed recipient_changed"},
		"no address":                  {func(_ *Message, f *Facts) { f.Patient.Email = "" }, "suppressed recipient_changed"},
		"no patient":                  {func(_ *Message, f *Facts) { f.Patient = nil }, "suppressed recipient_changed"},
		"a second before":             {func(_ *Message, f *Facts) { f.Now = start.Add(-time.Second) }, " "},
		"the visit begins":            {func(_ *Message, f *Facts) { f.Now = start }, "expired too_late"},
		"other bytes":                 {func(_ *Message, f *Facts) { f.PlanBytes = []byte(strings.Replace(stored, "Dear", "Dead", 1)) }, "dead plan_mismatch"},
		"another text":                {func(m *Message, _ *Facts) { m.Text += "." }, "dead plan_mismatch"},
		"another recipient":           {func(m *Message, f *Facts) { m.Recipient, f.Patient.Email = "x@example.test", "x@example.test" }, "dead plan_mismatch"},
		"another subject":             {func(m *Message, _ *Facts) { m.Subject = "" }, "dead plan_mismatch"},
		"a calendar more":             {func(m *Message, _ *Facts) { m.Calendar = "BEGIN" }, "dead plan_mismatch"},
		"another kind":                {func(m *Message, _ *Facts) { m.Kind = Confirmation }, "dead plan_mismatch"},
		"another channel":             {func(m *Message, _ *Facts) { m.Channel = SMS }, "dead plan_mismatch"},
		"another hour":                {func(m *Message, _ *Facts) { m.SendAt = &start }, "dead plan_mismatch"},
		"another visit":               {func(m *Message, _ *Facts) { m.Appointment = "b" }, "dead plan_mismatch"},
		"another revision":            {func(m *Message, _ *Facts) { m.Revision = 1 }, "dead plan_mismatch"},
		"another plan":                {func(m *Message, _ *Facts) { m.Proposal = "q" }, "dead plan_mismatch"},
		"a reminder at night":         {night, "queued quiet_hours"},
		"of somebody elsewhere":       {func(m *Message, f *Facts) { night(m, f); f.Zone = "America/Chicago" }, " "},
		"before an early visit": {func(m *Message, f *Facts) {
			night(m, f)
			f.Visit.StartsAt = time.Date(2026, 10, 21, 6, 0, 0, 0, time.UTC)
		}, " "},
		"just after the night": {func(m *Message, f *Facts) {
			night(m, f)
			f.Visit.StartsAt = time.Date(2026, 10, 21, 6, 15, 0, 0, time.UTC)
		}, "queued quiet_hours"},
		"one of many, at night":  {func(_ *Message, f *Facts) { f.Action = "bulk_change@1" }, "queued quiet_hours"},
		"cancellation of booked": {func(m *Message, f *Facts) { asCancellation(m, f); f.Visit.Status = "booked" }, "superseded visit_changed"},
		"cancellation":           {asCancellation, " "},
		"cancellation too late":  {func(m *Message, f *Facts) { asCancellation(m, f); f.Now = start }, "expired too_late"},
		"free, other preference": {func(m *Message, f *Facts) { asFree(m, f); f.Patient.Contact = "phone" }, " "},
		"free, none":             {func(m *Message, f *Facts) { asFree(m, f); f.Patient.Contact = "none" }, "suppressed no_consent"},
		"free, other address":    {func(m *Message, f *Facts) { asFree(m, f); f.Patient.Email = "n@example.test" }, "suppressed recipient_changed"},
		"free, days later":       {func(m *Message, f *Facts) { asFree(m, f); m.QueuedAt = now.Add(-72 * time.Hour) }, "expired too_late"},
	} {
		m, f := change()
		c.with(&m, &f)
		v := Check(m, f, DefaultQuiet)
		if got := v.State + " " + v.Code; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if want := time.Date(2026, 10, 21, 6, 0, 0, 0, time.UTC); v.Code == CodeQuietHours && !v.Until.Equal(want) {
			t.Errorf("%s: held back until %v", name, v.Until)
		}
	}
}

// as puts the message itself into the plan.
func as(m *Message, f *Facts, from, to string) {
	plan := strings.Replace(stored, from, to, 1)
	f.PlanBytes, m.PlanHash = []byte(plan), hashOf(plan)
}

func asCancellation(m *Message, f *Facts) {
	m.Kind, f.Visit.Status = Cancellation, "cancelled"
	as(m, f, `"change"`, `"cancellation"`)
}

func asFree(m *Message, f *Facts) {
	m.Kind, m.Appointment, m.QueuedAt, f.Visit = Free, "", now.Add(-time.Minute), nil
	as(m, f, `"change"`, `"message"`)
}
