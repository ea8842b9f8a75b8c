package audit

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Finding is one thing that is wrong, in plain words with ids and no patient's data.
type Finding struct {
	Clinic string // "" where a file has none
	Kind   string // one of the constants
	Words  string
}

// Kinds of findings.
const (
	EntryChanged     = "entry_changed"     // an entry, or a column beside it, is not what was sealed
	EntryGone        = "entry_gone"        // a link without its entry, or links that are missing
	ChainBroken      = "chain_broken"      // a link that does not follow from the one before
	TailCut          = "tail_cut"          // fewer links than a checkpoint counted
	Rewritten        = "rewritten"         // another chain than a checkpoint signed
	BadCheckpoint    = "bad_checkpoint"    // a checkpoint whose signature is not good
	NotSealed        = "not_sealed"        // an entry that waits for over a minute
	VersionUntold    = "version_untold"    // a version of an appointment without its entry
	EntryUnfounded   = "entry_unfounded"   // an entry of a change without the appointment's version
	AppointmentMoved = "appointment_moved" // an appointment that is not as its last version says
	GuardMissing     = "guard_missing"     // a table without its trigger or its policy
	FileDamaged      = "file_damaged"      // an exported file that is not as it was exported
	FileBroken       = "file_broken"       // an exported file without its end
)

// Row is a link of the chain with its entry as it is stored or was exported.
type Row struct {
	Link
	Chain   Hash   // of the link, as stored
	Content []byte // nil = the entry is gone
	Stored  string // the entry's content hash as stored beside it, hex
	Columns Fields // as stored beside the content; V and Role have no column
}

// Checker reads a clinic's chain in order, in memory that does not grow with it.
type Checker struct {
	// Tile is told each tile's root as it is computed from the rows. May be nil.
	Tile func(n int64, root Hash)

	clinic      string
	tree        *Tree
	head        Hash
	broken      bool // links are missing: root and heads can no longer be right
	checkpoints []Checkpoint
	report      func(Finding)
}

// NewChecker starts behind a cut (Size 0: at the beginning). The checkpoints are those whose signature is good, of this
// clinic; those of before the cut are not looked at.
func NewChecker(clinic string, cut Cut, checkpoints []Checkpoint, report func(Finding)) *Checker {
	c := &Checker{clinic: clinic, head: cut.Head, report: report}
	var err error
	if c.tree, err = NewTree(cut.Size, cut.Frontier); err != nil {
		c.find(BadCheckpoint, "what a cut left behind is damaged: %v", err)
		c.tree, _ = NewTree(0, nil)
		c.broken = true
	}
	c.tree.Tile = func(n int64, root Hash) {
		if c.Tile != nil && !c.broken {
			c.Tile(n, root)
		}
	}
	if cut.Size == 0 {
		c.head = ChainStart(clinic)
	}
	for _, p := range checkpoints {
		if p.Size >= cut.Size {
			c.checkpoints = append(c.checkpoints, p)
		}
	}
	slices.SortStableFunc(c.checkpoints, func(a, b Checkpoint) int { return int(a.Size - b.Size) })
	c.checkpoints = slices.Compact(c.checkpoints) // the one from outside is often the one that is stored
	c.compare()
	return c
}

func (c *Checker) find(kind, words string, args ...any) {
	c.report(Finding{c.clinic, kind, fmt.Sprintf(words, args...)})
}

// Row takes the next link.
func (c *Checker) Row(r Row) {
	switch next := c.tree.Size() + 1; {
	case c.broken && r.Seq > 0: // said already; each link is still checked by itself
	case r.Seq == next+1:
		c.find(EntryGone, "number %d is gone from the chain", next)
		c.broken = true
	case r.Seq > next:
		c.find(EntryGone, "numbers %d to %d are gone from the chain", next, r.Seq-1)
		c.broken = true
	case r.Seq < next:
		c.find(ChainBroken, "number %d comes where number %d was due", r.Seq, next)
		c.broken = true
	case r.Prev != c.head:
		c.find(ChainBroken, "number %d (entry %s) does not follow from the link before it", r.Seq, r.Entry)
	}
	c.head = r.Chain
	c.tree.Append(r.Leaf())
	r.alone(c.clinic, c.find)
	c.compare()
}

