package intake

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
)

// Refused names one line or entry that is not taken, or (Note) says what was left out of one that is.
type Refused struct {
	Place    int
	Kind, ID string // of the resource, as far as they are known
	Words    string
	Note     bool
}

// Result of one file.
type Result struct {
	Lines   bool           // places are lines, else entries
	Read    map[string]int // resources by kind
	Changed map[string]int // rows that are new or changed, by kind
	Left    map[string]int // resources of types that are not taken, by type
	Refused []Refused
	More    int // refused lines beyond mostRefused, which are not named
}

// mostRefused lines are named; a file that has more is not of this kind at all.
const mostRefused = 100_000

// Whole reports whether every resource was taken.
func (r *Result) Whole() bool {
	return r.More == 0 && !slices.ContainsFunc(r.Refused, func(x Refused) bool { return !x.Note })
}

// Store takes rows into one clinic, inside one transaction.
type Store interface {
	// TakeTypes makes the appointment types that are missing; one that is there keeps its name and length.
	TakeTypes(ctx context.Context, wishes []TypeWish) error
	// Take takes rows of one kind. problems has an entry for each row, nil for what was taken; the caller rolls back if it
	// wants all or nothing.
	Take(ctx context.Context, rows []Row) (changed int, problems []*Problem, err error)
	// Settle looks at what was taken as a whole, when nothing more comes: visits of one practitioner that overlap, as remote ids.
	Settle(ctx context.Context) (overlapping []string, err error)
}

// TypeWish is an appointment type that a file names, with the length that its visits mostly have.
type TypeWish struct {
	TypeCode
	Minutes int
}

// batch is how many rows are taken at once.
const batch = 500

// File is one file on its way in. It is read several times, one entry at a time: what it refers to may stand after it.
type File struct {
	from    io.ReadSeeker
	result  Result
	places  map[[12]byte]int // of kind and id
	kinds   []byte           // by place: which of Kinds it is, from 1; 0 = none
	urns    map[string]sketch
	lengths lengths
}

// Open reads the file through, and maps everything in it once. Errors: ErrNotWhole; those of from.
func Open(from io.ReadSeeker) (*File, error) {
	f := &File{from: from, places: map[[12]byte]int{}, urns: map[string]sketch{}, lengths: newLengths(),
		result: Result{Read: map[string]int{}, Changed: map[string]int{}, Left: map[string]int{}}}
	if err := f.index(); err != nil {
		return nil, err
	}
	return f, f.each(func(e Entry) error {
		if e.Fault != nil {
			f.refuse(Refused{Place: e.Place, Words: e.Fault.Words})
			return nil
		}
		s := sketchOf(e)
		row, notes, p := Map(resolved(e.Raw, f.urns), e.FullURL)
		if p == nil && f.places[placeKey(row.Kind(), row.Header().Remote)] != e.Place {
			p = problem(CodeTwice, fmt.Sprintf("it stands in the file twice, first at %s %d", f.word(), f.places[placeKey(s.kind, s.id)]))
		}
		if p != nil && p.Code == CodeUnsupported && p.Left && !slices.Contains(Kinds(), s.kind) {
			f.result.Left[s.kind]++
			return nil
		}
		if p != nil {
			f.refuse(Refused{e.Place, s.kind, s.id, p.Words, p.Left})
			return nil
		}
		for _, n := range notes {
			f.refuse(Refused{e.Place, s.kind, s.id, n, true})
		}
		f.result.Read[row.Kind()]++
		f.lengths.see(row)
		return nil
	})
}

// Brings reports how many resources of a kind can be read.
func (f *File) Brings(kind string) int { return f.result.Read[kind] }

// word is what places of the file are.
func (f *File) word() string {
	if f.result.Lines {
		return "line"
	}
	return "entry"
}

func (f *File) each(fn func(Entry) error) error {
	if _, err := f.from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	line, err := Entries(f.from, fn)
	f.result.Lines = line
	return err
}

// index remembers of each entry the kind, as a byte, where each resource stands first, as 12 bytes, and the addresses that entries have for each other.
func (f *File) index() error {
	return f.each(func(e Entry) error {
		f.kinds = append(f.kinds, make([]byte, e.Place+1-len(f.kinds))...)
		if e.Fault != nil {
			return nil
		}
		s := sketchOf(e)
		f.kinds[e.Place] = kindCode(s.kind)
		key := placeKey(s.kind, s.id)
		if _, ok := f.places[key]; !ok {
			f.places[key] = e.Place
		}
		if len(e.FullURL) > len(urn) && e.FullURL[:len(urn)] == urn && ValidRemote(s.id) && slices.Contains(Kinds(), s.kind) {
			f.urns[e.FullURL] = s
		}
		return nil
	})
}

func kindCode(kind string) byte { return byte(slices.Index(Kinds(), kind) + 1) }

func placeKey(kind, id string) (key [12]byte) {
	sum := sha256.Sum256([]byte(kind + "/" + id))
	copy(key[:], sum[:])
	return key
}

func (f *File) refuse(r Refused) {
	if len(f.result.Refused) == mostRefused {
		if !r.Note {
			f.result.More++
		}
		return
	}
	if r.ID != "" {
		r.ID = shownID(r.ID)
	}
	if !slices.Contains(Kinds(), r.Kind) {
		r.Kind, r.ID = "", ""
	}
	f.result.Refused = append(f.result.Refused, r)
}

// Into takes the file's rows into the store. It may be called again: each call starts anew. The result has what Open
// refused too; when it is not whole, the caller must roll back.
func (f *File) Into(ctx context.Context, store Store) (*Result, error) {
	opened := f.result
	defer func() { f.result = opened }()
	f.result.Refused = slices.Clone(opened.Refused)
	f.result.Changed = map[string]int{}
	if err := store.TakeTypes(ctx, f.lengths.wishes()); err != nil {
		return nil, err
	}
	for _, kind := range Kinds() {
		if f.result.Read[kind] == 0 {
			continue
		}
		if err := f.take(ctx, store, kind); err != nil {
			return nil, err
		}
	}
	overlapping, err := store.Settle(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range overlapping {
		f.refuse(Refused{f.places[placeKey(KindAppointment, id)], KindAppointment, id, "its practitioner has another visit at that time", false})
	}
	slices.SortStableFunc(f.result.Refused, func(a, b Refused) int { return a.Place - b.Place })
	result := f.result
	return &result, nil
}

func (f *File) take(ctx context.Context, store Store, kind string) error {
	var rows []Row
	code := kindCode(kind)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		changed, problems, err := store.Take(ctx, rows)
		if err != nil {
			return err
		}
		f.result.Changed[kind] += changed
		for i, p := range problems {
			if p != nil {
				h := rows[i].Header()
				f.refuse(Refused{h.Place, kind, h.Remote, p.Words, p.Left})
			}
		}
		rows = rows[:0]
		return nil
	}
	err := f.each(func(e Entry) error {
		if e.Fault != nil || e.Place >= len(f.kinds) || f.kinds[e.Place] != code {
			return nil
		}
		row, _, p := Map(resolved(e.Raw, f.urns), e.FullURL)
		if p != nil || f.places[placeKey(kind, row.Header().Remote)] != e.Place {
			return nil // refused already
		}
		row.Header().Place = e.Place
		if rows = append(rows, row); len(rows) == batch {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
