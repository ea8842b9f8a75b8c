package proposal

import (
	"context"
	"fmt"
	"maps"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

const bulkName = "bulk_change@1"

// MaxItems is the most visits one bulk may change.
const MaxItems = 100

// bulk moves or cancels many visits: decided once, executed item by item, each with its own result.
var bulk = action{
	name: bulkName,
	parameters: []parameter{
		{name: "items", kind: kindItems, required: true, items: []parameter{
			{name: "appointment", kind: kindID, required: true},
			{name: "starts_at", kind: kindTime},
			{name: "practitioner", kind: kindID},
			{name: "location", kind: kindID},
			{name: "cancel", kind: kindBool, absent: false},
			{name: "reason_code", kind: kindCode, codes: ReasonCodes},
		}},
		{name: "notify", kind: kindBool, absent: true},
		{name: "message", kind: kindText},
	},
	draft: draftBulk,
	title: bulkTitle,
}

func itemField(i int, name string) string { return fmt.Sprintf("items[%d].%s", i, name) }

// readItems reads a list of objects; an empty one, one that is too long, or one that names a visit twice is refused
// before any work.
func readItems(p parameter, v any) ([]any, []refusal.Field) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > MaxItems {
		return nil, []refusal.Field{{Name: p.name, Message: fmt.Sprintf("Give a list of 1 to %d visits.", MaxItems)}}
	}
	var wrong []refusal.Field
	out, seen := make([]any, 0, len(list)), map[string]bool{}
	for i, v := range list {
		bad := func(name, message string) {
			wrong = append(wrong, refusal.Field{Name: itemField(i, name), Message: message})
		}
		given, ok := v.(map[string]any)
		if !ok {
			wrong = append(wrong, refusal.Field{Name: fmt.Sprintf("items[%d]", i), Message: "Give an object."})
			continue
		}
		item, more := readParameters(p.items, given)
		for _, f := range more {
			bad(f.Name, f.Message)
		}
		out = append(out, item)
		if more != nil {
			continue
		}
		visit := text(item, "appointment")
		if seen[visit] {
			bad("appointment", "This visit is in the list twice.")
		}
		seen[visit] = true
		switch cancels := item["cancel"] == true; {
		case cancels && item["reason_code"] == nil:
			bad("reason_code", "Say why the visit is cancelled.")
		case cancels:
			for _, name := range []string{"starts_at", "practitioner", "location"} {
				if item[name] != nil {
					bad(name, "A visit that is cancelled has no new "+name+".")
				}
			}
		default:
			if item["starts_at"] == nil {
				bad("starts_at", "Give a new time, or cancel the visit.")
			}
			if item["reason_code"] != nil {
				bad("reason_code", "This is for visits that are cancelled.")
			}
		}
	}
	return out, wrong
}

// draftBulk drafts every item as the single action would, in order: a time that an earlier item gives back may be
// taken by a later one. What is wrong with the fields of all items is said at once; then the first other refusal, with
// the number of its item.
func draftBulk(ctx context.Context, d *drafting) error {
	list := d.params["items"].([]any)
	p := d.plan
	p.Before, p.After, p.Steps = &Facts{}, &Facts{}, []Step{}
	d.freed = map[string]bool{}
	takenBy := map[string]int{}
	var first error
	for i, v := range list {
		item, params := v.(map[string]any), maps.Clone(v.(map[string]any))
		params["notify"], params["message"] = d.params["notify"], d.params["message"]
		one := Plan{Clinic: p.Clinic, Parameters: params, Messages: []Message{}, Warnings: []string{}}
		sub := &drafting{tx: d.tx, now: d.now, ids: d.ids, mailFrom: d.mailFrom, params: params, plan: &one, rows: d.rows, freed: d.freed, ehr: d.ehr}
		draft := draftReschedule
		if item["cancel"] == true {
			draft = draftCancel
		}
		err := draft(ctx, sub)
		if r := refusal.Of(err); r != nil && r.Code == refusal.ValidationFailed {
			for _, f := range r.Fields {
				d.wrong = append(d.wrong, refusal.Field{Name: itemField(i, f.Name), Message: f.Message})
			}
			continue
		} else if r != nil && r.Cause == nil {
			if first == nil {
				first = r.With("item", i).With("appointment", text(item, "appointment"))
			}
			continue
		} else if err != nil {
			return err
		}
		item["starts_at"] = params["starts_at"]
		for _, id := range one.Steps[0].TakeSlots {
			if j, taken := takenBy[id]; taken {
				d.wrong = append(d.wrong, refusal.Field{Name: itemField(i, "starts_at"), Message: fmt.Sprintf("Line %d takes part of this time already.", j+1)})
				break
			}
			takenBy[id] = i
		}
		for _, id := range one.Steps[0].FreeSlots {
			d.freed[id] = true
		}
		d.join(i, one, sub.why)
	}
	if err := d.idsKnown(); err != nil {
		return err
	}
	return first
}

// join adds one drafted item to the plan.
func (d *drafting) join(i int, one Plan, why []string) {
	p := d.plan
	twice := len(one.Warnings) > 0
	for _, f := range p.After.Items { // the same patient in two places at once, by this very plan
		a, b := f.stay(), one.After.stay()
		twice = twice || a.Patient != "" && a.Patient == b.Patient && a.From.Before(b.To) && b.From.Before(a.To)
	}
	p.Before.Items, p.After.Items = append(p.Before.Items, *one.Before), append(p.After.Items, *one.After)
	for _, st := range one.Steps {
		if st.Message != nil {
			at := *st.Message + len(p.Messages)
			st.Message = &at
		}
		p.Steps = append(p.Steps, st)
	}
	p.Messages = append(p.Messages, one.Messages...)
	if twice {
		p.Warnings = []string{WarnDoubleBooked}
		d.why = append(d.why, itemReason(i, ReasonDoubleBooked))
	}
	for _, w := range why {
		d.why = append(d.why, itemReason(i, w))
	}
}

func bulkTitle(p Plan) string {
	if p.Before == nil || len(p.Before.Items) == 0 {
		return "Change several visits"
	}
	n := len(p.Before.Items)
	who := p.Before.Items[0].Practitioner
	for _, f := range p.Before.Items {
		if f.Practitioner.ID != who.ID {
			who = clinic.Ref{}
		}
	}
	title := fmt.Sprintf("Change %d visits", n)
	if n == 1 {
		title = "Change 1 visit"
	}
	if who.ID != "" {
		title += " of " + who.Name
	}
	return title
}
