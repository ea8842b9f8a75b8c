package gallery

import (
	"time"

	"countersign/internal/refusal"
	"countersign/views"
)

func proposes() []Item {
	nothing := moveForm()
	nothing.Times.Days = nil
	taken := moveForm()
	taken.StartsAt = value(at(27, 14, 15))
	taken.Refusal = views.Refusal{Status: 422, Code: "slot_taken", Title: "That time is taken", Words: "Somebody got Tuesday 27 October, 14:15 with Dr Ben Okafor first. Nothing was proposed.", Next: "Pick another one; none is chosen for you."}
	taken.Alternatives = []views.Slot{start(at(27, 14, 45)), start(at(27, 15, 30)), start(at(28, 9, 0))}
	twice := moveForm()
	twice.Refusal = views.Refusal{Status: 422, Code: "time_is_ambiguous", Title: "That time exists twice", Words: "The clocks go back on this night, so 02:30 comes twice."}
	twice.Choices = []views.Slot{start(time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)), start(time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC))}
	twice.Times.Days = append([]views.SlotDay{{Date: "2026-10-25", Slots: twice.Choices}}, twice.Times.Days...)
	wrong := moveForm()
	wrong.Message, wrong.Reason, wrong.FromText = "Kære Maria, lægen er på kursus.", "Course that day", "next tuesday"
	wrong.Refusal = views.Refusal{Status: 422, Code: "validation_failed", Title: "The form is not complete", Words: "Nothing was proposed. What you typed is still here.", Fields: []refusal.Field{
		{Name: "starts_at", Message: "Pick a start."}, {Name: "message", Message: "The message is longer than 500 characters."}, {Name: "from", Message: "“next tuesday” is no date. Write 27-Oct-2026, or +3d."}}}
	edit := moveForm()
	edit.Proposal, edit.Revision, edit.PlanHash, edit.StartsAt, edit.Practitioner = "2231", 1, hashA, value(at(27, 14, 15)), "okafor"
	book := bookForm()
	who := book
	who.Patient, who.Search = views.Person{}, views.PatientSearch{Booking: views.Booking{Wanted: true, Practitioner: "holm", Location: "h12", StartsAt: value(at(21, 12, 30))}}
	marias := who
	marias.Search.Query, marias.Found = "maria", []views.Person{maria84, maria91}
	fresh := book
	fresh.Times = views.SlotList{}
	cancel := moveForm()
	cancel.Action = views.ActionCancel
	missing := cancel
	missing.Refusal = views.Refusal{Status: 422, Code: "validation_failed", Title: "The form is not complete", Words: "Nothing was proposed.", Fields: []refusal.Field{{Name: "reason_code", Message: "Say why it is cancelled."}}}
	away := book
	away.Times = views.SlotList{Asked: true, Zone: kona, Later: "2026-10-28", Days: []views.SlotDay{{Date: "2026-10-23", Slots: []views.Slot{start(wall(kona, 2026, 10, 23, 9, 0)), start(wall(kona, 2026, 10, 23, 9, 15))}}}}
	return []Item{
		{Name: "propose-move", Component: views.Propose(moveForm())},
		{Name: "propose-move-nothing-free", Component: views.Propose(nothing)},
		{Name: "propose-move-slot-taken", Component: views.Propose(taken)},
		{Name: "propose-move-ambiguous", Component: views.Propose(twice)},
		{Name: "propose-move-errors", Component: views.Propose(wrong)},
		{Name: "propose-edit", Component: views.Propose(edit)},
		{Name: "propose-book", Component: views.Propose(book)},
		{Name: "propose-book-who", Component: views.Propose(who)},
		{Name: "propose-book-marias", Component: views.Propose(marias)},
		{Name: "propose-book-no-times", Component: views.Propose(fresh)},
		{Name: "propose-book-kona", Component: views.Propose(away)},
		{Name: "propose-cancel", Component: views.Propose(cancel)},
		{Name: "propose-cancel-errors", Component: views.Propose(missing)},
	}
}

func value(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func start(t time.Time) views.Slot {
	return views.Slot{Value: value(t), StartsAt: t, EndsAt: t.Add(30 * time.Minute)}
}

func week() views.SlotList {
	day := func(date string, d int, clocks ...int) views.SlotDay {
		out := views.SlotDay{Date: date}
		for _, c := range clocks {
			out.Slots = append(out.Slots, start(at(d, c/100, c%100)))
		}
		return out
	}
	return views.SlotList{Asked: true, Zone: copenhagen, Earlier: "2026-10-21", Later: "2026-11-03", Days: []views.SlotDay{
		day("2026-10-27", 27, 800, 815, 830, 1000, 1015, 1300, 1315, 1330, 1345, 1400, 1415, 1430, 1445, 1500, 1530),
		day("2026-10-28", 28, 900, 915, 1130), day("2026-10-29", 29, 1230), day("2026-11-02", 33, 800, 815, 830, 845, 900, 915, 930)}}
}

func moveForm() views.ProposePage {
	v := booked()
	return views.ProposePage{Shell: shell(""), Action: views.ActionMove, IdempotencyKey: "5f0c9a2e", Visit: &v, Practitioner: "okafor", Location: "h12", From: "2026-10-27", Notify: true,
		Practitioners: []views.Option{{Value: "holm", Label: "Dr Anna Holm"}, {Value: "okafor", Label: "Dr Ben Okafor"}}, Locations: []views.Option{{Value: "h12", Label: "Havnegade 12"}, {Value: "annex", Label: "Havnegade Annex"}},
		Types: []views.Option{{Value: "std", Label: "Standard, 30 min"}, {Value: "long", Label: "Long, 1 h"}}, Times: week()}
}

func bookForm() views.ProposePage {
	p := moveForm()
	p.Action, p.Visit, p.Patient, p.Type, p.StartsAt = views.ActionBook, nil, aoife, "std", value(at(27, 8, 0))
	return p
}
