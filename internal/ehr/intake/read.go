package intake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// mostResource is how long one resource may be, in bytes.
const mostResource = 4 << 20

// Entry is one line of NDJSON or one entry of a Bundle, not yet read. Place counts from 1. Fault is why it could not be
// cut out of the file; then Raw is nil.
type Entry struct {
	Place   int
	FullURL string
	Raw     []byte // valid until the next entry
	Fault   *Problem
}

// ErrNotWhole is a bundle that cannot be read to its end: nothing of it is taken. Its text says where.
var ErrNotWhole = errors.New("the bundle cannot be read to its end")

// Entries hands every entry of the file to fn, in order, holding one at a time: a Bundle of any type, or NDJSON. line tells
// which: places are lines, else entries. An error of fn ends it and is returned. Other errors: ErrNotWhole; those of r.
func Entries(r io.Reader, fn func(Entry) error) (line bool, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, err := in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	// A file that opens with a whole resource that is no Bundle is NDJSON; so is what cannot be told.
	start, err := in.Peek(64 << 10)
	if err != nil && err != io.EOF {
		return false, err
	}
	if opensBundle(start) {
		return false, bundleEntries(in, fn)
	}
	return true, lines(in, fn)
}

// opensBundle looks at the top-level members, as far as the start of the file goes.
func opensBundle(start []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(start))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return false
		}
		switch name.String() {
		case "entry":
			return true
		case "resourceType":
			t, err := d.ReadToken()
			return err == nil && t.Kind() == '"' && t.String() == "Bundle"
		}
		if err := d.SkipValue(); err != nil {
			return false
		}
	}
}

func lines(in *bufio.Reader, fn func(Entry) error) error {
	var line []byte
	for place := 1; ; place++ {
		line = line[:0]
		tooLong := false
		for {
			part, err := in.ReadSlice('\n')
			if tooLong = tooLong || len(line)+len(part) > mostResource; !tooLong {
				line = append(line, part...)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			if err != nil && err != io.EOF {
				return err
			}
			e := Entry{Place: place, Raw: bytes.TrimSpace(line)}
			if tooLong {
				e.Raw, e.Fault = nil, problem(CodeMalformed, "it is longer than 4 MiB")
			}
			if len(e.Raw) > 0 || tooLong {
				if err := fn(e); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			}
			break
		}
	}
}

// meter stops a reader that is asked for more than one resource may have.
type meter struct {
	from io.Reader
	left int
}

var errTooLong = errors.New("an entry is longer than 4 MiB")

func (m *meter) Read(b []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLong
	}
	n, err := m.from.Read(b[:min(len(b), 32<<10)])
	m.left -= n
	return n, err
}

func bundleEntries(in io.Reader, fn func(Entry) error) error {
	m := &meter{from: in, left: mostResource}
	d := jsontext.NewDecoder(m)
	place := 0
	broken := func(err error) error {
		why := "malformed JSON"
		if errors.Is(err, errTooLong) {
			why = errTooLong.Error()
		} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			why = "it ends too early"
		}
		return fmt.Errorf("%w: %s, after entry %d (byte %d)", ErrNotWhole, why, place, d.InputOffset())
	}
	if _, err := d.ReadToken(); err != nil {
		return broken(err)
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return broken(err)
		}
		name := token.String()
		m.left = mostResource
		if name != "entry" {
			v, err := d.ReadValue()
			if err != nil {
				return broken(err)
			}
			if name == "resourceType" && string(v) != `"Bundle"` {
				return fmt.Errorf("%w: it is no Bundle", ErrNotWhole)
			}
			continue
		}
		if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
			return broken(err)
		}
		for d.PeekKind() != ']' {
			m.left = mostResource
			v, err := d.ReadValue()
			if err != nil {
				return broken(err)
			}
			place++
			if err := fn(entry(v, place)); err != nil {
				return err
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return broken(err)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return broken(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return fmt.Errorf("%w: something follows it", ErrNotWhole)
	}
	return nil
}
