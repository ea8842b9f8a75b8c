package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads 64 lower-case hexadecimal digits.
func ParseHash(text string) (h Hash, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	copy(h[:], b)
	return h, h.String() == text
}

// HashOf reads 32 bytes.
func HashOf(b []byte) (h Hash, ok bool) {
	copy(h[:], b)
	return h, len(b) == len(h)
}

// Link is the place of an entry in its clinic's chain. Seq counts from 1, without gaps. Content is the hash of the
// entry's content, Prev the hash of the link before.
type Link struct {
	Clinic  string
	Seq     int64
	Entry   string
	Content Hash
	Prev    Hash
}

// record is what is hashed: lines of a name and a value in a fixed order. Clinic and entry are ids (clinic.ValidID), so no
// value can hold the end of a line, and two different links never make the same bytes.
func (l Link) record() []byte {
	return fmt.Appendf(nil, "countersign.chain.v1\nclinic %s\nseq %d\nentry %s\ncontent %s\nprev %s\n", l.Clinic, l.Seq, l.Entry, l.Content, l.Prev)
}

// Hash is the link's own: the next link's Prev.
func (l Link) Hash() Hash { return sha256.Sum256(l.record()) }

// Leaf is the link's hash in the Merkle tree (RFC 9162 section 2.1.1).
func (l Link) Leaf() Hash { return sha256.Sum256(append([]byte{0}, l.record()...)) }

// ChainStart is the Prev of a clinic's first link.
func ChainStart(clinic string) Hash {
	return sha256.Sum256(fmt.Appendf(nil, "countersign.chain.v1\nclinic %s\nstart\n", clinic))
}

func sha(b []byte) Hash { return sha256.Sum256(b) }
