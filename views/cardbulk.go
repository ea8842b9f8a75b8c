package views

import (
	"fmt"
	"net/url"
	"strings"

	"countersign/internal/proposal"
)

// BulkURL is the form for a proposal like that one, anew.
func BulkURL(like string) string { return "/proposals/bulk?" + url.Values{"like": {like}}.Encode() }

// itemRow is one visit of a bulk on its card.
type itemRow struct {
	n               int
	who             Person
	kind            string
	visit           string // id
	was, is         cell
	cancelled       bool
	messages        []proposal.Message
	facts           *proposal.Facts // as the visit will stand
	untold          string
	why             []string // risk reasons of this visit
	moved           bool     // a row it shows has changed since
	result          proposal.ItemResult
	hasResult, open bool
}

// itemRows draws every visit of the plan, in order.
func (p CardPage) itemRows() []itemRow {
	plan, results := p.Record.Plan, p.Record.ItemResults()
	moved := map[int]bool{}
	for _, i := range p.Record.ItemsChanged() {
		moved[i] = true
	}
	named := oneZone(plan) != ""
	rows := make([]itemRow, len(plan.After.Items))
	for i := range rows {
		one := plan.Item(i)
		was, is := factsOf(one.Before), factsOf(one.After)
		f := one.Before.Patient
		r := itemRow{n: i + 1, who: Person{ID: f.ID, Name: f.Name, BirthDate: f.BirthDate, MRN: f.MRN}, kind: was.kind, visit: one.Before.Appointment,
			was: itemCell(was, named), is: itemCell(is, named), messages: one.Messages, facts: one.After, why: one.RiskReasons, moved: moved[i], open: len(rows) <= 3}
		if one.After.Status == "cancelled" {
			r.cancelled, r.is = true, cell{"Cancelled", nonEmpty(reasonOf(one))}
		}
		if len(one.Messages) == 0 {
			r.untold = untold(one)
		}
		if i < len(results) {
			r.result, r.hasResult = results[i], true
		}
		rows[i] = r
	}
	return rows
}

// itemCell is short, so that 24 lines can be read: the zone's name stands once above the table where all have the same.
func itemCell(f facts, named bool) cell {
	at := f.offset
	if !named {
		at = f.zone + " (" + at + ")"
	}
	return cell{ShortDate(f.start.In(zone(f.zone))) + ", " + f.time, []string{at, f.who + ", " + f.place}}
}

// oneZone is the zone of all times of the bulk, "" when they have several.
func oneZone(p proposal.Plan) string {
	name := p.Before.Items[0].Zone
	for i := range p.After.Items {
		if p.Before.Items[i].Zone != name || p.After.Items[i].Zone != name {
			return ""
		}
	}
	return name
}

// partlyStale: some visits of a bulk have changed since, and the others can still be decided: those that changed fail alone.
func (p CardPage) partlyStale() bool {
	n := len(p.Record.ItemsChanged())
	return n > 0 && n < len(p.Record.Plan.After.Items) && p.Record.Stale
}

// running: a bulk that is being carried out.
func (p CardPage) running() bool {
	return p.Record.State == proposal.StateExecuting && p.Record.Plan.IsBulk()
}

// Progress names a state of a bulk: it changes whenever the card would.
func Progress(r proposal.Record) string {
	return r.State + "-" + fmt.Sprint(count(r.ItemResults(), proposal.ItemWaiting), count(r.ItemResults(), proposal.ItemExecuting))
}

func (p CardPage) pollURL() string {
	return cardURL(p.Record.ID) + "/changed?" + url.Values{"seen": {p.Progress()}}.Encode()
}

func count(items []proposal.ItemResult, state string) (n int) {
	for _, it := range items {
		if it.State == state {
			n++
		}
	}
	return n
}

func (p CardPage) bulkEnding(by string) ending {
	items := p.Record.ItemResults()
	done, failed, stopped, all := count(items, proposal.ItemCompleted), count(items, proposal.ItemFailed), count(items, proposal.ItemStopped), len(items)
	var not []string
	if failed > 0 {
		not = append(not, Count(failed, "visit")+" could not be changed")
	}
	if stopped > 0 {
		not = append(not, Count(stopped, "visit")+" stayed as "+map[bool]string{true: "it was", false: "they were"}[stopped == 1]+" because it was stopped")
	}
	left := strings.Join(not, " and ") + ". Each line says why. Messages go out only for what was changed."
	switch p.Record.State {
	case proposal.StateExecuting:
		return ending{"warn", fmt.Sprintf("Being carried out: %d of %d", all-count(items, proposal.ItemWaiting)-count(items, proposal.ItemExecuting), all),
			"It was confirmed by " + by + " and runs visit by visit, also when this page is closed. Stopping leaves the visits that have not begun as they are."}
	case proposal.StateCompleted:
		return ending{"ok", "Completed: " + Count(all, "visit") + " changed", p.bulkTold()}
	case proposal.StatePartial:
		return ending{"warn", fmt.Sprintf("Partly done: %d of %d visits changed", done, all), left}
	case proposal.StateFailed:
		return ending{"no", "Not done: no visit was changed", left}
	}
	return ending{}
}

func (p CardPage) bulkTold() string {
	if len(p.Record.Plan.Messages) == 0 {
		return "Nobody was told."
	}
	return Count(len(p.Record.Plan.Messages), "message") + " went into the outbox."
}

// proofMessages are the messages of the proof; a bulk has too many to name there.
func (p CardPage) proofMessages() []MessageState {
	if p.Record.Plan.IsBulk() {
		return nil
	}
	return p.Messages
}

func itemWord(state string) string {
	return word(map[string]string{proposal.ItemWaiting: "Waiting", proposal.ItemExecuting: "Waiting for the EHR", proposal.ItemCompleted: "Done", proposal.ItemFailed: "Not changed", proposal.ItemStopped: "Stopped"}, state)
}

func itemClass(state string) string {
	switch state {
	case proposal.ItemCompleted:
		return "ok"
	case proposal.ItemFailed:
		return "stop"
	case proposal.ItemStopped:
		return "gone"
	}
	return "low"
}

func itemsHead(p CardPage) string {
	switch p.Record.State {
	case proposal.StateProposed:
		return "Proposed"
	case proposal.StateExecuting, proposal.StateCompleted, proposal.StatePartial:
		return "Confirmed"
	}
	return "Was proposed"
}
