package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/internal/clinic"
)

func testKey(t testing.TB) *Key {
	t.Helper()
	secret, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// rows is an honest chain.
func rows(n int) (out []Row) {
	head := ChainStart("hav")
	for i := range n {
		e := Event{ID: fmt.Sprintf("aud_%d", i), At: time.Date(2026, 6, 3, 9, 0, i, 1000, time.UTC), Action: Confirm, Outcome: Success, ObjectKind: "proposal", Object: "p_1", Proposal: "p_1",
			Revision: 2, PlanHash: strings.Repeat("ab", 32), Risk: "low", Actor: clinic.Actor{Clinic: "hav", Person: "acc_1", Kind: clinic.KindUser, Role: "staff", Via: "page", Request: "req_1"}}
		content, hash := e.Content()
		f, _ := ReadFields(content)
		l := Link{Clinic: "hav", Seq: int64(i + 1), Entry: e.ID, Content: sha(content), Prev: head}
		head = l.Hash()
		out = append(out, Row{Link: l, Chain: head, Content: content, Stored: hash, Columns: f})
	}
	return out
}

// stored is the tree of the rows, of which the first cut are gone.
func stored(all []Row, cut int) *Stored {
	tree, _ := NewTree(0, nil)
	s := &Stored{Cut: int64(cut)}
	tree.Tile = func(_ int64, root Hash) { s.Tiles = append(s.Tiles, root) }
	for i, r := range all {
		if i == cut {
			s.Front = tree.Frontier()
		}
		tree.Append(r.Leaf())
	}
	if cut == len(all) {
		s.Front = tree.Frontier()
	}
	s.Leaves = func(from, to int64) (out []Hash, _ error) {
		if from < int64(cut) {
			return nil, errors.New("cut away")
		}
		for _, r := range all[from:to] {
			out = append(out, r.Leaf())
		}
		return out, nil
	}
	return s
}

func pointOf(t testing.TB, s *Stored, all []Row, size int) Checkpoint {
	t.Helper()
	tree, err := s.At(int64(size))
	if err != nil {
		t.Fatal(err)
	}
	return Checkpoint{Clinic: "hav", Size: int64(size), Root: tree.Root(), Head: all[size-1].Chain, At: time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC)}
}

// Every proof of every entry and every older tree checks, also of a tree whose beginning was cut away, and proves nothing
// else.
func TestProofs(t *testing.T) {
	all := rows(700)
	whole := stored(all, 0)
	for _, size := range []int{1, 2, 3, 255, 256, 257, 511, 512, 513, 700} {
		root := pointOf(t, whole, all, size).Root
		for _, cut := range []int{0, 1, 100, 256, 300, 511} {
			if cut > size {
				continue
			}
			s := stored(all, cut)
			if pointOf(t, s, all, size).Root != root {
				t.Fatal(size, cut, "another root")
			}
			for _, i := range []int{cut, cut + 1, (cut + size) / 2, size - 1} {
				if i < cut || i >= size {
					continue
				}
				path, err := s.Inclusion(int64(i), int64(size))
				if err != nil {
					t.Fatal(size, cut, i, err)
				}
				if !ProvesInclusion(all[i].Leaf(), int64(i), int64(size), path, root) || ProvesInclusion(all[(i+1)%len(all)].Leaf(), int64(i), int64(size), path, root) {
					t.Fatal(size, cut, i, "inclusion")
				}
			}
			if cut > 0 {
				path, err := s.Consistency(int64(cut), int64(size))
				if err != nil || !ProvesConsistency(int64(cut), int64(size), path, pointOf(t, whole, all, cut).Root, root) {
					t.Fatal(size, cut, "consistency", err)
				}
			}
		}
	}
}

func receipt(t testing.TB, key *Key) Receipt {
	t.Helper()
	all := rows(300)
	s := stored(all, 0)
	note, err := pointOf(t, s, all, 290).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.Inclusion(41, 290)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReceipt(all[41].Content, 42, all[41].Prev, path, note, key.Public)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A receipt is checked from its text, however that was wrapped, copied or printed; no character of it can be another.
func TestAReceiptIsItsText(t *testing.T) {
	key, other := testKey(t), testKey(t)
	text := receipt(t, key).Text()
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 80 {
			t.Error("too wide for paper:", line)
		}
	}
	if !strings.Contains(text, "3 June 2026 at 09:00:41.000001 UTC") || !strings.Contains(text, "proposal p_1") {
		t.Error(text)
	}
	letters := strings.Join(strings.Split(squeeze(text), ""), "\n")
	for name, same := range map[string]string{
		"as it is": text, "CR LF": strings.ReplaceAll(text, "\n", "\r\n"), "one line": strings.ReplaceAll(text, "\n", " "), "narrow": letters,
		"quoted with an address": "Dear auditor,\n\n" + text + "\nRegards", "BOM": "\ufeff" + text, "wide": strings.ReplaceAll(text, " ", "   "),
	} {
		for _, keys := range [][]string{nil, {key.Public}, {other.Public, key.Public}} {
			if got, err := VerifyReceipts(same, keys...); err != nil || len(got) != 1 || got[0].Seq != 42 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got, err := VerifyReceipts(text+"\nPage 1 of 2\n"+text, key.Public); err != nil || len(got) != 2 {
		t.Error(len(got), err)
	}
	if _, err := VerifyReceipts(text, other.Public); !errors.Is(err, ErrUnknownKey) {
		t.Error("another's key:", err)
	}
	if _, err := VerifyReceipts("nothing here"); !errors.Is(err, ErrNoReceipt) {
		t.Error(err)
	}
	squeezed := squeeze(text)
	for i := len(squeeze(receiptTitle)); i < len(squeezed); i++ {
		flipped := []byte(squeezed)
		flipped[i] ^= 1
		if _, err := VerifyReceipts(string(flipped), key.Public); err == nil {
			t.Fatalf("character %d can be another: %s", i, squeezed[max(0, i-20):min(len(squeezed), i+20)])
		}
	}
	if _, err := VerifyReceipts(text[:len(text)-60]); err == nil {
		t.Error("without its end")
	}
}

// A receipt made for an entry that the signed tree does not hold is none.
func TestAReceiptOfSomethingElse(t *testing.T) {
	key := testKey(t)
	r := receipt(t, key)
	for name, change := range map[string]func(*Receipt){
		"another entry":    func(r *Receipt) { r.Content = []byte(strings.Replace(string(r.Content), "acc_1", "acc_2", 1)) },
		"another place":    func(r *Receipt) { r.Seq++ },
		"another size":     func(r *Receipt) { r.Point.Size++ },
		"another head":     func(r *Receipt) { r.Point.Head[0]++ },
		"another link":     func(r *Receipt) { r.Prev[0]++ },
		"half a path":      func(r *Receipt) { r.Path = r.Path[1:] },
		"another moment":   func(r *Receipt) { r.Point.At = r.Point.At.Add(time.Hour) },
		"no signature":     func(r *Receipt) { r.Signature = "" },
		"number too large": func(r *Receipt) { r.Seq = r.Point.Size + 1 },
	} {
		changed := r
		change(&changed)
		if _, err := VerifyReceipts(changed.Text(), key.Public); err == nil {
			t.Error(name)
		}
	}
}
