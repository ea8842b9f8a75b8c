package views

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Kinds of a block on the sheet.
const (
	blockVisit     = "visit"
	blockCancelled = "cancelled"
	blockMark      = "mark"
	blockFree      = "free"
	blockUnused    = "unused" // free, and over
	blockShut      = "shut"
)

// dayBlock is one rectangle of a column: rows [row, row+rows), 0-based, and its side lane when visits collide.
type dayBlock struct {
	kind       string
	row, rows  int
	lane       int // 0 = the whole width, else 1..
	from, to   time.Time
	visit      DayVisit
	mrn        bool // the name alone does not tell: shared, or too long for its box
	asks       []DayAsk
	word       string
	bookable   bool // cancelled: its time is free and ahead
	underFirst bool // free: a further row of the block above it
}

func (b dayBlock) class() string {
	c := fmt.Sprintf("r%d s%d", b.row+1, b.rows)
	if b.lane > 0 {
		c += fmt.Sprintf(" c%d", b.lane)
	}
	return c
}

// dayLane is one practitioner's column, laid out.
type dayLane struct {
	id, name string
	blocks   []dayBlock
	lanes    int        // side lanes, 1 when nothing collides
	also     []DayVisit // cancelled visits whose time is taken again
	free     int        // minutes still ahead
}

// daySheet is a DayPage laid out in rows of Grid minutes from from.
type daySheet struct {
	p              DayPage
	loc            *time.Location
	date           time.Time // civil, UTC
	from, to, grid int
	rows           int
	lanes          []dayLane
	counts         map[string]int
	nowRow         int // -1 = not on this sheet
	nowPercent     int
}

// layout places everything. Opening hours are widened so that no visit is ever left off the sheet.
func (p DayPage) layout() daySheet {
	s := daySheet{p: p, loc: zone(p.LocationZone), date: civil(p.Date), grid: max(5, min(60, p.Grid)), counts: map[string]int{}, nowRow: -1}
	if p.Grid == 0 {
		s.grid = 15
	}
	from, to := p.From, p.To
	if to <= from {
		from, to = 8*60, 16*60
	}
	names := map[string]map[string]bool{} // name -> patients
	for _, c := range p.Columns {
		for _, v := range c.Visits {
			s.counts[v.Status]++
			if names[v.Patient.Name] == nil {
				names[v.Patient.Name] = map[string]bool{}
			}
			names[v.Patient.Name][v.Patient.ID] = true
			from, to = widen(from, to, s.grid, s.minute(v.StartsAt), s.minute(v.EndsAt))
		}
		for _, m := range c.Marks {
			from, to = widen(from, to, s.grid, s.minute(m.StartsAt), s.minute(m.EndsAt))
		}
	}
	s.from, s.to = max(0, from), min(2880, to)
	s.rows = (s.to - s.from + s.grid - 1) / s.grid
	if now := s.minute(p.Now); !p.Now.IsZero() && now >= s.from && now < s.to {
		s.nowRow, s.nowPercent = (now-s.from)/s.grid, (now-s.from)%s.grid*100/s.grid
	}
	for _, c := range p.Columns {
		s.lanes = append(s.lanes, s.column(c, names))
	}
	return s
}

func widen(from, to, grid, a, b int) (int, int) {
	if a < 0 || b > 2880 || b <= a {
		return from, to
	}
	for a < from && from >= grid {
		from -= grid
	}
	return from, max(to, b)
}

// minute is the wall time of t in minutes after midnight of the sheet's date.
func (s daySheet) minute(t time.Time) int {
	w := t.In(s.loc)
	day := time.Date(w.Year(), w.Month(), w.Day(), 0, 0, 0, 0, time.UTC)
	return int(day.Sub(s.date)/(24*time.Hour))*1440 + w.Hour()*60 + w.Minute()
}

