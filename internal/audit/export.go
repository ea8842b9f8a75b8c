package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"
)

// Formats of an export.
const (
	FormatCSV    = "csv"
	FormatNDJSON = "ndjson"
	FormatFHIR   = "fhir"
)

// Exported is a link with its entry and the names of people as they are now, which are not part of what is sealed.
type Exported struct {
	Row
	ActorName, OnBehalfOfName string
}

// Manifest is the last record of an exported file. It is signed, and its digest is of all bytes before it.
type Manifest struct {
	Format     string   `json:"format"`
	Clinic     string   `json:"clinic"`
	Filter     string   `json:"filter"` // as asked for, "" = none
	Whole      bool     `json:"whole"`  // every entry there is, up to the checkpoint
	Rows       int64    `json:"rows"`
	SHA256     string   `json:"sha256"`
	Cut        int64    `json:"cut"` // entries that are no longer kept
	Head       string   `json:"head"`
	Frontier   []string `json:"frontier"`
	Checkpoint string   `json:"checkpoint"`
	Key        string   `json:"key"`
}

const manifestTitle = "countersign.export.v1\n"

// encoding is one format: how a record is written and read. A record ends with its line end.
type encoding interface {
	opening() []byte
	row(Exported) []byte
	manifest(note string) []byte
	// read gives a record back: a row, or the note of the manifest.
	read(record []byte) (e Exported, note string, err error)
	// quoted: a line end between quotation marks does not end the record.
	quoted() bool
}

func encodingOf(format string) (encoding, bool) {
	e, ok := map[string]encoding{FormatCSV: csvFile{}, FormatNDJSON: ndjsonFile{}, FormatFHIR: fhirFile{}}[format]
	return e, ok
}

// Exporter writes a file of the trail, record by record.
type Exporter struct {
	w      io.Writer
	enc    encoding
	digest hash.Hash
	m      Manifest
}

// NewExporter begins a file. The manifest's Format, Clinic, Filter and Whole are the caller's; cut is where the rows begin.
func NewExporter(w io.Writer, m Manifest, cut Cut) (*Exporter, error) {
	enc, ok := encodingOf(m.Format)
	if !ok {
		return nil, fmt.Errorf("no format %q", m.Format)
	}
	m.Cut, m.Head, m.Frontier = cut.Size, cut.Head.String(), []string{}
	for _, h := range cut.Frontier {
		m.Frontier = append(m.Frontier, h.String())
	}
	e := &Exporter{w: w, enc: enc, digest: sha256.New(), m: m}
	return e, e.write(enc.opening())
}

// Row writes the next link.
func (e *Exporter) Row(x Exported) error {
	e.m.Rows++
	return e.write(e.enc.row(x))
}

// Rows is how many were written.
func (e *Exporter) Rows() int64 { return e.m.Rows }

// End writes the manifest, with a checkpoint that counts at least the last row.
func (e *Exporter) End(key *Key, checkpoint string) error {
	e.m.SHA256, e.m.Checkpoint, e.m.Key = hex.EncodeToString(e.digest.Sum(nil)), checkpoint, key.Public
	b, err := json.Marshal(e.m)
	if err != nil {
		return err
	}
	note, err := key.Sign(manifestTitle + string(b) + "\n")
	if err != nil {
		return err
	}
	return e.write(e.enc.manifest(note))
}

func (e *Exporter) write(b []byte) error {
	e.digest.Write(b)
	_, err := e.w.Write(b)
	return err
}

// openManifest reads a manifest that one of the keys has signed; without keys, the one it names itself.
func openManifest(note string, keys []string) (m Manifest, by string, err error) {
	read := func(text string) error {
		body, ok := strings.CutPrefix(text, manifestTitle)
		if !ok {
			return ErrSignature
		}
		return json.Unmarshal([]byte(body), &m)
	}
	if len(keys) == 0 {
		text, _, _ := strings.Cut(note, "\n\n")
		if err := read(text); err != nil {
			return m, "", ErrSignature
		}
		keys = []string{m.Key}
	}
	text, by, err := OpenNote(note, keys...)
	if err != nil {
		return m, "", err
	}
	return m, by, read(text)
}

func (m Manifest) cut() (c Cut) {
	c.Size = m.Cut
	c.Head, _ = ParseHash(m.Head)
	for _, f := range m.Frontier {
		h, _ := ParseHash(f)
		c.Frontier = append(c.Frontier, h)
	}
	return c
}

// fields is what an exported entry says, by its content alone.
func (x Exported) fields() Fields {
	f, err := ReadFields(x.Content)
	if err != nil {
		return Fields{}
	}
	return f
}
