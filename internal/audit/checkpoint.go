package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"countersign/internal/clinic"
)

const (
	keyName = "countersign"
	origin  = "countersign/clinic/"
)

// Key is the installation's Ed25519 key. Public is the text that others keep, to know its signatures by.
type Key struct {
	Public string
	signer note.Signer
}

// NewKey makes a key; secret is what ParseKey reads.
func NewKey(random io.Reader) (secret string, err error) {
	secret, _, err = note.GenerateKey(random, keyName)
	return secret, err
}

// KeyOfProcess gives a key that ends with the process, always the same: for tests and measurements.
func KeyOfProcess(random io.Reader) func() (*Key, error) {
	return sync.OnceValues(func() (*Key, error) {
		secret, err := NewKey(random)
		if err != nil {
			return nil, err
		}
		return ParseKey(secret)
	})
}

// ParseKey reads the secret of a key.
func ParseKey(secret string) (*Key, error) {
	secret = strings.TrimSpace(secret)
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, errors.New("this is not the secret of a key")
	}
	part := strings.SplitN(secret, "+", 5)
	raw, err := base64.StdEncoding.DecodeString(part[4])
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return nil, errors.New("this is not the secret of a key")
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(raw[1:]).Public().(ed25519.PublicKey))
	return &Key{Public: public, signer: signer}, err
}

// Sign makes a signed note of the text, which ends with a line end.
func (k *Key) Sign(text string) (string, error) {
	b, err := note.Sign(&note.Note{Text: text}, k.signer)
	return string(b), err
}

// Why a note counts for nothing.
var (
	ErrSignature  = errors.New("the signature is not good")
	ErrUnknownKey = errors.New("it is signed by a key that is not known here")
)

// OpenNote gives the text of a note that one of the public keys has signed, and which. Errors: ErrSignature, ErrUnknownKey.
func OpenNote(signed string, public ...string) (text, by string, err error) {
	var known []note.Verifier
	public = slices.Compact(slices.Sorted(slices.Values(public))) // the same key twice would be ambiguous
	for _, p := range public {
		v, err := note.NewVerifier(strings.TrimSpace(p))
		if err != nil {
			return "", "", fmt.Errorf("this is not a public key: %q", p)
		}
		known = append(known, v)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(known...))
	var unknown *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unknown):
		return "", "", ErrUnknownKey
	case err != nil:
		return "", "", ErrSignature
	}
	for i, v := range known {
		if v.KeyHash() == n.Sigs[0].Hash {
			by = strings.TrimSpace(public[i])
		}
	}
	return n.Text, by, nil
}

// Checkpoint says what a clinic's trail was: so many entries, the root of the tree over them, and the hash of the last
// link. At is UTC, whole seconds.
type Checkpoint struct {
	Clinic string
	Size   int64
	Root   Hash
	Head   Hash
	At     time.Time
}

// Text is the body of the checkpoint's note: origin, size and root as in the checkpoints of transparency logs
// (C2SP tlog-checkpoint), and two lines of ours.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s%s\n%d\n%s\nchain %s\ntime %s\n", origin, c.Clinic, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]), c.Head,
		c.At.UTC().Format(time.RFC3339))
}

// Sign is the checkpoint as handed out.
func (c Checkpoint) Sign(k *Key) (string, error) { return k.Sign(c.Text()) }

// OpenCheckpoint reads a checkpoint that one of the public keys has signed. Line ends may have become CR LF on the way.
func OpenCheckpoint(signed string, public ...string) (c Checkpoint, err error) {
	text, _, err := OpenNote(strings.TrimSpace(strings.ReplaceAll(signed, "\r\n", "\n"))+"\n", public...)
	if err != nil {
		return c, err
	}
	return readCheckpoint(text)
}

func readCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n")
	bad := errors.New("this is not a checkpoint")
	if len(lines) != 6 {
		return c, bad
	}
	var ok [3]bool
	c.Clinic, ok[0] = strings.CutPrefix(lines[0], origin)
	c.Size, err = strconv.ParseInt(lines[1], 10, 64)
	root, rootErr := base64.StdEncoding.Strict().DecodeString(lines[2])
	c.Root, ok[1] = HashOf(root)
	c.Head, ok[2] = ParseHash(strings.TrimPrefix(lines[3], "chain "))
	at, atErr := time.Parse(time.RFC3339, strings.TrimPrefix(lines[4], "time "))
	c.At = at.UTC()
	if errors.Join(err, rootErr, atErr) != nil || ok != [3]bool{true, true, true} || !clinic.ValidID(c.Clinic) || c.Size < 0 || c.Text() != text {
		return c, bad
	}
	return c, nil
}

// ErrRewritten: the trail no longer begins with what an earlier checkpoint says it was.
var ErrRewritten = errors.New("the audit trail does not begin with what its last checkpoint signed: entries of the past were changed")

// Cut is what stands in place of a prefix of the chain that was removed: the first Size entries, of before a time. Note
// is their checkpoint, Head the hash of its last link, Frontier that of its tree.
type Cut struct {
	Size     int64
	Before   time.Time
	Note     string
	Head     Hash
	Frontier []Hash
}

// HeadOf is the head that a checkpoint names, whoever signed it.
func HeadOf(signed string) (h Hash) {
	for line := range strings.Lines(signed) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "chain "); ok {
			h, _ = ParseHash(text)
		}
	}
	return h
}

// ClinicOf is the clinic that a checkpoint names, whoever signed it.
func ClinicOf(signed string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(signed), "\n")
	id, _ := strings.CutPrefix(strings.TrimSpace(line), origin)
	return id
}
