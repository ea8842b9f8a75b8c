package audit

import (
	"fmt"
	"math/bits"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

// A tile is a full subtree of TileSize leaves. Its root is kept, so that a tree of a million leaves is rebuilt from a few
// thousand hashes.
const (
	tileLevel = 8
	TileSize  = 1 << tileLevel
)

// Tree is the right edge of a growing Merkle tree (RFC 9162 section 2.1), in memory of its logarithm.
type Tree struct {
	factory *compact.RangeFactory
	edge    *compact.Range
	// Tile is told the root of every tile that becomes full, from 0. May be nil.
	Tile func(n int64, root Hash)
}

// NewTree is a tree of that many leaves with their frontier: the roots of its largest full subtrees, left to right.
func NewTree(size int64, frontier []Hash) (*Tree, error) {
	return newTree(0, size, frontier)
}

// NewTileTree is the part of a tree from the begin-th leaf on, which opens a tile, to the size-th. It has no Root.
func NewTileTree(begin, size int64, frontier []Hash) (*Tree, error) {
	return newTree(begin, size, frontier)
}

func newTree(begin, size int64, frontier []Hash) (*Tree, error) {
	f := &compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	edge, err := f.NewRange(uint64(begin), uint64(size), slicesOf(frontier))
	if err != nil {
		return nil, fmt.Errorf("a tree of %d leaves: %w", size, err)
	}
	return &Tree{factory: f, edge: edge}, nil
}

// Size is the number of leaves.
func (t *Tree) Size() int64 { return int64(t.edge.End()) }

// Append adds a leaf.
func (t *Tree) Append(leaf Hash) {
	err := t.edge.Append(leaf[:], func(id compact.NodeID, hash []byte) {
		if id.Level == tileLevel && t.Tile != nil {
			root, _ := HashOf(hash)
			t.Tile(int64(id.Index), root)
		}
	})
	if err != nil {
		panic(err) // a single leaf always fits
	}
}

// appendTile adds a full tile. The tree must end where a tile does.
func (t *Tree) appendTile(root Hash) error {
	r, err := t.factory.NewRange(t.edge.End(), t.edge.End()+TileSize, [][]byte{root[:]})
	if err != nil {
		return err
	}
	return t.edge.AppendRange(r, nil)
}

// Root is the tree's hash.
func (t *Tree) Root() Hash {
	b, err := t.edge.GetRootHash(nil)
	if err != nil {
		panic(err) // only for a tree that does not begin at 0
	}
	if b == nil {
		b = rfc6962.DefaultHasher.EmptyRoot()
	}
	h, _ := HashOf(b)
	return h
}

// Frontier is what NewTree takes.
func (t *Tree) Frontier() []Hash { return hashesOf(t.edge.Hashes()) }

// PartialTile is the part of the frontier of size leaves that lies in the tile that is not yet full.
func PartialTile(size int64, frontier []Hash) []Hash {
	return frontier[len(frontier)-bits.OnesCount64(uint64(size)%TileSize):]
}

// Stored is a tree as it is kept: the roots of its full tiles, the leaves, and, when its beginning was cut away, the
// frontier of what was cut.
type Stored struct {
	Tiles  []Hash
	Cut    int64
	Front  []Hash // of the first Cut leaves
	Leaves func(from, to int64) ([]Hash, error)

	known map[compact.NodeID]Hash
}

// At is the tree of the first size leaves, of which at least Cut.
func (s *Stored) At(size int64) (*Tree, error) {
	full := size / TileSize
	if size < s.Cut || full > int64(len(s.Tiles)) {
		return nil, fmt.Errorf("a tree of %d leaves cannot be made of %d tiles behind a cut at %d", size, len(s.Tiles), s.Cut)
	}
	t, from := &Tree{}, full*TileSize
	var err error
	if s.Cut > from {
		t, err = NewTree(s.Cut, s.Front)
		from = s.Cut
	} else {
		t, err = NewTree(0, nil)
		for i := int64(0); err == nil && i < full; i++ {
			err = t.appendTile(s.Tiles[i])
		}
	}
	if err != nil {
		return nil, err
	}
	leaves, err := s.leaves(from, size)
	for _, l := range leaves {
		t.Append(l)
	}
	return t, err
}

func (s *Stored) leaves(from, to int64) ([]Hash, error) {
	if from == to {
		return nil, nil
	}
	l, err := s.Leaves(from, to)
	if err == nil && int64(len(l)) != to-from {
		err = fmt.Errorf("the chain has %d of the entries %d to %d", len(l), from+1, to)
	}
	return l, err
}

// Inclusion proves that the leaf of an index, from 0, is in the tree of size leaves.
func (s *Stored) Inclusion(index, size int64) ([]Hash, error) {
	n, err := proof.Inclusion(uint64(index), uint64(size))
	if err != nil {
		return nil, err
	}
	return s.gather(n)
}

// Consistency proves that the tree of size leaves begins with the tree of older leaves.
func (s *Stored) Consistency(older, size int64) ([]Hash, error) {
	n, err := proof.Consistency(uint64(older), uint64(size))
	if err != nil {
		return nil, err
	}
	return s.gather(n)
}

func (s *Stored) gather(n proof.Nodes) ([]Hash, error) {
	if s.known == nil {
		s.known = map[compact.NodeID]Hash{}
		for i, id := range compact.RangeNodes(0, uint64(s.Cut), nil) {
			s.known[id] = s.Front[i]
		}
	}
	hashes := make([][]byte, len(n.IDs))
	for i, id := range n.IDs {
		h, err := s.node(id)
		if err != nil {
			return nil, err
		}
		hashes[i] = h[:]
	}
	all, err := n.Rehash(hashes, rfc6962.DefaultHasher.HashChildren)
	return hashesOf(all), err
}

// node is the root of a full subtree: a tile, made of tiles, made of leaves, or left behind by a cut.
func (s *Stored) node(id compact.NodeID) (h Hash, err error) {
	if h, ok := s.known[id]; ok {
		return h, nil
	}
	begin, end := id.Coverage()
	switch {
	case id.Level == tileLevel && id.Index < uint64(len(s.Tiles)):
		return s.Tiles[id.Index], nil
	case id.Level < tileLevel && int64(begin) >= s.Cut:
		leaves, err := s.leaves(int64(begin), int64(end))
		if err != nil {
			return h, err
		}
		h = fold(leaves)
	case id.Level == 0:
		return h, fmt.Errorf("entry %d was cut away", begin+1)
	default:
		var pair [2]Hash
		for i := range pair {
			if pair[i], err = s.node(compact.NewNodeID(id.Level-1, id.Index*2+uint64(i))); err != nil {
				return h, err
			}
		}
		h = fold(pair[:])
	}
	s.known[id] = h
	return h, nil
}

// fold is the root over a power of two of nodes.
func fold(level []Hash) Hash {
	for len(level) > 1 {
		for i := range len(level) / 2 {
			level[i], _ = HashOf(rfc6962.DefaultHasher.HashChildren(level[2*i][:], level[2*i+1][:]))
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// ProvesInclusion checks an inclusion proof.
func ProvesInclusion(leaf Hash, index, size int64, path []Hash, root Hash) bool {
	return index >= 0 && index < size &&
		proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:], slicesOf(path), root[:]) == nil
}

// ProvesConsistency checks a consistency proof.
func ProvesConsistency(older, size int64, path []Hash, olderRoot, root Hash) bool {
	return older >= 0 && older <= size &&
		proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(older), uint64(size), slicesOf(path), olderRoot[:], root[:]) == nil
}

func slicesOf(hashes []Hash) [][]byte {
	out := make([][]byte, len(hashes))
	for i := range hashes {
		out[i] = hashes[i][:]
	}
	return out
}

func hashesOf(slices [][]byte) []Hash {
	out := make([]Hash, len(slices))
	for i, b := range slices {
		out[i], _ = HashOf(b)
	}
	return out
}
