package handlers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

const (
	// offeredDays is how long after a visit, or after the leave, other times are looked for.
	offeredDays = 21
	// offeredEach is how many times are offered for one visit.
	offeredEach = 4
)

// bulkChoices offers for each visit the nearest free times of its type: of the same practitioner after the leave, or of
// another at the same location; else to cancel it. The nearest one that no visit above has is chosen beforehand, shown
// and to be changed; what v holds goes before. l is the leave that is not saved yet, nil for none.
func (s *Server) bulkChoices(ctx context.Context, t *db.Tx, visits []clinic.Visit, v url.Values, l *clinic.Leave) ([]views.BulkChoice, error) {
	names := map[string]string{}
	offers, err := t.Practitioners(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		names[o.ID] = o.Name
	}
	places, zones := map[string]clinic.Location{}, map[string]*time.Location{}
	locations, err := t.Locations(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range locations {
		places[x.ID] = x
		if zones[x.ID], err = clinic.LoadZone(x.Zone); err != nil {
			return nil, err
		}
	}
	starts, taken := map[string][]clinic.Start{}, map[string]bool{}
	out := make([]views.BulkChoice, 0, len(visits))
	for _, visit := range visits {
		if _, known := starts[visit.Type.ID]; !known {
			from, to := visits[0].StartsAt, visits[len(visits)-1].EndsAt.AddDate(0, 0, offeredDays)
			if l != nil {
				_, end := clinic.DayBounds(l.To.AddDays(offeredDays), time.UTC)
				to = end
			}
			if starts[visit.Type.ID], err = t.FreeStarts(ctx, db.StartFilter{Type: visit.Type.ID, From: from, To: to}); err != nil {
				return nil, err
			}
		}
		near := clinic.NearestStarts(starts[visit.Type.ID], visit.StartsAt, offeredEach, taken, func(st clinic.Start) bool {
			if st.Practitioner != visit.Practitioner.ID {
				return st.Location == visit.Location.ID
			}
			return l == nil || !clinic.OnLeave([]clinic.Leave{*l}, l.Practitioner, clinic.Interval{From: st.StartsAt, To: st.EndsAt}, zones[st.Location])
		})
		c := views.BulkChoice{Visit: visit}
		wanted := v.Get("choice-" + visit.ID)
		for i, st := range near {
			value := startChoice(st.StartsAt, st.Practitioner, st.Location)
			at := st.StartsAt.In(zones[st.Location])
			label := fmt.Sprintf("%s, %s, %s", views.ShortDate(at), views.Clock(at), names[st.Practitioner])
			if st.Location != visit.Location.ID {
				label += ", " + places[st.Location].Name
			}
			c.Options = append(c.Options, views.Option{Value: value, Label: label, Selected: value == wanted})
			if i == 0 && wanted == "" || value == wanted {
				for _, id := range st.Slots {
					taken[id] = true
				}
			}
		}
		if at, practitioner, location, ok := readStart(wanted); ok && !offered(c.Options, wanted) && zones[location] != nil {
			local := at.In(zones[location])
			c.Options = append([]views.Option{{Value: wanted, Label: fmt.Sprintf("%s, %s, %s", views.ShortDate(local), views.Clock(local), names[practitioner]), Selected: true}}, c.Options...)
		}
		c.Options = append(c.Options, views.Option{Value: views.ChoiceCancel, Label: "Cancel the visit", Selected: wanted == views.ChoiceCancel},
			views.Option{Value: views.ChoiceKeep, Label: "Leave it as it is", Selected: wanted == views.ChoiceKeep})
		if wanted == "" {
			c.Options[0].Selected = true
		}
		out = append(out, c)
	}
	return out, nil
}

func offered(list []views.Option, value string) bool {
	for _, o := range list {
		if o.Value == value {
			return true
		}
	}
	return false
}

func startChoice(at time.Time, practitioner, location string) string {
	return slotValue(at) + "|" + practitioner + "|" + location
}

func readStart(choice string) (at time.Time, practitioner, location string, ok bool) {
	parts := strings.Split(choice, "|")
	if len(parts) != 3 {
		return at, "", "", false
	}
	at, ok = instantOfText(parts[0])
	return at, parts[1], parts[2], ok && clinic.ValidID(parts[1]) && clinic.ValidID(parts[2])
}

// itemsOf are the items of a bulk from what was chosen for the visits, in their order; those left as they are are none.
func itemsOf(v url.Values, visits []clinic.Visit, reason string) (items []any) {
	for _, visit := range visits {
		choice := v.Get("choice-" + visit.ID)
		if choice == "" || choice == views.ChoiceKeep {
			continue
		}
		item := map[string]any{"appointment": visit.ID}
		if _, practitioner, location, ok := readStart(choice); ok {
			at, _, _ := strings.Cut(choice, "|")
			item["starts_at"] = at
			if practitioner != visit.Practitioner.ID {
				item["practitioner"] = practitioner
			}
			if location != visit.Location.ID {
				item["location"] = location
			}
		} else { // what is no time is left for the action to refuse
			item["cancel"], item["reason_code"] = choice == views.ChoiceCancel, reason
		}
		items = append(items, item)
	}
	return items
}

// nameWrong puts what was refused of an item beside its line.
func nameWrong(list []views.BulkChoice, r *refusal.Error, items []any) {
	if r == nil {
		return
	}
	say := func(i int, words string) {
		if i < 0 || i >= len(items) {
			return
		}
		id := items[i].(map[string]any)["appointment"]
		for k := range list {
			if list[k].Visit.ID == id {
				list[k].Wrong = words
			}
		}
	}
	for _, f := range r.Fields {
		var i int
		if _, err := fmt.Sscanf(f.Name, "items[%d]", &i); err == nil {
			say(i, f.Message)
		}
	}
	if i, ok := r.Details["item"].(int); ok {
		say(i, pageRefusal(r).Words)
	}
}

// newBulk is GET /proposals/bulk?like=: the form of a new bulk like an older one.
func (s *Server) newBulk(c echo.Context) error {
	if err := proposal.MayPropose(actor(c), views.ActionBulk); err != nil {
		return err
	}
	like := c.QueryParam("like")
	if !clinic.ValidID(like) {
		return refusal.New(refusal.NotFound)
	}
	p, err := s.bulkFormPage(c, like, url.Values{}, nil, false)
	if err != nil {
		return err
	}
	p.Like = like
	return s.render(c, http.StatusOK, views.BulkForm(p))
}

// bulkFormPage reads the form of a bulk from the plan of a proposal, with what was chosen laid over it. Errors: not_found
// for what is no bulk.
func (s *Server) bulkFormPage(c echo.Context, like string, v url.Values, refused *refusal.Error, edit bool) (views.BulkFormPage, error) {
	by, ctx := actor(c), c.Request().Context()
	var p views.BulkFormPage
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		r, err := t.Proposal(ctx, like)
		if err != nil {
			return err
		}
		if !r.Plan.IsBulk() {
			return refusal.New(refusal.NotFound)
		}
		p = views.BulkFormPage{Title: r.Summary.Title, Message: param(r.Plan.Parameters, "message"), Notify: r.Plan.Parameters["notify"] != false, IdempotencyKey: s.Desk.IDs("key")}
		if edit {
			p.Proposal, p.Revision, p.PlanHash = r.ID, r.Revision, r.PlanHash
		}
		if v.Has(notifyShown) {
			p.Message, p.Notify, p.Why = v.Get("message"), v.Get("notify") == "true", v.Get("reason")
		}
		if p.Shell, err = s.shell(c, t, "", ""); err != nil {
			return err
		}
		visits, chosen, reason, err := planned(ctx, t, r.Plan, v)
		if err != nil {
			return err
		}
		if p.Choices, err = s.bulkChoices(ctx, t, visits, chosen, nil); err != nil {
			return err
		}
		p.Reasons = views.ReasonCodes()
		for i := range p.Reasons {
			p.Reasons[i].Selected = p.Reasons[i].Value == reason
		}
		if refused != nil {
			p.Refusal = pageRefusal(refused)
			nameWrong(p.Choices, refused, itemsOf(chosen, visits, reason))
		}
		read := s.readEvent(t, by, "proposal.read", "proposal", r.ID, 0, "")
		read.Proposal, read.Revision, read.PlanHash = r.ID, r.Revision, r.PlanHash
		return t.Audit(ctx, read)
	})
	return p, err
}

