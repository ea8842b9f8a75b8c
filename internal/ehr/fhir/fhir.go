// Package fhir holds the few FHIR R4 resources that this program reads and writes, and reads them strictly: members are
// matched by their exact names, a duplicate member or invalid UTF-8 is an error, and an instant without an offset is one
// too. Members it does not know are ignored; of an appointment, which is written back, they are kept as they came.
package fhir

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MediaType is that of every body we send.
const MediaType = "application/fhir+json"

// Instant is a point in time to the second or finer, always with its offset (FHIR R4 `instant`).
type Instant struct{ time.Time }

// At is the instant of t, in UTC and whole seconds: what we write.
func At(t time.Time) *Instant { return &Instant{t.UTC().Truncate(time.Second)} }

// ErrNoOffset: a time of day without an offset is not guessed at.
var ErrNoOffset = errors.New("fhir: an instant without an offset")

// ErrNoTime: a text that is no instant, or one of a time that does not exist.
var ErrNoTime = errors.New("fhir: a time that does not exist")

// MarshalJSON writes RFC 3339 with the offset it has.
func (i Instant) MarshalJSON() ([]byte, error) {
	return []byte(`"` + i.Format(time.RFC3339Nano) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler. Errors: ErrNoOffset, ErrNoTime.
func (i *Instant) UnmarshalJSON(b []byte) error {
	text := string(b)
	t, err := time.Parse(`"`+time.RFC3339Nano+`"`, text)
	if err != nil {
		if _, zoneless := time.Parse(`"2006-01-02T15:04:05"`, text); zoneless == nil {
			return ErrNoOffset
		}
		return ErrNoTime
	}
	i.Time = t
	return nil
}

// Meta is of every stored resource. VersionID is compared and nothing else is done with it.
type Meta struct {
	VersionID   string         `json:"versionId,omitzero"`
	LastUpdated *Instant       `json:"lastUpdated,omitzero"`
	Tag         []Coding       `json:"tag,omitempty"`
	More        jsontext.Value `json:",unknown"`
}

// Identifier is a business identifier: unique by System and Value together.
type Identifier struct {
	Type   *CodeableConcept `json:"type,omitzero"` // MR = medical record number
	System string           `json:"system,omitzero"`
	Value  string           `json:"value,omitzero"`
	More   jsontext.Value   `json:",unknown"`
}

// Reference points to another resource, mostly as "Patient/123".
type Reference struct {
	Reference  string         `json:"reference,omitzero"`
	Identifier *Identifier    `json:"identifier,omitzero"`
	Display    string         `json:"display,omitzero"`
	More       jsontext.Value `json:",unknown"`
}

// Coding is one code of one system.
type Coding struct {
	System  string         `json:"system,omitzero"`
	Code    string         `json:"code,omitzero"`
	Display string         `json:"display,omitzero"`
	More    jsontext.Value `json:",unknown"`
}

// CodeableConcept is one meaning in any number of codes.
type CodeableConcept struct {
	Coding []Coding       `json:"coding,omitempty"`
	Text   string         `json:"text,omitzero"`
	More   jsontext.Value `json:",unknown"`
}

// Has reports whether one of the codes is that one. An empty system is any.
func (c CodeableConcept) Has(system, code string) bool {
	for _, coding := range c.Coding {
		if coding.Code == code && (system == "" || coding.System == system) {
			return true
		}
	}
	return false
}

// Decode reads one resource. want is its resourceType, "" for any; another type is an error, and so are bytes after it.
func Decode(data []byte, want string, into any) error {
	var head struct {
		ResourceType string `json:"resourceType"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return malformed(err)
	}
	if head.ResourceType == "" || want != "" && head.ResourceType != want {
		return fmt.Errorf("fhir: not a resource of type %q", want)
	}
	return malformed(json.Unmarshal(data, into))
}

// TypeOf gives the resourceType of a document, "" when it is none.
func TypeOf(data []byte) string {
	var head struct {
		ResourceType string `json:"resourceType"`
	}
	if json.Unmarshal(data, &head) != nil {
		return ""
	}
	return head.ResourceType
}

// Encode writes a resource: the same value is the same bytes.
func Encode(resource any) ([]byte, error) {
	b, err := json.Marshal(resource, json.Deterministic(true))
	if err != nil {
		return nil, malformed(err)
	}
	return bytes.Clone(b), nil
}

// malformed keeps what was read out of the error: it may hold patient data.
func malformed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrNoOffset) {
		return ErrNoOffset
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("fhir: malformed JSON at byte %d", syntax.ByteOffset)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if errors.Is(err, ErrNoTime) { // only members that we know are read as times: their names are nobody's words
			return fmt.Errorf("fhir: %s is not a time that exists", semantic.JSONPointer.LastToken())
		}
		return fmt.Errorf("fhir: a member of the wrong kind at byte %d", semantic.ByteOffset)
	}
	return errors.New("fhir: malformed resource")
}
