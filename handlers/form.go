package handlers

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
	"countersign/views"
)

// formBody is a page's form as body reads JSON: "" is null, and revision and plan_hash must have their shape.
func formBody(c echo.Context) *body {
	b := &body{members: map[string]any{}, known: map[string]bool{}}
	for name, values := range form(c) {
		b.members[name] = orNilText(values[0])
	}
	if s, ok := b.members["revision"].(string); ok && digits.MatchString(s) {
		b.members["revision"] = int64(whole(s))
	}
	if s, ok := b.members["plan_hash"].(string); ok && !hashShape.MatchString(s) {
		b.bad("plan_hash", "This is no plan hash.")
	}
	return b
}

var (
	digits    = regexp.MustCompile(`^[0-9]{1,9}$`)
	hashShape = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// whole is the number that digits are.
func whole(digits string) int {
	n, _ := strconv.Atoi(digits) // at most nine of them
	return n
}

func orNilText(s string) any {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return s
}

// notifyShown says that a form had the box notify: a box that is not ticked sends nothing.
const notifyShown = "notify_shown"

// parametersIn are a form's fields as an action's parameters, without the named ones; the action says which of them it
// does not know.
func parametersIn(fields url.Values, without ...string) map[string]any {
	out := map[string]any{}
	for name := range fields {
		if name != notifyShown && !slices.Contains(without, name) {
			out[name] = orNilText(fields.Get(name))
		}
	}
	switch notify := out["notify"]; {
	case notify == "true", notify == "on":
		out["notify"] = true
	case notify == "false", notify == nil && fields.Has(notifyShown):
		out["notify"] = false
	}
	// The desk writes days as 03-Mar-1990; the action takes them as 1990-03-03. What is neither is left for it to refuse.
	if day, ok := out["birth_date"].(string); ok {
		if t, err := time.Parse("2-Jan-2006", strings.TrimSpace(day)); err == nil {
			out["birth_date"] = t.Format(time.DateOnly)
		}
	}
	if yes := out["confirm_not_duplicate"]; yes == "true" || yes == "on" {
		out["confirm_not_duplicate"] = true
	}
	return out
}

// actionOf is the full name of an action that a link or a form may call by a short one.
func actionOf(name string) string {
	switch name {
	case "reschedule":
		return views.ActionMove
	case "book":
		return views.ActionBook
	case "cancel":
		return views.ActionCancel
	}
	return name
}

// pageDecision is a confirm or reject form. It names the proposal and nothing else: what runs is the stored plan.
func pageDecision(c echo.Context, rejecting bool) (proposal.Decision, error) {
	b := formBody(c)
	b.any("from") // where the card was opened: it decides nothing
	return decisionIn(c, b, rejecting)
}
