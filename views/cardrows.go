package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/internal/proposal"
)

// diffRow is one line of the card's table. A changed row has two cells, an unchanged one a single text across.
type diffRow struct {
	label    string
	now, new cell
	changed  bool
	same     string // text across, when not changed
	strong   bool   // unchanged, and yet what the card is about: the day of a move, the time of a cancelled visit
}

// cell is a value and the small notes under it.
type cell struct {
	main  string
	notes []string
}

// facts is one side of the table in words.
type facts struct {
	date, time, zone, offset, who, place, address, kind, slots, status string
	start                                                              time.Time
}

func factsOf(f *proposal.Facts) facts {
	if f == nil {
		return facts{}
	}
	at := f.StartsAt.In(zone(f.Zone))
	var slots []string
	for _, s := range f.Slots {
		slots = append(slots, Clock(s.StartsAt.In(zone(f.Zone))))
	}
	return facts{date: LongDate(at), time: Span(at, f.EndsAt), zone: f.Zone, offset: Offset(f.OffsetMinutes), who: f.Practitioner.Name,
		place: f.Location.Name, address: f.Location.Address, kind: fmt.Sprintf("%s, %s", f.Type.Name, minutesText(f.Type.Minutes)),
		slots: strings.Join(slots, ", "), status: StatusWord(f.Status), start: f.StartsAt}
}

func (f facts) timeCell(notes ...string) cell {
	return cell{f.time, append([]string{f.zone + " (" + f.offset + ")"}, notes...)}
}

func (f facts) placeCell() cell { return cell{f.place, nonEmpty(f.address)} }

// line is a cell as one line. An address that begins with the place's name says it only once.
func (c cell) line() string {
	if len(c.notes) > 0 && strings.HasPrefix(c.notes[0], c.main) {
		return strings.Join(c.notes, ", ")
	}
	return strings.Join(append([]string{c.main}, c.notes...), ", ")
}

// cardRows draws the plan's before and after; a plan without them (other actions) is drawn from its summary.
func cardRows(r proposal.Record) []diffRow {
	before, after := factsOf(r.Plan.Before), factsOf(r.Plan.After)
	switch {
	case r.Tampered():
		return nil
	case aboutPatient(r.Plan):
		return patientRows(r.Plan)
	case aboutPolicy(r.Plan):
		return summaryRows(r.Summary)
	case aboutOperation(r.Plan):
		s := r.Summary
		s.Fields = s.Fields[:max(0, len(s.Fields)-len(r.Plan.Messages))] // they stand below, whole
		return summaryRows(s)
	case r.Plan.Before != nil && r.Plan.After != nil && r.Plan.After.Status == "cancelled":
		return cancelRows(r, before)
	case r.Plan.Before != nil && r.Plan.After != nil:
		return moveRows(r, before, after)
	case r.Plan.After != nil:
		return bookRows(after)
	}
	return summaryRows(r.Summary)
}

func moveRows(r proposal.Record, before, after facts) []diffRow {
	done := r.State == proposal.StateCompleted
	clocks := clockChange(before, after)
	rows := []diffRow{
		compare("Date", cell{main: before.date}, cell{main: after.date}),
		compare("Time", before.timeCell(), after.timeCell(clocks...)),
		compare("Practitioner", cell{main: before.who}, cell{main: after.who}),
		compare("Location", before.placeCell(), after.placeCell()),
		compare("Slots", cell{before.slots, []string{freed(done)}}, cell{main: after.slots, notes: []string{takenNote(r.State)}}),
		compare("Type", cell{main: before.kind}, cell{main: after.kind}),
		compare("Status", cell{main: before.status}, cell{main: after.status}),
	}
	// A move keeps its slots only with its place and time: a set of clock times that looks equal may be other rows.
	if !rows[0].changed && !rows[2].changed && !rows[3].changed && before.slots == after.slots {
		rows[4].changed, rows[4].same = false, before.slots
	} else {
		rows[4].changed = true
	}
	rows[0].strong = !rows[0].changed // the day is never small print
	slices.SortStableFunc(rows, func(a, b diffRow) int { return rank(a) - rank(b) })
	return rows
}

func rank(r diffRow) int {
	if r.changed {
		return 0
	}
	return 1
}

func compare(label string, now, next cell) diffRow {
	if now.main == next.main && strings.Join(now.notes, "") == strings.Join(next.notes, "") {
		return diffRow{label: label, same: now.line()}
	}
	return diffRow{label: label, now: now, new: next, changed: true}
}

func cancelRows(r proposal.Record, before facts) []diffRow {
	done := r.State == proposal.StateCompleted
	return []diffRow{
		{label: "Status", now: cell{main: before.status}, new: cell{"Cancelled", nonEmpty(reasonOf(r.Plan))}, changed: true},
		{label: "Slots", now: cell{main: before.slots}, new: cell{main: strings.ToUpper(freed(done)[:1]) + freed(done)[1:]}, changed: true},
		{label: "Date", same: before.date, strong: true},
		{label: "Time", same: before.time + " " + before.zone + " (" + before.offset + ")", strong: true},
		{label: "Practitioner", same: before.who},
		{label: "Location", same: before.placeCell().line()},
		{label: "Type", same: before.kind},
	}
}

