package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
	"countersign/views"
)

// queueAsked is what a queue's URL asks for.
type queueAsked struct {
	view     string
	filter   db.QueueFilter
	asker    string
	fast     bool
	second   bool   // any second person of this clinic may decide high
	since    string // moment of the first page, "" on it
	options  views.QueueFilters
	query    url.Values // the filters as they stand in the URL
	narrowed bool
}

var queueParameters = []string{"view", "risk-low", "risk-medium", "risk-high", "risk-critical", "action", "asker", "kind", "practitioner", "location", "age",
	"claimed", "escalated", "fast", "cursor", "since", "ids", "tag"}

// ages are the choices of "asked more than so many minutes ago".
var ages = []int{5, 15, 60, 240}

// queueAsked reads the URL. A filter with a value that it does not know is refused: it must not widen the answer. Errors:
// validation_failed.
func (s *Server) queueAsked(c echo.Context, t *db.Tx) (a queueAsked, err error) {
	if err := onlyQuery(c, queueParameters...); err != nil {
		return a, err
	}
	by, ctx := actor(c), c.Request().Context()
	if a.second, err = t.SecondPersonDecides(ctx); err != nil {
		return a, err
	}
	policies, err := t.PoliciesNow(ctx)
	if err != nil {
		return a, err
	}
	people, err := t.Actors(ctx)
	if err != nil {
		return a, err
	}
	offers, err := t.Practitioners(ctx)
	if err != nil {
		return a, err
	}
	locations, err := t.Locations(ctx)
	if err != nil {
		return a, err
	}
	ask := asking{c: c, query: url.Values{}}
	a.options.View = []views.Option{{Value: views.QueueMine, Label: "What waits for me"}, {Value: views.QueueAll, Label: "All that waits"},
		{Value: views.QueueDecided, Label: "Decided"}, {Value: views.QueueFailed, Label: "Decided, but a message failed"}}
	if a.view = ask.choice("view", a.options.View); a.view == "" {
		a.view = views.QueueMine
		if by.Role == clinic.RoleAdmin { // who decides nothing sees what waits for others
			a.view = views.QueueAll
		}
		for i := range a.options.View {
			a.options.View[i].Selected = a.options.View[i].Value == a.view
		}
	}
	f := db.QueueFilter{Viewer: by.Person, Mine: a.view == views.QueueMine, Decidable: proposal.DecidableBy(by, a.second, policies)}
	for _, risk := range []string{proposal.Low, proposal.Medium, proposal.High, proposal.Critical} {
		o := views.Option{Value: risk, Label: views.RiskWord(risk), Selected: ask.box("risk-" + risk)}
		if o.Selected {
			f.Risks = append(f.Risks, risk)
		}
		a.options.Risk = append(a.options.Risk, o)
	}
	for _, action := range proposal.Actions() {
		a.options.Action = append(a.options.Action, views.Option{Value: action, Label: views.ActionWord(action)})
	}
	for _, p := range people {
		a.options.Asker = append(a.options.Asker, views.Option{Value: p.ID, Label: p.Name})
	}
	a.options.Kind = []views.Option{{Value: clinic.KindUser, Label: "A person"}, {Value: clinic.KindAgent, Label: "An agent"}}
	for _, o := range offers {
		a.options.Practitioner = append(a.options.Practitioner, views.Option{Value: o.ID, Label: o.Name})
	}
	for _, l := range locations {
		a.options.Location = append(a.options.Location, views.Option{Value: l.ID, Label: l.Name})
	}
	for _, minutes := range ages {
		a.options.Age = append(a.options.Age, views.Option{Value: strconv.Itoa(minutes), Label: "More than " + strconv.Itoa(minutes) + " min ago"})
	}
	a.options.Claimed = []views.Option{{Value: db.ClaimedByMe, Label: "Me"}, {Value: db.ClaimedByNone, Label: "Nobody"}, {Value: db.ClaimedByAny, Label: "Somebody"}}
	f.Action, a.asker, f.Kind = ask.choice("action", a.options.Action), ask.choice("asker", a.options.Asker), ask.choice("kind", a.options.Kind)
	f.Practitioner, f.Location, f.Claimed = ask.choice("practitioner", a.options.Practitioner), ask.choice("location", a.options.Location), ask.choice("claimed", a.options.Claimed)
	if minutes, err := strconv.Atoi(ask.choice("age", a.options.Age)); err == nil {
		f.AskedBefore = t.Now().Add(-time.Duration(minutes) * time.Minute)
	}
	f.Asker, f.Escalated, a.fast = a.asker, ask.box("escalated"), ask.box("fast")
	a.options.Escalated, a.options.Fast = f.Escalated, a.fast
	if a.since = c.QueryParam("since"); a.since != "" && !db.ValidMoment(a.since) {
		ask.bad("since", "Load the queue again.")
	}
	a.filter, a.query, a.narrowed = f, ask.query, len(ask.query) > 1 || len(ask.query) == 1 && !ask.query.Has("view")
	if len(ask.wrong) > 0 {
		return a, refusal.Invalid(ask.wrong...)
	}
	return a, nil
}

// asking reads filters and keeps those that are set.
type asking struct {
	c     echo.Context
	query url.Values
	wrong []refusal.Field
}

func (a *asking) bad(name, message string) {
	a.wrong = append(a.wrong, refusal.Field{Name: name, Message: message})
}

// choice is the value of a select, "" when nothing is chosen; it marks the option.
func (a *asking) choice(name string, list []views.Option) string {
	value := a.c.QueryParam(name)
	if value == "" {
		return ""
	}
	for i := range list {
		if list[i].Value == value {
			list[i].Selected = true
			a.query.Set(name, value)
			return value
		}
	}
	a.bad(name, "There is no such choice.")
	return ""
}

func (a *asking) box(name string) bool {
	on := a.c.QueryParam(name) != ""
	if on {
		a.query.Set(name, "on")
	}
	return on
}

// url is a path with the filters and more.
func (a queueAsked) url(path string, more url.Values) string {
	q := url.Values{}
	for _, from := range []url.Values{a.query, more} {
		for name, v := range from {
			q[name] = v
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func (a queueAsked) live(since string, ids []string, tag string) string {
	return a.url(queuePoll, url.Values{"since": {since}, "ids": {strings.Join(ids, ",")}, "tag": {tag}})
}

// stateTag is a digest of what a list says of its rows, and of how many are new.
func stateTag(items []views.QueueItem, fresh int) string {
	h := sha256.New()
	fmt.Fprint(h, fresh)
	for _, q := range items {
		fmt.Fprint(h, "|", q.ID, q.State, q.Revision, q.Stale, len(q.Changed), q.Rivals, q.Comments, q.Escalated, q.ClaimedBy.ID, q.ClaimedUntil.Unix(), len(q.Approvals.Given), q.Confirm.Code)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
