package clinic

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func freeSlots(day string, opens, closes, grid int, types ...string) []FreeSlot {
	start, _ := time.Parse(time.DateOnly, day)
	var slots []FreeSlot
	for m := opens; m+grid <= closes; m += grid {
		from := start.Add(time.Duration(m) * time.Minute)
		slots = append(slots, FreeSlot{ID: fmt.Sprintf("%02d%02d", m/60, m%60), Practitioner: "p", Location: "l",
			StartsAt: from, EndsAt: from.Add(time.Duration(grid) * time.Minute), Types: types, Free: true})
	}
	return slots
}

func TestLastStart(t *testing.T) { // S11
	starts := FreeStarts(freeSlots("2026-06-09", 8*60, 16*60, 5, "standard"), 35, "standard")
	last := starts[len(starts)-1]
	if last.StartsAt.Format("15:04") != "15:25" || last.EndsAt.Format("15:04") != "16:00" || len(last.Slots) != 7 || last.Slots[0] != "1525" {
		t.Error(last)
	}
}

func TestStartsNeedFreeNeighboursOfTheType(t *testing.T) { // S13
	slots := freeSlots("2026-06-09", 480, 600, 15, "standard", "long") // 08:00-10:00
	slots[2].Free = false                                              // 08:30
	slots[5].Types = []string{"injection"}                             // 09:15
	slots = append(slots, freeSlots("2026-06-09", 600, 630, 15, "standard")...)
	slots[8].Practitioner, slots[9].Practitioner = "q", "q"
	slots = append(slots, freeSlots("2026-06-09", 660, 675, 15, "standard")...) // after a gap
	got := func(minutes int, typ string) (out []string) {
		for _, s := range FreeStarts(slots, minutes, typ) {
			out = append(out, s.Practitioner+s.StartsAt.Format("1504"))
		}
		return out
	}
	for _, c := range []struct {
		minutes int
		typ     string
		want    []string
	}{
		{30, "standard", []string{"p0800", "p0845", "p0930", "q1000"}},
		{20, "standard", []string{"p0800", "p0845", "p0930", "q1000"}}, // a slot covered in part is covered
		{15, "injection", []string{"p0915"}},
		{30, "injection", nil},
		{15, "long", []string{"p0800", "p0815", "p0845", "p0900", "p0930", "p0945"}},
		{60, "standard", nil},
		{0, "standard", nil},
		{15, "unknown", nil},
	} {
		if got := got(c.minutes, c.typ); !slices.Equal(got, c.want) {
			t.Errorf("%d min %s: got %v, want %v", c.minutes, c.typ, got, c.want)
		}
	}
}

func TestAVisitStaysWithOnePractitionerAndPlace(t *testing.T) {
	for _, change := range []func(*FreeSlot){func(s *FreeSlot) { s.Practitioner = "q" }, func(s *FreeSlot) { s.Location = "m" }} {
		slots := freeSlots("2026-06-09", 480, 510, 15, "standard")
		change(&slots[1])
		if got := FreeStarts(slots, 30, "standard"); got != nil {
			t.Error("offered across two:", got)
		}
		if _, ok := Cover(slots, slots[0].StartsAt, 30); ok {
			t.Error("covered across two")
		}
	}
}

func TestCover(t *testing.T) {
	slots := freeSlots("2026-06-09", 480, 540, 15, "standard")
	at := func(m int) time.Time { return slots[0].StartsAt.Add(time.Duration(m) * time.Minute) }
	slots[1].Free, slots[1].Types = false, nil // not Cover's business
	for _, c := range []struct {
		start, minutes int
		want           []string
		ok             bool
	}{
		{0, 30, []string{"0800", "0815"}, true},
		{15, 40, []string{"0815", "0830", "0845"}, true},
		{0, 60, []string{"0800", "0815", "0830", "0845"}, true},
		{5, 15, nil, false},  // off the grid
		{30, 45, nil, false}, // past the hours
		{0, 0, nil, false},
		{-15, 30, nil, false},
	} {
		if ids, ok := Cover(slots, at(c.start), c.minutes); ok != c.ok || !slices.Equal(ids, c.want) {
			t.Errorf("%d+%d: %v %v", c.start, c.minutes, ids, ok)
		}
	}
	if _, ok := Cover(slices.Delete(slices.Clone(slots), 1, 2), at(0), 30); ok {
		t.Error("a missing slot on the way was not noticed")
	}
}

// Every start offered is one that Cover accepts with free slots of the type, and none is left out.
func TestFreeStartsAgreeWithCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := freeSlots("2026-06-09", 480, 480+15*20, 15, "standard")
		for i := range slots {
			slots[i].Free = rapid.IntRange(0, 3).Draw(t, "free") > 0
		}
		if cut := rapid.IntRange(0, 19).Draw(t, "cut"); cut > 0 {
			slots = slices.Delete(slots, cut, cut+1)
		}
		minutes := rapid.IntRange(1, 90).Draw(t, "minutes")
		want := map[time.Time][]string{}
		for _, s := range slots {
			ids, ok := Cover(slots, s.StartsAt, minutes)
			for _, s := range slots {
				ok = ok && (s.Free || !slices.Contains(ids, s.ID))
			}
			if ok {
				want[s.StartsAt] = ids
			}
		}
		shuffled := slices.Clone(slots)
		rand.New(rand.NewSource(int64(minutes))).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got := FreeStarts(shuffled, minutes, "standard")
		if len(got) != len(want) {
			t.Fatalf("%d starts, want %d", len(got), len(want))
		}
		for _, s := range got {
			if !slices.Equal(s.Slots, want[s.StartsAt]) {
				t.Fatalf("%v: slots %v, want %v", s.StartsAt, s.Slots, want[s.StartsAt])
			}
		}
	})
}

func BenchmarkFreeStartsWeek(b *testing.B) { // 12 practitioners, 5 days of 32 slots
	var slots []FreeSlot
	for p := range 12 {
		for d := range 5 {
			day := freeSlots(fmt.Sprintf("2026-06-%02d", 8+d), 480, 960, 15, "standard", "long")
			for i := range day {
				day[i].Practitioner = fmt.Sprint("p", p)
			}
			slots = append(slots, day...)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		FreeStarts(slots, 30, "long")
	}
}
