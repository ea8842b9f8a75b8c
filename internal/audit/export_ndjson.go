package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ndjsonFile is one JSON object a line. The content stands in it byte by byte as it was hashed.
type ndjsonFile struct{}

type ndjsonRow struct {
	Seq            int64           `json:"number"`
	Entry          string          `json:"entry"`
	ActorName      string          `json:"actor_name"`
	OnBehalfOfName string          `json:"on_behalf_of_name"`
	Content        json.RawMessage `json:"content"`
	ContentHash    string          `json:"content_hash"`
	PrevHash       string          `json:"prev_hash"`
	ChainHash      string          `json:"chain_hash"`
	Manifest       *string         `json:"manifest"`
}

func (ndjsonFile) quoted() bool    { return false }
func (ndjsonFile) opening() []byte { return nil }

func (ndjsonFile) row(x Exported) []byte {
	content := x.Row.Content
	switch {
	case content == nil:
		content = []byte("null")
	case !json.Valid(content) || content[0] != '{' || bytes.ContainsAny(content, "\r\n"):
		content = jsonText(content) // somebody changed it; it is exported as it is
	}
	return fmt.Appendf(nil, "{\"number\":%d,\"entry\":%s,\"actor_name\":%s,\"on_behalf_of_name\":%s,\"content\":%s,\"content_hash\":\"%s\",\"prev_hash\":\"%s\",\"chain_hash\":\"%s\"}\n",
		x.Seq, jsonText(x.Entry), jsonText(x.ActorName), jsonText(x.OnBehalfOfName), content, x.Link.Content, x.Prev, x.Chain)
}

func (ndjsonFile) manifest(note string) []byte {
	return fmt.Appendf(nil, "{\"manifest\":%s}\n", jsonText(note))
}

func (ndjsonFile) read(record []byte) (x Exported, note string, err error) {
	var r ndjsonRow
	if err := json.Unmarshal(record, &r); err != nil {
		return x, "", errors.New("this is not one of its records")
	}
	if r.Manifest != nil {
		return x, *r.Manifest, nil
	}
	var ok [3]bool
	x.Seq, x.Entry, x.ActorName, x.OnBehalfOfName = r.Seq, r.Entry, r.ActorName, r.OnBehalfOfName
	x.Link.Content, ok[0] = ParseHash(r.ContentHash)
	x.Prev, ok[1] = ParseHash(r.PrevHash)
	x.Chain, ok[2] = ParseHash(r.ChainHash)
	switch {
	case len(r.Content) > 0 && r.Content[0] == '"':
		err = json.Unmarshal(r.Content, &x.Row.Content) // base64
	case string(r.Content) != "null":
		x.Row.Content = r.Content
	}
	if ok != [3]bool{true, true, true} {
		err = errors.New("a hash cannot be read")
	}
	return x, "", err
}

// jsonText is a string, or bytes as base64, in JSON.
func jsonText(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and bytes only
	}
	return b
}