func bookRows(after facts) []diffRow {
	row := func(label string, c cell) diffRow { return diffRow{label: label, new: c, changed: true} }
	return []diffRow{
		row("Date", cell{main: after.date}),
		row("Time", after.timeCell()),
		row("Practitioner", cell{main: after.who}),
		row("Location", after.placeCell()),
		row("Type", cell{main: after.kind}),
		row("Slots", cell{main: after.slots}),
		row("Status", cell{main: after.status}),
	}
}

func summaryRows(s proposal.Summary) []diffRow {
	var rows []diffRow
	for _, f := range s.Fields {
		now, next := value(f.Old), value(f.New)
		if now == next {
			rows = append(rows, diffRow{label: f.Label, same: now})
			continue
		}
		rows = append(rows, diffRow{label: f.Label, now: cell{main: now}, new: cell{main: next}, changed: true})
	}
	return rows
}

func value(s *string) string {
	if s == nil {
		return "None"
	}
	return *s
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func freed(done bool) string {
	if done {
		return "became free for others"
	}
	return "become free for others"
}

func takenNote(state string) string {
	switch state {
	case proposal.StateCompleted:
		return "taken"
	case proposal.StateExecuting:
		return "held until the EHR has answered"
	case proposal.StateFailed, proposal.StateRejected, proposal.StateWithdrawn, proposal.StateExpired:
		return "not taken"
	}
	return "checked again when you confirm"
}

// clockChange says that the clocks change between two times of one zone, and when.
func clockChange(before, after facts) []string {
	if before.zone != after.zone || before.offset == after.offset {
		return nil
	}
	first, last := before.start, after.start
	if last.Before(first) {
		first, last = last, first
	}
	change, _ := last.In(zone(after.zone)).ZoneBounds()
	if change.IsZero() || !change.After(first) {
		return nil
	}
	_, was := change.Add(-time.Second).Zone()
	_, is := change.Zone()
	way := "forward"
	if is < was {
		way = "back"
	}
	return []string{"Clocks go " + way + " on " + change.Format("Monday 2 January")}
}

// reasonOf is the cancellation's reason in words, read from the step that runs.
func reasonOf(p proposal.Plan) string {
	for _, s := range p.Steps {
		if s.Op == proposal.OpCancel && s.ReasonCode != nil {
			return ReasonWord(*s.ReasonCode)
		}
	}
	return ""
}

// effects says what confirming does, counted from the steps: "moves 1 appointment and sends 1 SMS".
func effects(p proposal.Plan) string {
	var parts []string
	for _, op := range []struct{ code, verb string }{{proposal.OpMove, "moves"}, {proposal.OpCreate, "books"}, {proposal.OpCancel, "cancels"}} {
		n := 0
		for _, s := range p.Steps {
			if s.Op == op.code {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, op.verb+" "+Count(n, "appointment"))
		}
	}
	for _, s := range p.Steps {
		switch s.Op {
		case proposal.OpRegister:
			parts = append(parts, "registers 1 patient")
		case proposal.OpContact:
			parts = append(parts, "changes 1 patient’s contact details")
		case proposal.OpPolicy:
			parts = append(parts, "changes this clinic’s policy")
		case proposal.OpResolve:
			parts = append(parts, resolves(p.After.Operation))
		}
	}
	now, reminders := map[string]int{}, 0
	for _, m := range p.Messages {
		if m.SendAt != nil {
			reminders++
		} else {
			now[m.Channel]++
		}
	}
	for _, channel := range []string{"sms", "email"} {
		if now[channel] > 0 {
			parts = append(parts, "sends "+Count(now[channel], ChannelWord(channel)))
		}
	}
	if reminders > 0 {
		parts = append(parts, "plans "+Count(reminders, "reminder"))
	}
	switch len(parts) {
	case 0:
		return "runs what is shown"
	case 1:
		if len(p.Messages) == 0 && !aboutPatient(p) && !aboutPolicy(p) && !aboutOperation(p) {
			return parts[0] + "; nobody will be told"
		}
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// confirmText names the act.
func confirmText(p proposal.Plan) string {
	act := map[string]string{ActionMove: "Confirm move", ActionBook: "Confirm booking", ActionCancel: "Confirm cancellation",
		ActionBulk: "Confirm all", ActionResolve: "Confirm what the EHR has", ActionRegister: "Confirm registration", ActionContact: "Confirm change"}[p.Action]
	if act == "" {
		act = "Confirm"
	}
	channels := map[string]bool{}
	now := 0
	for _, m := range p.Messages {
		if m.SendAt == nil {
			channels[m.Channel], now = true, now+1
		}
	}
	switch {
	case len(channels) == 0:
		return act
	case len(channels) > 1:
		return act + " and send messages"
	case p.Action == ActionBulk && now > 1:
		return act + " and send messages"
	case p.Action == ActionMove || act == "Confirm":
		act = "Confirm"
	}
	for c := range channels {
		return act + " and send " + ChannelWord(c)
	}
	return act
}
