// Package seed fills an empty database with the world of the demo and the tests: the same named people under the same
// ids every time, and generated ones around them. Days lie around the real today, in each location's zone.
package seed

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"countersign/db"
)

// The clinics. Accounts are made elsewhere, under these ids.
const (
	Havnegade = "hav"
	Lakeview  = "lake"
)

// Size says how much is generated, both clinics together.
type Size struct {
	Practitioners, Patients int
	VisitsPerDay            int // of a working day, as planned before days thin out ahead
	HistoryDays             int
}

// Sizes by the name `countersign seed --size` takes.
var Sizes = map[string]Size{
	"small":  {Practitioners: 4, Patients: 500, VisitsPerDay: 40, HistoryDays: 31},
	"medium": {Practitioners: 20, Patients: 20_000, VisitsPerDay: 240, HistoryDays: 365},
	"large":  {Practitioners: 100, Patients: 120_000, VisitsPerDay: 1_200, HistoryDays: 730},
}

// Slots are made this many days back and ahead. Visits lie further back than that, without slots.
const (
	slotDaysBack  = 31
	slotDaysAhead = 120
)

// Options for Run. The same Size, Seed and hour of Now make the same rows.
type Options struct {
	Size     string // small, medium, large
	Seed     uint64
	Now      time.Time
	Progress func(line string) // may be nil
}

// Run makes what is missing of the two clinics, each in one transaction. A clinic that is there is left as it is, and so
// is a database in which other clinics have accounts; made tells whether anything was written.
func Run(ctx context.Context, d *db.DB, opt Options) (made bool, err error) {
	size, ok := Sizes[opt.Size]
	if !ok {
		return false, fmt.Errorf("seed: no size %q: small, medium or large", opt.Size)
	}
	others, err := d.Clinics(ctx)
	if err != nil {
		return false, err
	}
	for _, id := range others {
		if id != Havnegade && id != Lakeview {
			return false, nil
		}
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, plan := range []func(Size, uint64) site{havnegade, lakeview} { // side by side: a large clinic takes minutes
		s := plan(size, opt.Seed)
		s.now = opt.Now.UTC().Truncate(time.Hour)
		s.say = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			if opt.Progress != nil {
				opt.Progress(s.name + ": " + line)
			}
		}
		wait.Go(func() {
			isNew, err := s.run(ctx, d)
			mu.Lock()
			defer mu.Unlock()
			made = made || isNew
			if err != nil {
				errs = append(errs, fmt.Errorf("seeding %s: %w", s.name, err))
			}
		})
	}
	wait.Wait()
	return made, errors.Join(errs...)
}

func (s *site) run(ctx context.Context, d *db.DB) (made bool, err error) {
	err = d.InClinic(ctx, s.id, func(tx *db.Tx) error {
		made, err = tx.AddClinic(ctx, s.name, s.secondPerson)
		if err != nil || !made {
			return err
		}
		return s.fill(ctx, tx)
	})
	return made && err == nil, err
}

// random is a stream of its own for each purpose, so that one more draw here moves nothing there.
func (s *site) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s.id + "/" + purpose))
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// newID is random but repeatable: a prefix and 12 characters.
func newID(r *rand.Rand, prefix string) string {
	const letters = "0123456789abcdefghjkmnpqrstvwxyz" // 32 without i l o u
	b := []byte(prefix)
	for n, i := r.Uint64(), 0; i < 12; i++ {
		b = append(b, letters[n&31])
		n >>= 5
	}
	return string(b)
}
