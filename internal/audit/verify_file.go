package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// FileReport is what a file says of itself.
type FileReport struct {
	Manifest
	Seen int64  // entries in the file
	By   string // the public key that signed the manifest; "" when its signature is not good
}

// maxRecord bounds a record of a file: what is longer is none of ours.
const maxRecord = 1 << 20

// ErrNoExport is of a file that is none of ours.
var ErrNoExport = errors.New("this is not an exported audit trail")

// VerifyFile checks an exported file from its bytes alone, in memory that does not grow with it. It reads it twice: for
// the manifest at its end, and for the rows. Without public keys the key that the file names itself is believed, and it
// is for the reader to compare. outside are checkpoints that were kept elsewhere, as text; they are held against a file
// of the whole trail.
func VerifyFile(r io.ReadSeeker, keys, outside []string, report func(Finding)) (out FileReport, err error) {
	find := func(kind, words string, args ...any) { report(Finding{out.Clinic, kind, fmt.Sprintf(words, args...)}) }
	enc, err := formatOf(r)
	if err != nil {
		return out, err
	}
	digest, last := sha256.New(), []byte(nil)
	if err := eachRecord(r, enc, func(_ int64, record []byte) {
		digest.Write(last)
		last = append(last[:0], record...)
	}); err != nil {
		return out, err
	}
	_, note, err := enc.read(last)
	switch {
	case err != nil || note == "":
		find(FileBroken, "the file has no manifest at its end: the export was broken off, or the end was cut off")
	default:
		m, by, err := openManifest(note, keys)
		if err != nil {
			find(FileDamaged, "the manifest: %v", err)
			break
		}
		out.Manifest, out.By = m, by
		if hex.EncodeToString(digest.Sum(nil)) != m.SHA256 || !bytes.Equal(enc.manifest(note), last) {
			find(FileDamaged, "the file is not byte by byte as it was exported")
		}
	}
	if len(keys) == 0 && out.By != "" {
		keys = []string{out.By}
	}
	v := fileRows{enc: enc, signed: out.By != "", whole: out.Whole && out.By != "", clinic: out.Clinic, report: report}
	if v.whole {
		v.checker = NewChecker(out.Clinic, out.cut(), pointsOf(out.Manifest, keys, outside, find), report)
	}
	if err := eachRecord(r, enc, v.record); err != nil {
		return out, err
	}
	out.Seen = v.seen
	if v.signed && v.seen != out.Rows {
		find(FileDamaged, "the file holds %d entries, and its manifest counts %d", v.seen, out.Rows)
	}
	if v.checker != nil {
		v.checker.End()
	}
	return out, nil
}

// pointsOf are the good checkpoints of a file's clinic: its own, and those from outside.
func pointsOf(m Manifest, keys, outside []string, find func(kind, words string, args ...any)) (good []Checkpoint) {
	for i, n := range append([]string{m.Checkpoint}, outside...) {
		what := "a checkpoint from outside"
		if i == 0 {
			what = "the checkpoint in the manifest"
		}
		c, err := OpenCheckpoint(n, keys...)
		switch {
		case err != nil:
			find(BadCheckpoint, "%s: %v", what, err)
		case c.Clinic != m.Clinic:
			find(BadCheckpoint, "%s is of another clinic, %s", what, c.Clinic)
		default:
			good = append(good, c)
		}
	}
	return good
}

// fileRows checks the rows of a file.
type fileRows struct {
	enc           encoding
	signed, whole bool
	clinic        string
	checker       *Checker // of a whole trail
	report        func(Finding)
	seen, before  int64
}

func (v *fileRows) record(n int64, record []byte) {
	find := func(kind, words string, args ...any) {
		v.report(Finding{v.clinic, kind, fmt.Sprintf(words, args...)})
	}
	if n == 0 {
		if !bytes.Equal(record, v.enc.opening()) {
			find(FileDamaged, "the first line is not as it was exported")
		}
		return
	}
	x, note, err := v.enc.read(record)
	if err != nil {
		find(FileDamaged, "record %d cannot be read: %v", n, err)
		return
	}
	if note != "" {
		return
	}
	v.seen++
	f := x.fields()
	if v.clinic == "" {
		v.clinic = f.Clinic
	}
	x.Clinic, x.Stored, x.Columns = v.clinic, x.Link.Content.String(), f
	if !bytes.Equal(v.enc.row(x), record) {
		find(FileDamaged, "record %d (entry %s): what stands beside its content was changed", n, x.Entry)
	}
	if v.checker != nil {
		v.checker.Row(x.Row)
		return
	}
	if x.Seq <= v.before {
		find(FileDamaged, "record %d (entry %s) is out of order", n, x.Entry)
	}
	v.before = x.Seq
	x.alone(v.clinic, find)
}

// formatOf tells the format by the first bytes.
func formatOf(r io.ReadSeeker) (encoding, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ErrNoExport
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte(bom+"number,")), bytes.HasPrefix(head, []byte("number,")):
		return csvFile{}, nil
	case bytes.HasPrefix(head, []byte(`{"resourceType"`)):
		return fhirFile{}, nil
	case bytes.HasPrefix(head, []byte(`{`)):
		return ndjsonFile{}, nil
	}
	return nil, ErrNoExport
}

// eachRecord gives every record to fn, rows from 1; the opening of a format that has one is number 0. The bytes are fn's
// until it returns.
func eachRecord(r io.ReadSeeker, enc encoding, fn func(n int64, record []byte)) error {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var record []byte
	n := int64(1)
	if len(enc.opening()) > 0 {
		n = 0
	}
	for {
		part, err := in.ReadSlice('\n')
		record = append(record, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return err
		}
		if len(record) > maxRecord {
			return fmt.Errorf("record %d is longer than any entry: %w", n, ErrNoExport)
		}
		ended := err == nil && !(enc.quoted() && bytes.Count(record, []byte(`"`))%2 == 1)
		if len(record) > 0 && (ended || errors.Is(err, io.EOF)) {
			fn(n, record)
			record = record[:0]
			n++
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}
