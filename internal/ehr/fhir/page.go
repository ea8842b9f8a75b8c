package fhir

import (
	"bytes"
	"errors"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodePage reads a page of a search. A resource in it may be malformed within its own braces, as it came: a member twice,
// or what is no UTF-8. That is its own fault alone, and Decode finds it.
func DecodePage(data []byte, into *Bundle) error {
	if err := noneTwice(data); err != nil {
		return malformed(err)
	}
	if err := json.Unmarshal(data, into, loose()); err != nil {
		return malformed(err)
	}
	if into.ResourceType != "Bundle" {
		return errors.New("fhir: not a resource of type \"Bundle\"")
	}
	return nil
}

// Sketch reads no more of a resource than its type and id, also of one that is malformed as DecodePage lets it through.
func Sketch(data []byte) (resourceType, id string) {
	var s struct {
		ResourceType string `json:"resourceType"`
		ID           string `json:"id"`
	}
	if json.Unmarshal(data, &s, loose()) != nil {
		return "", ""
	}
	return s.ResourceType, s.ID
}

func loose() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// noneTwice refuses a document that names one of its own members twice: one of the two would be lost.
func noneTwice(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), loose())
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if seen[name] {
			return jsontext.ErrDuplicateName
		}
		seen[name] = true
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return nil
}
