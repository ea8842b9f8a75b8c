package proposal

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shown are all facts of a plan: before and after, and those of a bulk's items.
func (p Plan) shown() (out []*Facts) {
	for _, f := range []*Facts{p.Before, p.After} {
		if f == nil {
			continue
		}
		out = append(out, f)
		for i := range f.Items {
			out = append(out, &f.Items[i])
		}
	}
	return out
}

// IsBulk tells a plan of many visits from all others.
func (p Plan) IsBulk() bool { return p.Action == bulkName && p.After != nil && len(p.After.Items) > 0 }

// Item is item i of a bulk as the plan of the single action would be: its facts, steps, pins and messages, and its own
// risk reasons. Steps of an item are the change and the messages that follow it.
func (p Plan) Item(i int) Plan {
	one := Plan{V: p.V, Clinic: p.Clinic, Proposal: p.Proposal, Revision: p.Revision, Action: reschedule.name, Parameters: map[string]any{"notify": p.Parameters["notify"], "message": p.Parameters["message"]},
		Before: &p.Before.Items[i], After: &p.After.Items[i], Steps: []Step{}, Messages: []Message{}, RiskReasons: ItemReasons(p.RiskReasons, i), Warnings: []string{}, ExpiresAt: p.ExpiresAt}
	if one.After.Status == "cancelled" {
		one.Action = cancel.name
	}
	at := -1
	for _, st := range p.Steps {
		if st.Op != OpSend {
			at++
		}
		if at != i {
			continue
		}
		if st.ReasonCode != nil {
			one.Parameters["reason_code"] = *st.ReasonCode
		}
		if st.Message != nil {
			one.Messages = append(one.Messages, p.Messages[*st.Message])
			mine := len(one.Messages) - 1
			st.Message = &mine
		}
		one.Steps = append(one.Steps, st)
	}
	for _, pin := range p.Resources {
		if one.shows(pin) {
			one.Resources = append(one.Resources, pin)
		}
	}
	return one
}

// shows tells whether the pinned row is one that the plan's facts show.
func (p Plan) shows(pin Pin) bool {
	return slices.ContainsFunc(p.shown(), func(f *Facts) bool {
		switch pin.Kind {
		case PinAppointment:
			return f.Appointment == pin.ID
		case PinPatient:
			return f.Patient.ID == pin.ID
		case PinPractitioner:
			return f.Practitioner.ID == pin.ID
		case PinLocation:
			return f.Location.ID == pin.ID
		case PinType:
			return f.Type.ID == pin.ID
		}
		return slices.ContainsFunc(f.Slots, func(s SlotFacts) bool { return s.ID == pin.ID })
	})
}

// changedItems tells for each item of a bulk whether a pinned row of it has moved.
func changedItems(p Plan, changed []Change) []bool {
	out := make([]bool, len(p.After.Items))
	for i := range out {
		one := Plan{Before: &p.Before.Items[i], After: &p.After.Items[i]}
		out[i] = slices.ContainsFunc(changed, func(c Change) bool { return one.shows(Pin{Kind: c.Kind, ID: c.ID}) })
	}
	return out
}

// ItemsChanged numbers the items of a bulk, from 0, that would not run now because a row they show has moved.
func (r Record) ItemsChanged() (items []int) {
	if !r.Plan.IsBulk() || len(r.Changed) == 0 {
		return nil
	}
	for i, moved := range changedItems(r.Plan, r.Changed) {
		if moved {
			items = append(items, i)
		}
	}
	return items
}

// nothingLeft is what moved when no item of the bulk could run, else nil: what can run does, and the rest fails alone.
func nothingLeft(p Plan, changed []Change) []Change {
	if slices.Contains(changedItems(p, changed), false) {
		return nil
	}
	return changed
}

// itemReason is a risk reason of one item, so that the plan's list says whose it is.
func itemReason(i int, why string) string { return fmt.Sprintf("%d. %s", i+1, why) }

// ItemReasons are those among a bulk's risk reasons that are of item i, from 0; with i < 0 those of the whole.
func ItemReasons(reasons []string, i int) []string {
	out := []string{}
	for _, why := range reasons {
		number, rest, found := strings.Cut(why, ". ")
		digits := found && strings.Trim(number, "0123456789") == ""
		switch {
		case i < 0 && !digits:
			out = append(out, why)
		case digits && number == fmt.Sprint(i+1):
			out = append(out, rest)
		}
	}
	return out
}

// A bulk of so many is high, and of so many critical (contract section 7).
const (
	bulkHigh     = 5
	bulkCritical = 20
)

func assessItems(p Plan, now time.Time, because func(level, why string)) {
	switch n := len(p.After.Items); {
	case n >= bulkCritical:
		because(Critical, fmt.Sprintf("%d visits at once (%d or more)", n, bulkCritical))
	case n >= bulkHigh:
		because(High, fmt.Sprintf("%d visits at once (%d or more)", n, bulkHigh))
	}
	for i := range p.After.Items {
		one := Plan{Before: &p.Before.Items[i], After: &p.After.Items[i]}
		assessVisit(one, now, func(level, why string) { because(level, itemReason(i, why)) })
		if p.Parameters["notify"] == false && one.After.Patient.Unreachable == nil {
			because(Medium, itemReason(i, "The patient could be told and will not be told"))
		}
	}
}

// itemFields draws a bulk from its plan: a row for each visit, what stands and what is proposed, and its message.
func itemFields(p Plan) []Field {
	var out []Field
	for i := range p.After.Items {
		one := p.Item(i)
		line := func(f *Facts) string {
			at := f.local(f.StartsAt)
			return at.Format("Monday 2 January 2006, 15:04") + " " + f.Zone + " (" + OffsetLabel(f.OffsetMinutes) + "), " + f.Practitioner.Name + ", " + f.Location.Name
		}
		f := Field{Label: fmt.Sprintf("%d. %s, born %s, MRN %s, %s", i+1, one.Before.Patient.Name, one.Before.Patient.BirthDate, one.Before.Patient.MRN, one.Before.Type.Name),
			Old: value(line(one.Before)), New: value(line(one.After))}
		if one.Action == cancel.name {
			f.New = value("cancelled: " + strings.ReplaceAll(text(one.Parameters, "reason_code"), "_", " "))
		}
		out = append(out, f)
		if len(one.Messages) == 0 {
			out = append(out, Field{Label: fmt.Sprintf("%d. Message", i+1), New: value("Nobody will be told: " + WhyNobodyIsTold(one))})
		}
		for _, m := range one.Messages {
			out = append(out, Field{Label: fmt.Sprintf("%d. %s", i+1, one.After.messageLabel(m)), New: value(m.Text)})
		}
	}
	return out
}
