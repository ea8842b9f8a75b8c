package handlers

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"countersign/internal/refusal"
)

// oneMeaning refuses, before the SDK reads it, what is no single message or could be read in two ways: broken JSON,
// bytes after it, bad UTF-8, a member that comes twice. Numbers may be any here; the tools' arguments are read anew.
func oneMeaning(message []byte) error {
	const nothing = " Nothing was done."
	if !utf8.Valid(message) || !json.Valid(message) {
		return refusal.New(refusal.MalformedRequest, "The message is not one JSON object in UTF-8."+nothing)
	}
	if twice(message) {
		return refusal.New(refusal.MalformedRequest, "A member comes twice in the message."+nothing)
	}
	if _, err := jsonrpc.DecodeMessage(message); err != nil {
		return refusal.New(refusal.MalformedRequest, "The message is not one of JSON-RPC 2.0."+nothing)
	}
	return nil
}

// twice reports whether an object in valid JSON, at any depth, has two members of one name.
func twice(valid []byte) bool {
	type level struct {
		names map[string]bool // nil in an array
		name  bool            // a name comes next
	}
	var open []level
	d := json.NewDecoder(bytes.NewReader(valid))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return err != io.EOF
		}
		last := len(open) - 1
		if text, ok := t.(string); ok && last >= 0 && open[last].name {
			if open[last].names[text] {
				return true
			}
			open[last].names[text], open[last].name = true, false
			continue
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}, name: true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:last]
			last--
		}
		if last >= 0 && open[last].names != nil { // a value ended
			open[last].name = true
		}
	}
}
