package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// queueForm is the page whose rows are ticked.
func queueForm(echo.Context) string { return queuePath }

// ticked is a row as it stood where it was ticked.
type ticked struct {
	id, hash, key, decision, note string
	revision                      int
}

// reviewTogether is POST /queue/review: the cards of the ticked rows, in the order of the queue. It decides nothing.
// Fields: pick.ID = REVISION.HASH.
func (s *Server) reviewTogether(c echo.Context) error {
	var list []ticked
	var wrong []refusal.Field
	for name, v := range form(c) {
		id, ok := strings.CutPrefix(name, "pick.")
		revision, hash, _ := strings.Cut(v[0], ".")
		if !ok || !clinic.ValidID(id) || !digits.MatchString(revision) || !hashShape.MatchString(hash) {
			wrong = append(wrong, refusal.Field{Name: name, Message: "Load the queue again and tick there."})
			continue
		}
		list = append(list, ticked{id: id, revision: whole(revision), hash: hash})
	}
	if len(wrong) == 0 && (len(list) == 0 || len(list) > proposal.MostTogether) {
		wrong = append(wrong, refusal.Field{Name: "pick", Message: fmt.Sprintf("Tick 1 to %d proposals.", proposal.MostTogether)})
	}
	if len(wrong) > 0 {
		return refusal.Invalid(wrong...)
	}
	return s.togetherPage(c, list, http.StatusOK, nil)
}

// togetherPage draws the list as it stands now; that each was shown is on the trail. What is not here is not found.
func (s *Server) togetherPage(c echo.Context, list []ticked, status int, refused *refusal.Error) error {
	by, ctx := actor(c), c.Request().Context()
	p := views.TogetherPage{Viewer: by.Person}
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		p.Items = nil
		if p.Shell, err = s.shell(c, t, views.NavQueue, ""); err != nil {
			return err
		}
		second, err := t.SecondPersonDecides(ctx)
		if err != nil {
			return err
		}
		found, err := t.ProposalsNow(ctx, idsOf(list))
		if err != nil {
			return err
		}
		var shown []audit.Event
		var cards []proposal.Showing
		for _, k := range list {
			r, ok := found[k.id]
			if !ok {
				return refusal.New(refusal.NotFound)
			}
			item := views.TogetherItem{Record: r, Key: k.key, Ticked: k.revision, Other: k.revision != r.Revision || k.hash != r.PlanHash, Decision: k.decision,
				Note: k.note, Confirm: permission(proposal.MayConfirm(by, r, r.Risk, second))}
			if item.Key == "" {
				item.Key = s.Desk.IDs("key")
			}
			p.Items = append(p.Items, item)
			shown = append(shown, s.proposalRead(t, by, r))
			if !r.Tampered() {
				var card bytes.Buffer
				if err := views.TogetherFacts(p, item).Render(ctx, &card); err != nil {
					return err
				}
				cards = append(cards, proposal.Showing{ID: s.Desk.IDs("shw"), Proposal: r.ID, Revision: r.Revision, PlanHash: r.PlanHash, Card: card.Bytes(), By: by, Via: by.Via})
			}
		}
		slices.SortStableFunc(p.Items, func(a, b views.TogetherItem) int {
			return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
		})
		if _, err := t.Show(ctx, false, cards...); err != nil {
			return err
		}
		return t.Audit(ctx, shown...)
	})
	if err != nil {
		return err
	}
	if refused != nil {
		p.Refusal = pageRefusal(refused)
		c.Set(codeKey, refused.Code)
	}
	return s.render(c, status, views.Together(p))
}

func idsOf(list []ticked) (ids []string) {
	for _, k := range list {
		ids = append(ids, k.id)
	}
	return ids
}

