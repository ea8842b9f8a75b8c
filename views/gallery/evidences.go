package gallery

import (
	"countersign/internal/clinic"
	"countersign/internal/evidence"
	"countersign/internal/proposal"
	"countersign/views"
)

// evidences are the evidence of a move that is whole, and of one that was tampered with.
func evidences() []Item {
	admin := shell(views.NavAudit)
	admin.Person, admin.Role = "Tove Madsen", "admin"
	took := 41.5
	before := evidence.Version{Appointment: "appt_maria91", Version: 4, Status: "booked", Practitioner: "prac_okafor", Location: "loc_hav12", Type: "type_standard", From: at(22, 10, 0), To: at(22, 10, 30)}
	after := before
	after.Version, after.From, after.To = 5, at(27, 14, 15), at(27, 14, 45)
	card := `<span data-plan="` + hashB + `">Move Maria Jensen’s Standard visit</span><table class="diff"><caption class="hide">What changes</caption><thead><tr><th scope="col"><span class="hide">Detail</span></th><th scope="col">Now</th><th scope="col" class="to">Proposed</th></tr></thead><tbody><tr class="chg"><th scope="row">Date</th><td>Thursday 22 October 2026</td><td class="to">Tuesday 27 October 2026</td></tr></tbody></table><h2>Risk <span class="tag medium">Medium</span></h2>`
	whole := evidence.Evidence{
		Proposal: evidence.About{ID: "prp_k3f9a2m7q5", Action: views.ActionMove, State: proposal.StateCompleted, Outcome: proposal.OutcomeCompleted, Revision: 2, AskedBy: clinic.Ref{ID: "ida", Name: "Ida Skov"},
			Via: "page", Reason: "She works in the mornings", AskedAt: at(21, 10, 58), ExpiresAt: at(21, 11, 13)},
		Equalities: []evidence.Equality{{About: "approved", Verdict: evidence.Equal, Words: "The plan that ran is the plan that was approved: " + hashB[:12] + ", computed again from the stored bytes"},
			{About: "shown", Verdict: evidence.Equal, Words: "The card that Jonas Friis saw at 2026-10-21 09:02:10Z (page), before they approved it, was of that plan"},
			{About: "executed", Verdict: evidence.Equal, Words: "The visit stands as the plan says, in version 5"},
			{About: "sent", Verdict: evidence.Equal, Words: "The message handed over is the message on the card, byte for byte (sms)"},
			{About: "sealed", Verdict: evidence.Unknown, Words: "3 of 4 entries are sealed into the chain; the others wait for it"}},
		Revisions: []evidence.Plan{{Revision: 2, PlanHash: hashB, Computed: hashB, By: clinic.Ref{Name: "Ida Skov"}, At: at(21, 10, 58)}},
		Showings:  []evidence.Shown{{Person: clinic.Ref{Name: "Jonas Friis"}, Via: "page", At: at(21, 11, 2), Revision: 2, PlanHash: hashB, CardHash: hashA}},
		Cards:     []evidence.Card{{Hash: hashA, Computed: hashA, Revision: 2, Kind: "html", Content: card}},
		Decisions: []evidence.Decision{{Action: "proposal.confirm", Outcome: "success", By: clinic.Ref{ID: "jonas", Name: "Jonas Friis"}, Kind: "user", Via: "page", At: at(21, 11, 3), Revision: 2, PlanHash: hashB, Risk: "medium", Reasons: []string{"The message is free text"}, Key: true, Seconds: &took}},
		Changes:   []evidence.Change{{Appointment: "appt_maria91", Before: &before, After: &after}},
		Messages:  []evidence.Sent{{ID: "m1", State: "sent", PlanHash: hashB, Message: proposal.Message{Kind: "change", Channel: "sms", Recipient: "+45 00 20 08 71", Text: changeText}}},
		Trail:     []evidence.Written{{ID: "aud_1", At: at(21, 11, 3), By: "Jonas Friis", Action: "proposal.confirm", Outcome: "success", Whole: true}},
	}
	bad := whole
	bad.Equalities = append([]evidence.Equality{{About: "revision", Verdict: evidence.NotEqual, Words: "NOT EQUAL: revision 2: the stored bytes no longer have the hash " + hashB[:12]}}, whole.Equalities[1:]...)
	bad.Cards = []evidence.Card{{Hash: hashA, Computed: hashB, Revision: 2, Kind: "html"}}
	return []Item{{Name: "evidence", Component: views.EvidenceOf(views.EvidencePage{Shell: admin, Evidence: whole})},
		{Name: "evidence-tampered", Component: views.EvidenceOf(views.EvidencePage{Shell: admin, Evidence: bad})}}
}
