package audit

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Receipt proves from its text alone that an entry is in a clinic's trail as a checkpoint signed it.
type Receipt struct {
	Content   []byte // of the entry, as hashed
	Seq       int64
	Prev      Hash
	Path      []Hash // inclusion proof (RFC 9162 section 2.1.3)
	Point     Checkpoint
	Signature string // the signature line of the checkpoint's note, behind its name
	Key       string // public
}

const (
	receiptTitle = "COUNTERSIGN RECEIPT"
	receiptBegin = "-----BEGIN COUNTERSIGN RECEIPT-----"
	receiptEnd   = "-----END COUNTERSIGN RECEIPT-----"
	paperWidth   = 76
)

// Why a receipt counts for nothing.
var (
	ErrNoReceipt = errors.New("there is no receipt in this text")
	ErrReceipt   = errors.New("this receipt is damaged: it cannot be read")
	ErrAltered   = errors.New("the text of this receipt was altered: it does not say what its proof says")
	ErrProof     = errors.New("the proof is not good: this entry is not in the trail that the checkpoint signed")
)

// NewReceipt makes a receipt for the entry of a content at its place in the chain, from the note of a checkpoint.
func NewReceipt(content []byte, seq int64, prev Hash, path []Hash, note, key string) (r Receipt, err error) {
	r = Receipt{Content: content, Seq: seq, Prev: prev, Path: path, Key: key}
	if r.Point, err = OpenCheckpoint(note, key); err != nil {
		return r, err
	}
	_, line, _ := strings.Cut(note, "\n\n")
	part := strings.Fields(line)
	if len(part) != 3 {
		return r, ErrSignature
	}
	r.Signature = part[2]
	return r, r.check(key)
}

// check proves the receipt under one of the keys.
func (r Receipt) check(keys ...string) error {
	f, err := ReadFields(r.Content)
	if err != nil || f.Clinic != r.Point.Clinic {
		return ErrReceipt
	}
	signed := r.Point.Text() + "\n\u2014 " + keyName + " " + r.Signature + "\n"
	if _, err := OpenCheckpoint(signed, keys...); err != nil {
		return err
	}
	link := Link{Clinic: f.Clinic, Seq: r.Seq, Entry: f.ID, Content: sha(r.Content), Prev: r.Prev}
	if !ProvesInclusion(link.Leaf(), r.Seq-1, r.Point.Size, r.Path, r.Point.Root) {
		return ErrProof
	}
	return nil
}

// Says is the receipt in words: what the entry tells, and when it was signed.
func (r Receipt) Says() string {
	f, _ := ReadFields(r.Content)
	return wrap(fmt.Sprintf("Entry %s is number %d of the audit trail of clinic %s.", f.ID, r.Seq, f.Clinic)) + "\n\n" + wrap(f.Says()) + "\n\n" +
		wrap(fmt.Sprintf("On %s the trail counted %d entries, this one among them, and was signed so.",
			r.Point.At.Format("2 January 2006 at 15:04:05 UTC"), r.Point.Size)) + "\n"
}

// Says is the entry as a sentence.
func (f Fields) Says() string {
	at, err := time.Parse(time.RFC3339Nano, f.At)
	when := f.At
	if err == nil {
		when = at.UTC().Format("2 January 2006 at 15:04:05.999999 UTC")
	}
	s := fmt.Sprintf("It says: on %s, %s %s", when, f.ActorKind, f.Actor)
	if f.OnBehalfOf != "" {
		s += ", on behalf of " + f.OnBehalfOf + ","
	}
	if f.Role != "" {
		s += " (role " + f.Role + ")"
	}
	s += " did " + f.Action + " by way of " + f.Via + ", outcome " + f.Outcome
	if f.Code != "" {
		s += " (" + f.Code + ")"
	}
	if f.Object != "" {
		s += "; object " + f.ObjectKind + " " + f.Object
		if f.Version > 0 {
			s += " at version " + strconv.FormatInt(f.Version, 10)
		}
	}
	if f.Patient != "" {
		s += "; patient " + f.Patient
	}
	if f.Proposal != "" {
		s += "; proposal " + f.Proposal
	}
	if f.Revision > 0 {
		s += " revision " + strconv.Itoa(f.Revision)
	}
	if f.PlanHash != "" {
		s += "; the hash of its plan " + f.PlanHash
	}
	if f.Risk != "" {
		s += "; risk " + f.Risk
	}
	return s + "."
}

// Text is the receipt for paper: lines of at most 76 characters, which may be wrapped anew.
func (r Receipt) Text() string {
	b64 := base64.StdEncoding.EncodeToString
	path := []byte{}
	for _, h := range r.Path {
		path = append(path, h[:]...)
	}
	var b strings.Builder
	b.WriteString(receiptTitle + "\n\n" + r.Says() + "\nTo check this without the server that made it, and without a database:\n" +
		"countersign receipt verify --key KEY FILE, with the key that was kept elsewhere.\n\n" + receiptBegin + "\n")
	for _, m := range r.members(b64(r.Content), b64(r.Prev[:]), b64(path), b64(r.Point.Root[:]), b64(r.Point.Head[:])) {
		b.WriteString(m.name + ":\n" + breakAt(m.value))
	}
	b.WriteString(receiptEnd + "\n")
	return b.String()
}