// decideTogether is POST /queue/decisions. Fields, numbered from 0: proposal.N, revision.N, plan_hash.N, idempotency_key.N,
// decision.N (approve, reject, leave) and reason.N.
func (s *Server) decideTogether(c echo.Context) error {
	f := form(c)
	var list []ticked
	var wrong []refusal.Field
	for name := range f {
		kind, n, _ := strings.Cut(name, ".")
		if !slices.Contains([]string{"proposal", "revision", "plan_hash", "idempotency_key", "decision", "reason"}, kind) || !digits.MatchString(n) || !f.Has("proposal."+n) {
			wrong = append(wrong, refusal.Field{Name: name, Message: "This form has no such field."})
		}
	}
	for i := 0; f.Has("proposal." + strconv.Itoa(i)); i++ {
		n := "." + strconv.Itoa(i)
		k := ticked{id: f.Get("proposal" + n), hash: f.Get("plan_hash" + n), key: f.Get("idempotency_key" + n), decision: f.Get("decision" + n), note: f.Get("reason" + n)}
		if !clinic.ValidID(k.id) || !digits.MatchString(f.Get("revision"+n)) || !hashShape.MatchString(k.hash) {
			wrong = append(wrong, refusal.Field{Name: "proposal" + n, Message: "Load the queue again and tick there."})
		}
		if !slices.Contains([]string{"", "approve", "reject", "leave"}, k.decision) {
			wrong = append(wrong, refusal.Field{Name: "decision" + n, Message: "Choose approve, reject or leave."})
		}
		k.revision = whole(f.Get("revision" + n))
		list = append(list, k)
	}
	if len(wrong) > 0 {
		return refusal.Invalid(wrong...)
	}
	var items []proposal.One
	for _, k := range list {
		if k.decision == "approve" || k.decision == "reject" {
			items = append(items, proposal.One{Approve: k.decision == "approve",
				Decision: proposal.Decision{Proposal: k.id, Revision: k.revision, PlanHash: k.hash, Key: k.key, Reason: orNilText(k.note)}})
		}
	}
	if len(items) == 0 && len(list) > 0 {
		return s.togetherPage(c, list, http.StatusUnprocessableEntity, refusal.New(refusal.ValidationFailed, "Nothing was chosen, and nothing was done."))
	}
	out, err := s.Desk.DecideTogether(c.Request().Context(), actor(c), items)
	if err != nil {
		return err
	}
	return s.togetherResults(c, out)
}

func (s *Server) togetherResults(c echo.Context, out []proposal.Decided) error {
	var p views.TogetherDone
	err := s.read(c, func(t *db.Tx) (err error) {
		ctx := c.Request().Context()
		if p.Shell, err = s.shell(c, t, views.NavQueue, ""); err != nil {
			return err
		}
		var ids []string
		for _, d := range out {
			ids = append(ids, d.Proposal)
		}
		found, err := t.ProposalsNow(ctx, ids)
		if err != nil {
			return err
		}
		for _, d := range out {
			r := views.TogetherResult{ID: d.Proposal}
			if now, ok := found[d.Proposal]; ok {
				r.Title, r.State, r.Outcome = now.Summary.Title, now.State, now.Outcome
			}
			if d.Err != nil {
				r.Refusal = pageRefusal(s.refusalOf(c, d.Err))
			}
			p.Results = append(p.Results, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.TogetherResults(p))
}

// apiDecisions is POST /decisions: a result for each, in the order given.
func (s *Server) apiDecisions(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	given, ok := b.any("items").([]any)
	if !ok {
		b.bad("items", "Give a list.")
	}
	items := make([]proposal.One, len(given))
	for i, v := range given {
		m, _ := v.(map[string]any)
		one := &body{members: m, known: map[string]bool{}}
		d := proposal.Decision{Proposal: one.text("proposal", true), Revision: one.number("revision"), PlanHash: one.text("plan_hash", true),
			Key: one.text("idempotency_key", true), Reason: one.any("reason")}
		decision := one.text("decision", true)
		if decision != "" && decision != "approve" && decision != "reject" {
			one.bad("decision", "Give approve or reject.")
		}
		items[i] = proposal.One{Decision: d, Approve: decision == "approve"}
		if r := refusal.Of(one.refuse()); r != nil {
			for _, f := range r.Fields {
				b.bad(fmt.Sprintf("items.%d.%s", i, f.Name), f.Message)
			}
		}
	}
	if err := b.refuse(); err != nil {
		return err
	}
	out, err := s.Desk.DecideTogether(c.Request().Context(), actor(c), items)
	if err != nil {
		return err
	}
	results := make([]map[string]any, len(out))
	for i, d := range out {
		results[i] = map[string]any{"proposal": d.Proposal}
		if d.Err != nil {
			r := s.refusalOf(c, d.Err)
			results[i]["status"], results[i]["error"] = answers[r.Code].status, errorBody(r, answers[r.Code])["error"]
			continue
		}
		var said struct {
			Outcome string          `json:"outcome"`
			Result  json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(d.Answer.Body, &said); err != nil {
			return err
		}
		results[i]["status"], results[i]["outcome"], results[i]["replayed"] = d.Answer.Status, said.Outcome, d.Answer.Replayed
		if said.Result != nil {
			results[i]["result"] = said.Result
		}
	}
	return s.json(c, http.StatusOK, map[string]any{"results": results})
}