// alone checks a link and its entry without their neighbours.
func (r Row) alone(clinic string, find func(kind, words string, args ...any)) {
	if r.Chain != r.Hash() {
		find(ChainBroken, "number %d (entry %s): the link is not what its hash says", r.Seq, r.Entry)
	}
	if words := r.wrong(clinic); words != "" {
		kind := EntryChanged
		if r.Content == nil {
			kind = EntryGone
		}
		find(kind, "number %d (entry %s): %s", r.Seq, r.Entry, words)
	}
}

// compare holds the tree against the checkpoints of its size.
func (c *Checker) compare() {
	for len(c.checkpoints) > 0 && c.checkpoints[0].Size <= c.tree.Size() {
		p := c.checkpoints[0]
		c.checkpoints = c.checkpoints[1:]
		if !c.broken && p.Size == c.tree.Size() && (p.Root != c.tree.Root() || p.Head != c.head && p.Size > 0) {
			c.find(Rewritten, "the first %d entries are not those that the checkpoint of %s signed: the trail was rewritten", p.Size, TimeText(p.At))
		}
	}
}

// End tells that there is no further link.
func (c *Checker) End() {
	if n := len(c.checkpoints); n > 0 && !c.broken {
		p := c.checkpoints[n-1]
		c.find(TailCut, "the trail ends after number %d, and the checkpoint of %s counted %d entries: the end was cut off", c.tree.Size(), TimeText(p.At), p.Size)
	}
}

// Size is how many links there are, those that were cut away included.
func (c *Checker) Size() int64 { return c.tree.Size() }

// Tree is the tree of all links so far.
func (c *Checker) Tree() *Tree { return c.tree }

// wrong says what is wrong with an entry by itself, "" when nothing is.
func (r Row) wrong(clinic string) string {
	if r.Content == nil {
		return "the entry itself is gone"
	}
	if sha(r.Content) != r.Link.Content {
		return "the content was changed after it was sealed"
	}
	if r.Stored != r.Link.Content.String() {
		return "the hash beside the entry was changed"
	}
	f, err := ReadFields(r.Content)
	if err != nil || f.ID != r.Entry || f.Clinic != clinic {
		return "the content is not that of this entry"
	}
	columns := r.Columns
	columns.V, columns.Role = f.V, f.Role
	if f != columns {
		return "a column was changed: " + f.differs(columns)
	}
	return ""
}

// ReadFields reads a content.
func ReadFields(content []byte) (f Fields, err error) {
	err = json.Unmarshal(content, &f)
	return f, err
}

// differs names the first member that is not the same.
func (f Fields) differs(g Fields) string {
	for _, m := range []struct {
		name string
		same bool
	}{{"id", f.ID == g.ID}, {"clinic", f.Clinic == g.Clinic}, {"at", f.At == g.At}, {"actor_kind", f.ActorKind == g.ActorKind}, {"actor", f.Actor == g.Actor},
		{"on_behalf_of", f.OnBehalfOf == g.OnBehalfOf}, {"via", f.Via == g.Via}, {"action", f.Action == g.Action}, {"outcome", f.Outcome == g.Outcome},
		{"code", f.Code == g.Code}, {"object_kind", f.ObjectKind == g.ObjectKind}, {"object", f.Object == g.Object}, {"version", f.Version == g.Version},
		{"patient", f.Patient == g.Patient}, {"proposal", f.Proposal == g.Proposal}, {"revision", f.Revision == g.Revision},
		{"plan_hash", f.PlanHash == g.PlanHash}, {"risk", f.Risk == g.Risk}, {"request", f.Request == g.Request}} {
		if !m.same {
			return m.name
		}
	}
	return "role"
}
