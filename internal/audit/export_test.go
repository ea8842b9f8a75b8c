package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

var formats = []string{FormatCSV, FormatNDJSON, FormatFHIR}

// exported is a file of an honest chain, as far as it is kept.
func exported(t testing.TB, key *Key, format string, total, cut int, whole bool, keep func(i int) bool) []byte {
	t.Helper()
	all := rows(total)
	s := stored(all, cut)
	note, err := pointOf(t, s, all, total).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	from := Cut{Size: int64(cut), Frontier: s.Front, Head: ChainStart("hav")}
	if cut > 0 {
		from.Head = all[cut-1].Chain
	}
	e, err := NewExporter(&b, Manifest{Format: format, Clinic: "hav", Whole: whole}, from)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all[cut:] {
		if keep(i) {
			err = errors.Join(err, e.Row(Exported{Row: r, ActorName: "Søren \"=Łukasz\"\nGroß, Dr"}))
		}
	}
	if err := errors.Join(err, e.End(key, note)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func everything(int) bool { return true }

func found(t testing.TB, file []byte, keys []string, outside ...string) (out []string) {
	t.Helper()
	if _, err := VerifyFile(bytes.NewReader(file), keys, outside, func(f Finding) { out = append(out, f.Kind+": "+f.Words) }); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// An exported file proves itself: whole, of a trail that was cut, and of a part of it.
func TestAnExportedFileIsVerifiedByItself(t *testing.T) {
	key, other := testKey(t), testKey(t)
	all := rows(600)
	older, err := pointOf(t, stored(all, 0), all, 500).Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	forged := pointOf(t, stored(all, 0), all, 500)
	forged.Root[0]++
	another, err := forged.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range formats {
		for name, file := range map[string][]byte{
			"whole": exported(t, key, format, 600, 0, true, everything), "behind a cut": exported(t, key, format, 600, 300, true, everything),
			"a part": exported(t, key, format, 600, 0, false, func(i int) bool { return i%7 == 3 }), "nothing": exported(t, key, format, 600, 0, false, func(int) bool { return false }),
		} {
			for _, keys := range [][]string{nil, {key.Public}, {other.Public, key.Public}} {
				if got := found(t, file, keys, older); len(got) > 0 {
					t.Errorf("%s %s: %q", format, name, got)
				}
			}
			if got := found(t, file, []string{other.Public}); len(got) != 1 || !strings.Contains(got[0], "a key that is not known") {
				t.Errorf("%s %s with another key: %q", format, name, got)
			}
		}
		if got := found(t, exported(t, key, format, 600, 0, true, everything), nil, another); len(got) != 1 || !strings.HasPrefix(got[0], Rewritten) {
			t.Errorf("%s and a checkpoint that says otherwise: %q", format, got)
		}
		if got := found(t, exported(t, key, format, 400, 0, true, everything), nil, older); len(got) != 1 || !strings.HasPrefix(got[0], TailCut) {
			t.Errorf("%s and a checkpoint of more: %q", format, got)
		}
	}
}

// Whatever is done to a file is found: one bit anywhere, a record less, more, or elsewhere, or an end that is missing.
func TestADamagedFileIsFound(t *testing.T) {
	key := testKey(t)
	for _, format := range formats {
		for _, whole := range []bool{true, false} {
			file := exported(t, key, format, 30, 0, whole, everything)
			small := exported(t, key, format, 4, 0, whole, everything)
			for i := 0; i < len(small); i += 11 {
				flipped := slices.Clone(small)
				flipped[i] ^= 4
				if got := found(t, flipped, []string{key.Public}); len(got) == 0 {
					t.Fatalf("%s: byte %d can be another: %q", format, i, small[max(0, i-30):i+1])
				}
			}
			enc, _ := encodingOf(format)
			var records [][]byte
			if err := eachRecord(bytes.NewReader(file), enc, func(_ int64, r []byte) { records = append(records, slices.Clone(r)) }); err != nil {
				t.Fatal(err)
			}
			first := len(records) - 31
			for name, changed := range map[string][][]byte{
				"a record less":   slices.Delete(slices.Clone(records), first+4, first+5),
				"the last less":   slices.Delete(slices.Clone(records), first+29, first+30),
				"a record twice":  slices.Insert(slices.Clone(records), first+4, records[first+4]),
				"another order":   append(append(slices.Clone(records[:first+4]), records[first+5], records[first+4]), records[first+6:]...),
				"no manifest":     records[:first+30],
				"half a manifest": append(slices.Clone(records[:first+30]), records[first+30][:40]),
				"half a record":   append(slices.Clone(records[:first+20]), records[first+20][:60]),
				"only a manifest": records[first+30:],
			} {
				if got := found(t, bytes.Join(changed, nil), []string{key.Public}); len(got) == 0 {
					t.Errorf("%s, whole %v: %s is not found", format, whole, name)
				} else if strings.HasPrefix(name, "no ") || strings.HasPrefix(name, "half") {
					if !strings.Contains(strings.Join(got, "\n"), "broken off") {
						t.Errorf("%s: %s is not told as such: %q", format, name, got)
					}
				}
			}
			if got := found(t, bytes.ReplaceAll(file, []byte("\n"), []byte("\r\n")), nil); len(got) == 0 {
				t.Error(format, "with other line ends is not as it was")
			}
		}
	}
	for _, none := range []string{"", "hello\nworld\n", "PK\x03\x04"} {
		if _, err := VerifyFile(strings.NewReader(none), nil, nil, func(Finding) {}); !errors.Is(err, ErrNoExport) {
			t.Errorf("%q: %v", none, err)
		}
	}
}

// Case Z06: a spreadsheet reads it as UTF-8, takes no cell for a formula, and finds in it what the trail says.
func TestCSVIsReadBack(t *testing.T) {
	file := exported(t, testKey(t), FormatCSV, 5, 0, true, everything)
	if !bytes.HasPrefix(file, []byte("\xef\xbb\xbfnumber,at,")) {
		t.Fatalf("%q", file[:20])
	}
	r := csv.NewReader(bytes.NewReader(file[3:]))
	var got [][]string
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, cells)
	}
	if len(got) != 7 || got[6][0] != "manifest" {
		t.Fatal(len(got))
	}
	for i, x := range rows(5) {
		f := x.Columns
		c := got[i+1]
		if c[0] != fmt.Sprint(i+1) || c[1] != f.At || c[3] != f.Actor || c[4] != "Søren \"=Łukasz\"\nGroß, Dr" || c[9] != f.Action || c[16] != f.Proposal ||
			c[17] != "2" || c[18] != f.PlanHash || c[22] != string(x.Content) || c[25] != x.Chain.String() {
			t.Errorf("%q", c)
		}
	}
	for cell, want := range map[string]string{"=1+1": "'=1+1", "+45": "'+45", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\"=1": "'\"=1",
		"\n=1": "'\n=1", " =1": "' =1", "＝1": "'＝1", "'=1": "''=1", "'": "''", "a=1": "a=1", "Søren": "Søren", "": ""} {
		got := harmless(cell)
		back, err := csvCells(string(csvRecord([]string{cell, cell})))
		if got != want || err != nil || len(back) != 2 || back[0] != cell || back[1] != cell {
			t.Errorf("%q becomes %q and then %q, %v", cell, got, back, err)
		}
	}
}

// The FHIR form says who asked and who did it for them, about whom, and what came of it.
func TestFHIRShape(t *testing.T) {
	x := Exported{Row: rows(1)[0], ActorName: "Scheduler", OnBehalfOfName: "Front Desk"}
	for outcome, want := range map[string]string{Success: "0", Denied: "4", Failed: "8", "unknown": "8", Partial: "4"} {
		e := Event{ID: "aud_0", Action: MoveAppointment, Outcome: outcome, Code: "slot_taken", ObjectKind: "appointment", Object: "apt_1", Version: 3, Patient: "pat_1", Proposal: "p_1",
			Revision: 2, PlanHash: strings.Repeat("cd", 32)}
		e.Actor.Clinic, e.Actor.Kind, e.Actor.Agent, e.Actor.Person, e.Actor.Request, e.Actor.Role = "hav", "agent", "tok_1", "acc_1", "req_1", "staff"
		x.Row.Content, _ = e.Content()
		var got auditEvent
		if err := json.Unmarshal(fhirFile{}.row(x), &got); err != nil {
			t.Fatal(err)
		}
		if got.ResourceType != "AuditEvent" || got.Outcome != want || got.Action != "U" || len(got.Agent) != 2 || !got.Agent[0].Requestor || got.Agent[1].Requestor ||
			got.Agent[0].Who.Identifier.Value != "acc_1" || got.Agent[1].Who.Identifier.Value != "tok_1" || got.Agent[1].Extension[0].Value.Identifier.Value != "acc_1" {
			t.Errorf("%+v", got)
		}
		if len(got.Entity) != 5 || got.Entity[0].What.Reference != "Patient/pat_1" || got.Entity[1].What.Reference != "Appointment/apt_1/_history/3" ||
			got.Entity[2].Detail[1].Text != e.PlanHash || got.Entity[3].What.Identifier.Value != "req_1" {
			t.Errorf("%+v", got.Entity)
		}
	}
	for _, a := range Actions() {
		if letter, interaction := crude(a); !strings.Contains("CRUDE", letter) || interaction == "" {
			t.Error(a)
		}
	}
}
