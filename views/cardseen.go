package views

import (
	"strings"

	"countersign/internal/proposal"
)

// seenRow is one line of the table of a stale tab: what is booked, what the tab showed, what is current.
type seenRow struct {
	label         string
	now           cell
	saw, is       cell
	edited        bool
	inBoth        string // text across both revisions, when not edited
	sawText, text []diffLine
	rest          int // lines of a message that are as they were
}

// diffLine is a line of a message; changed lines only are drawn.
type diffLine struct{ text string }

// seenRows compares two revisions of a plan, the edited rows first.
func seenRows(saw, current proposal.Plan) []seenRow {
	now, a, b := factsOf(current.Before), factsOf(saw.After), factsOf(current.After)
	none := cell{main: "None"}
	or := func(c cell) cell {
		if c.main == "" {
			return none
		}
		return c
	}
	small := func(f facts) cell {
		if f.time == "" {
			return none
		}
		return cell{f.time, []string{f.zone + " (" + f.offset + ")"}}
	}
	rows := []seenRow{
		{label: "Date", now: or(cell{main: now.date}), saw: cell{main: a.date}, is: cell{main: b.date}},
		{label: "Time", now: small(now), saw: small(a), is: small(b)},
		{label: "Practitioner", now: or(cell{main: now.who}), saw: cell{main: a.who}, is: cell{main: b.who}},
		{label: "Location", now: or(cell{main: now.place}), saw: cell{main: a.place}, is: cell{main: b.place}},
		{label: "Type", now: or(cell{main: now.kind}), saw: cell{main: a.kind}, is: cell{main: b.kind}},
		{label: "Slots", now: or(cell{main: now.slots}), saw: or(cell{main: a.slots}), is: or(cell{main: b.slots})},
		{label: "Status", now: or(cell{main: now.status}), saw: cell{a.status, nonEmpty(reasonOf(saw))}, is: cell{b.status, nonEmpty(reasonOf(current))}},
		{label: "Goes to", now: none, saw: cell{main: recipients(saw)}, is: cell{main: recipients(current)}},
	}
	var edited, same []seenRow
	for _, r := range rows {
		if r.saw.main == r.is.main && strings.Join(r.saw.notes, "|") == strings.Join(r.is.notes, "|") {
			r.inBoth = strings.Join(append([]string{r.is.main}, r.is.notes...), ", ")
			same = append(same, r)
			continue
		}
		r.edited = true
		edited = append(edited, r)
	}
	if t, ok := textRow(saw, current); ok {
		edited = append(edited, t)
	}
	return append(edited, same...)
}

func recipients(p proposal.Plan) string {
	var out []string
	for _, m := range p.Messages {
		out = append(out, m.Recipient+" ("+ChannelWord(m.Channel)+")")
	}
	if len(out) == 0 {
		return "Nobody will be told"
	}
	return strings.Join(out, ", ")
}

// textRow shows the lines of the messages that differ; the others are counted.
func textRow(saw, current proposal.Plan) (seenRow, bool) {
	a, b := lines(saw), lines(current)
	if strings.Join(a, "\n") == strings.Join(b, "\n") {
		return seenRow{}, false
	}
	r := seenRow{label: "Message", now: cell{main: "None"}, edited: true}
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			r.rest++
			continue
		}
		if x != "" {
			r.sawText = append(r.sawText, diffLine{x})
		}
		if y != "" {
			r.text = append(r.text, diffLine{y})
		}
	}
	return r, true
}

func lines(p proposal.Plan) []string {
	var out []string
	for _, m := range p.Messages {
		if m.Subject != nil {
			out = append(out, *m.Subject)
		}
		out = append(out, strings.Split(m.Text, "\n")...)
	}
	return out
}
