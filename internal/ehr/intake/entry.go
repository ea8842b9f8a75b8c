package intake

import (
	"bytes"
	"regexp"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// entry takes an entry of a bundle apart. What a transaction would delete or patch is no resource.
func entry(raw []byte, place int) Entry {
	var e struct {
		FullURL  string         `json:"fullUrl"`
		Resource jsontext.Value `json:"resource"`
		Request  struct {
			Method string `json:"method"`
		} `json:"request"`
	}
	out := Entry{Place: place}
	switch err := json.Unmarshal(raw, &e); {
	case err != nil:
		out.Fault = problem(CodeMalformed, "malformed entry")
	case e.Request.Method == "DELETE" || e.Request.Method == "PATCH":
		out.Fault = problem(CodeUnsupported, "an import only adds and changes whole resources")
	case len(e.Resource) == 0 || e.Resource.Kind() != '{':
		out.Fault = problem(CodeMalformed, "it holds no resource")
	default:
		out.FullURL, out.Raw = e.FullURL, bytes.Clone(e.Resource)
	}
	return out
}

// sketch is what the index of a file needs of a resource.
type sketch struct {
	kind, id string
}

func sketchOf(e Entry) sketch {
	var s struct {
		ResourceType string `json:"resourceType"`
		ID           string `json:"id"`
	}
	if json.Unmarshal(e.Raw, &s) != nil {
		return sketch{}
	}
	if s.ID == "" && len(e.FullURL) > len(urn) && e.FullURL[:len(urn)] == urn {
		s.ID = e.FullURL[len(urn):]
	}
	return sketch{s.ResourceType, s.ID}
}

var urnReference = regexp.MustCompile(`"reference"\s*:\s*"(urn:uuid:[0-9A-Za-z.-]{1,64})"`)

// resolved puts "Patient/7" in the place of references to the addresses that entries of a transaction have for each other.
func resolved(raw []byte, urns map[string]sketch) []byte {
	if len(urns) == 0 || !bytes.Contains(raw, []byte(urn)) {
		return raw
	}
	return urnReference.ReplaceAllFunc(raw, func(found []byte) []byte {
		to, ok := urns[string(urnReference.FindSubmatch(found)[1])]
		if !ok {
			return found
		}
		return []byte(`"reference":"` + to.kind + "/" + to.id + `"`)
	})
}