// planned are the visits of a bulk as they are now and what its plan, or else the form, says of each.
func planned(ctx context.Context, t *db.Tx, plan proposal.Plan, v url.Values) (visits []clinic.Visit, chosen url.Values, reason string, err error) {
	chosen, reason = url.Values{}, "practitioner_unavailable"
	for i := range plan.After.Items {
		one := plan.Item(i)
		visit, err := t.Visit(ctx, one.Before.Appointment)
		if err != nil {
			return nil, nil, "", err
		}
		visits = append(visits, visit)
		name := "choice-" + visit.ID
		switch code := param(one.Parameters, "reason_code"); {
		case v.Has(name):
			chosen.Set(name, v.Get(name))
		case code != "":
			chosen.Set(name, views.ChoiceCancel)
			reason = code
		default:
			chosen.Set(name, startChoice(one.After.StartsAt, one.After.Practitioner.ID, one.After.Location.ID))
		}
	}
	if code := v.Get("reason_code"); code != "" {
		reason = code
	}
	return visits, chosen, reason, nil
}

// bulkParameters are a bulk's parameters from its form: the visits are named in it, in the order of the page.
func (s *Server) bulkParameters(c echo.Context) (map[string]any, error) {
	v := form(c)
	var visits []clinic.Visit
	err := s.read(c, func(t *db.Tx) error {
		for name := range v {
			id, ok := strings.CutPrefix(name, "choice-")
			if !ok {
				continue
			}
			visit, err := t.Visit(c.Request().Context(), id)
			if db.Missing(err) {
				visit.ID = id // for the action to refuse
			} else if err != nil {
				return err
			}
			visits = append(visits, visit)
		}
		return nil
	})
	sortVisits(visits)
	items := itemsOf(v, visits, v.Get("reason_code"))
	if items == nil {
		items = []any{}
	}
	return map[string]any{"items": items, "notify": v.Get("notify") == "true", "message": orNilText(v.Get("message"))}, err
}

func sortVisits(visits []clinic.Visit) {
	slices.SortFunc(visits, func(a, b clinic.Visit) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), strings.Compare(a.ID, b.ID))
	})
}