// span gives the rows that [from, to) touches, inside the sheet; rows is 0 when it is outside.
func (s daySheet) span(from, to time.Time) (row, rows int) {
	a, b := s.minute(from), s.minute(to)
	if b <= a { // an hour that the clock repeats
		b = a + int(to.Sub(from)/time.Minute)
	}
	a, b = max(a, s.from), min(b, s.to)
	if b <= a {
		return 0, 0
	}
	row = (a - s.from) / s.grid
	return row, (b-s.from+s.grid-1)/s.grid - row
}

func (s daySheet) column(c DayColumn, names map[string]map[string]bool) dayLane {
	lane := dayLane{id: c.ID, name: c.Name, lanes: 1}
	taken := make([]bool, s.rows)
	take := func(row, rows int) {
		for i := row; i < row+rows; i++ {
			taken[i] = true
		}
	}
	clear := func(row, rows int) bool {
		return !slices.Contains(taken[row:row+rows], true)
	}
	visits := slices.Clone(c.Visits)
	slices.SortStableFunc(visits, func(a, b DayVisit) int { return a.StartsAt.Compare(b.StartsAt) })
	for _, v := range visits {
		row, rows := s.span(v.StartsAt, v.EndsAt)
		if v.Status == "cancelled" || rows == 0 {
			continue
		}
		long := utf8.RuneCountInString(v.Patient.Name) > 18 || (rows == 1 && utf8.RuneCountInString(v.Patient.Name) > 15)
		lane.blocks = append(lane.blocks, dayBlock{kind: blockVisit, row: row, rows: rows, from: v.StartsAt, to: v.EndsAt, visit: v,
			asks: v.Waiting, mrn: long || len(names[v.Patient.Name]) > 1})
		take(row, rows)
	}
	lane.lanes = sideBySide(lane.blocks)
	for _, m := range merged(c.Marks) {
		row, rows := s.span(m.StartsAt, m.EndsAt)
		if rows == 0 {
			continue
		}
		if !clear(row, rows) { // the time went to a visit meanwhile: say it there
			for i := range lane.blocks {
				if b := &lane.blocks[i]; b.row < row+rows && row < b.row+b.rows {
					b.asks = append(slices.Clone(b.asks), notIn(b.asks, m.Asks)...)
					break
				}
			}
			continue
		}
		lane.blocks = append(lane.blocks, dayBlock{kind: blockMark, row: row, rows: rows, from: m.StartsAt, to: m.EndsAt, asks: m.Asks})
		take(row, rows)
	}
	free, start := make([]bool, s.rows), make([]time.Time, s.rows)
	for _, f := range c.Free {
		row, rows := s.span(f.StartsAt, f.EndsAt)
		for i := row; i < row+rows; i++ {
			free[i], start[i] = true, f.StartsAt.Add(time.Duration((i-row)*s.grid)*time.Minute)
		}
	}
	for _, v := range visits {
		row, rows := s.span(v.StartsAt, v.EndsAt)
		if v.Status != "cancelled" || rows == 0 {
			continue
		}
		if !clear(row, rows) {
			lane.also = append(lane.also, v)
			continue
		}
		b := dayBlock{kind: blockCancelled, row: row, rows: rows, from: v.StartsAt, to: v.EndsAt, visit: v, mrn: len(names[v.Patient.Name]) > 1,
			bookable: !slices.Contains(free[row:row+rows], false) && v.StartsAt.After(s.p.Now)}
		if b.bookable {
			lane.free += rows * s.grid
		}
		lane.blocks = append(lane.blocks, b)
		take(row, rows)
	}
	for _, x := range c.Shut {
		row, rows := s.span(x.StartsAt, x.EndsAt)
		s.fill(&lane, taken, row, row+rows, x.Word)
	}
	s.freeRows(&lane, taken, free, start)
	return lane
}