type member struct{ name, value string }

func (r Receipt) members(content, prev, path, root, head string) []member {
	return []member{{"content", content}, {"number", strconv.FormatInt(r.Seq, 10)}, {"previous", prev}, {"size", strconv.FormatInt(r.Point.Size, 10)},
		{"root", root}, {"head", head}, {"path", path}, {"time", r.Point.At.UTC().Format(time.RFC3339)}, {"signature", r.Signature}, {"key", r.Key}}
}

// VerifyReceipts reads every receipt in a text, checks each from the text alone, and gives them. Lines may have been
// wrapped anew, and white space lost or added. Without public keys the key that a receipt names itself is believed, and
// it is for the reader to compare. An error is of the first receipt that is not good.
func VerifyReceipts(text string, keys ...string) (all []Receipt, err error) {
	squeezed := squeeze(strings.TrimPrefix(text, "\ufeff"))
	begin, end := squeeze(receiptBegin), squeeze(receiptEnd)
	for len(squeezed) > 0 {
		whole, rest, ok := strings.Cut(squeezed, end)
		if !ok {
			if strings.Contains(squeezed, begin) {
				return all, ErrReceipt
			}
			break
		}
		squeezed = rest
		_, data, ok := strings.Cut(whole, begin)
		at := strings.LastIndex(whole, squeeze(receiptTitle)+"Entry")
		if !ok || at < 0 {
			return all, ErrReceipt
		}
		r, err := readReceipt(data)
		if err != nil {
			return all, err
		}
		trusted := keys
		if len(trusted) == 0 {
			trusted = []string{r.Key}
		}
		if err := r.check(trusted...); err != nil {
			return all, err
		}
		if r.check(r.Key) != nil { // the key named on the paper is the one that signed
			return all, ErrAltered
		}
		if squeeze(r.Text()) != whole[at:]+end {
			return all, ErrAltered
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, ErrNoReceipt
	}
	return all, nil
}

func readReceipt(data string) (r Receipt, err error) {
	value := map[string]string{}
	names := r.members("", "", "", "", "")
	for i, m := range names {
		rest, ok := strings.CutPrefix(data, m.name+":")
		if !ok {
			return r, ErrReceipt
		}
		value[m.name], data = rest, ""
		if i+1 < len(names) {
			at := strings.Index(rest, names[i+1].name+":")
			if at < 0 {
				return r, ErrReceipt
			}
			value[m.name], data = rest[:at], rest[at:]
		}
	}
	ok := true
	bytesOf := func(name string) []byte {
		b, err := base64.StdEncoding.Strict().DecodeString(value[name])
		ok = ok && err == nil
		return b
	}
	hash := func(name string) Hash {
		h, is := HashOf(bytesOf(name))
		ok = ok && is
		return h
	}
	number := func(name string) int64 {
		n, err := strconv.ParseInt(value[name], 10, 64)
		ok = ok && err == nil
		return n
	}
	r = Receipt{Content: bytesOf("content"), Seq: number("number"), Prev: hash("previous"), Signature: value["signature"], Key: value["key"]}
	for b := bytesOf("path"); len(b) > 0; b = b[min(len(b), len(Hash{})):] {
		h, is := HashOf(b[:min(len(b), len(Hash{}))])
		ok = ok && is
		r.Path = append(r.Path, h)
	}
	bytesOf("signature") // strictly: it is kept as text
	f, fieldsErr := ReadFields(r.Content)
	at, timeErr := time.Parse(time.RFC3339, value["time"])
	r.Point = Checkpoint{Clinic: f.Clinic, Size: number("size"), Root: hash("root"), Head: hash("head"), At: at.UTC()}
	if !ok || fieldsErr != nil || timeErr != nil {
		return r, ErrReceipt
	}
	return r, nil
}

// squeeze leaves white space out.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// breakAt breaks a value without white space into lines.
func breakAt(s string) string {
	var b strings.Builder
	for len(s) > paperWidth {
		b.WriteString(s[:paperWidth] + "\n")
		s = s[paperWidth:]
	}
	return b.String() + s + "\n"
}

// wrap breaks words into lines for paper.
func wrap(s string) string {
	var b strings.Builder
	n := 0
	for _, w := range strings.Fields(s) {
		if n > 0 && n+1+len(w) > paperWidth {
			b.WriteString("\n")
			n = 0
		} else if n > 0 {
			b.WriteString(" ")
			n++
		}
		b.WriteString(w)
		n += len(w)
	}
	return b.String()
}
