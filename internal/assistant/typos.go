package assistant

import "slices"

// shortestTypo is how long a word must be to be taken for a slip in the name of a day or a month.
const shortestTypo = 6

// dayTypo asks about words that are nearly a weekday or a month: the day that was meant must not be lost.
func (r *reading) dayTypo(u run) {
	for _, t := range r.tokens[u.from:u.to] {
		if len(t.word) < shortestTypo {
			continue
		}
		for _, names := range []map[string]int{r.lang.Weekdays, r.lang.Months} {
			for name := range names {
				if len(name) >= shortestTypo && slips(t.word, name) {
					r.ask("day_typo", t.raw)
					r.m.Lost = true
					return
				}
			}
		}
	}
}

// slips reports words that begin alike and differ by at most two letters left out, added, or exchanged.
func slips(a, b string) bool {
	if a[0] != b[0] || max(len(a), len(b))-min(len(a), len(b)) > 2 {
		return false
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], slices.Min([]int{row[j] + 1, row[j+1] + 1, before + cost})
		}
	}
	return row[len(b)] <= 2
}