// freeRows turns free rows into one block each, so that every start is a target, and all other rows into shut time.
func (s daySheet) freeRows(lane *dayLane, taken, free []bool, start []time.Time) {
	for i := 0; i < s.rows; i++ {
		if taken[i] || !free[i] {
			continue
		}
		b := dayBlock{kind: blockFree, row: i, rows: 1, from: start[i], to: start[i].Add(time.Duration(s.grid) * time.Minute)}
		past := !b.from.After(s.p.Now)
		if past {
			b.kind = blockUnused
		}
		j := i + 1
		for j < s.rows && free[j] && !taken[j] && !start[j].After(s.p.Now) == past {
			j++
		}
		end := start[j-1].Add(time.Duration(s.grid) * time.Minute)
		if past {
			b.rows, b.to = j-i, end
			lane.blocks = append(lane.blocks, b)
		} else {
			lane.free += (j - i) * s.grid
			for k := i; k < j; k++ {
				lane.blocks = append(lane.blocks, dayBlock{kind: blockFree, row: k, rows: 1, from: start[k], to: end, underFirst: k > i})
			}
		}
		for k := i; k < j; k++ {
			taken[k] = true
		}
	}
	lunch := func(i int) bool {
		m := s.from + i*s.grid
		return m >= s.p.LunchFrom && m < s.p.LunchTo
	}
	if len(lane.blocks) == 0 {
		s.fill(lane, taken, 0, s.rows, "No hours")
	}
	for i := 0; i < s.rows; i++ {
		word := "No hours"
		j := i
		for j < s.rows && lunch(j) == lunch(i) {
			j++
		}
		if lunch(i) {
			word = "Lunch"
		}
		s.fill(lane, taken, i, j, word)
		i = j - 1
	}
	slices.SortStableFunc(lane.blocks, func(a, b dayBlock) int { return a.row - b.row })
}

// fill shuts the rows of [row, end) that nothing else has.
func (s daySheet) fill(lane *dayLane, taken []bool, row, end int, word string) {
	for i := row; i < end; i++ {
		if taken[i] {
			continue
		}
		j := i
		for j < end && !taken[j] {
			taken[j] = true
			j++
		}
		lane.blocks = append(lane.blocks, dayBlock{kind: blockShut, row: i, rows: j - i, word: word})
		i = j
	}
}

// sideBySide gives colliding visits lanes of their own and returns how many there are.
func sideBySide(blocks []dayBlock) int {
	ends, lanes := []int{}, 1
	for i := range blocks {
		b := &blocks[i]
		collides := slices.ContainsFunc(blocks, func(o dayBlock) bool {
			return o.visit.ID != b.visit.ID && o.row < b.row+b.rows && b.row < o.row+o.rows
		})
		if !collides {
			continue
		}
		k := slices.IndexFunc(ends, func(end int) bool { return end <= b.row })
		if k < 0 {
			ends, k = append(ends, 0), len(ends)
		}
		ends[k] = b.row + b.rows
		b.lane = min(k+1, 4)
		lanes = max(lanes, b.lane)
	}
	return lanes
}

// notIn gives the asks that are not there yet: a visit moved by less than its length asks for its own time.
func notIn(there, more []DayAsk) []DayAsk {
	return slices.DeleteFunc(slices.Clone(more), func(a DayAsk) bool {
		return slices.ContainsFunc(there, func(b DayAsk) bool { return b.Proposal == a.Proposal })
	})
}

// merged joins marks that overlap: together they are the rivals of one time.
func merged(marks []DayMark) []DayMark {
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b DayMark) int { return a.StartsAt.Compare(b.StartsAt) })
	var out []DayMark
	for _, m := range marks {
		if n := len(out); n > 0 && m.StartsAt.Before(out[n-1].EndsAt) {
			out[n-1].Asks = append(slices.Clone(out[n-1].Asks), m.Asks...)
			if m.EndsAt.After(out[n-1].EndsAt) {
				out[n-1].EndsAt = m.EndsAt
			}
			continue
		}
		out = append(out, m)
	}
	return out
}
