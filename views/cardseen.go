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

// diffLine is a line of a message that changed: the words in the middle are what differs.
type diffLine struct{ before, changed, after string }

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
	if aboutPolicy(current) || aboutOperation(current) {
		rows = policySeen(saw, current)
	}
	if aboutPatient(current) {
		rows = patientSeen(saw, current)
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
		was, is := wordDiff(x, y)
		if x != "" {
			r.sawText = append(r.sawText, was)
		}
		if y != "" {
			r.text = append(r.text, is)
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

// wordDiff keeps the words that two lines begin and end with; what is between them changed.
func wordDiff(x, y string) (was, is diffLine) {
	a, b := strings.Split(x, " "), strings.Split(y, " ")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	cut := func(w []string) diffLine {
		return diffLine{strings.Join(w[:i], " "), strings.Join(w[i:len(w)-j], " "), strings.Join(w[len(w)-j:], " ")}
	}
	return cut(a), cut(b)
}
