package handlers

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

const apiRoot = "/api/v1"

// described is the document as data.
func described(t testing.TB) map[string]any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPI))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

// at walks members by name; nil where one is missing.
func at(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// follow is v, or what its $ref names.
func follow(doc, v any) any {
	if ref, ok := at(v, "$ref").(string); ok {
		return at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return v
}

// operation is one verb of one path of the document.
type operation struct {
	method, path string // GET, /proposals/{id}
	any
}

func operations(doc map[string]any) (all []operation) {
	for path, item := range doc["paths"].(map[string]any) {
		for verb, op := range item.(map[string]any) {
			all = append(all, operation{strings.ToUpper(verb), path, op})
		}
	}
	return all
}

func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func TestTheDescriptionIsOpenAPI31(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("it says %s", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.IsOpenAPI31OrLater(), openapi3.EnableSchemaFormatValidation(), openapi3.EnableMultiError()); err != nil {
		t.Error(err)
	}
}

func TestTheDescriptionHasTheRoutesAndNoOthers(t *testing.T) {
	var routed, written []string
	for _, r := range newSiteless().routes() {
		if rest, ok := strings.CutPrefix(r.path, apiRoot); ok {
			parts := strings.Split(rest, "/")
			for i, p := range parts {
				if name, ok := strings.CutPrefix(p, ":"); ok {
					parts[i] = "{" + name + "}"
				}
			}
			line := r.method + " " + strings.Join(parts, "/")
			if r.access == plain {
				line += " without a token"
			}
			routed = append(routed, line)
		}
	}
	doc := described(t)
	for _, op := range operations(doc) {
		line := op.method + " " + op.path
		if security, there := op.any.(map[string]any)["security"]; there && len(security.([]any)) == 0 {
			line += " without a token"
		}
		written = append(written, line)
	}
	slices.Sort(routed)
	slices.Sort(written)
	if !slices.Equal(routed, written) {
		t.Errorf("routed:\n%s\ndescribed:\n%s", strings.Join(routed, "\n"), strings.Join(written, "\n"))
	}
	if at(doc["security"].([]any)[0], "token") == nil || at(doc, "components", "securitySchemes", "token", "scheme") != "bearer" {
		t.Error("the calls are not behind a bearer token")
	}
}

// Codes, actions and other closed lists are those of the program.
func TestTheDescriptionHasEveryCode(t *testing.T) {
	doc := described(t)
	schema := func(name ...string) any { return at(doc, append([]string{"components", "schemas"}, name...)...) }
	retries := map[string]bool{}
	for _, a := range answers {
		retries[a.retry] = true
	}
	for name, c := range map[string]struct{ got, want []string }{
		"codes":   {texts(at(schema("Code"), "enum")), slices.Sorted(maps.Keys(answers))},
		"retry":   {texts(at(schema("Retry"), "enum")), slices.Sorted(maps.Keys(retries))},
		"actions": {texts(at(schema("Action"), "enum")), slices.Sorted(slices.Values(proposal.Actions()))},
		"reasons": {texts(at(schema("CancelParameters"), "properties", "reason_code", "enum")), slices.Sorted(slices.Values(proposal.ReasonCodes))},
		"risks":   {texts(at(schema("Risk"), "enum")), []string{proposal.Critical, proposal.High, proposal.Low, proposal.Medium}},
		"operations": {texts(at(schema("Step"), "properties", "op", "enum")),
			[]string{proposal.OpCancel, proposal.OpCreate, proposal.OpRegister, proposal.OpMove, proposal.OpResolve, proposal.OpSend, proposal.OpPolicy, proposal.OpContact}},
		"statuses": {texts(at(schema("Status"), "enum")), []string{clinic.StatusArrived, clinic.StatusBooked, clinic.StatusCancelled,
			clinic.StatusCheckedIn, clinic.StatusFulfilled, clinic.StatusNoShow, clinic.StatusWaitlist}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, and the program has %v", name, c.got, c.want)
		}
	}
	for _, s := range texts(at(schema("State"), "enum")) {
		if err := proposal.ValidState(s); err != nil {
			t.Errorf("state %s: %v", s, err)
		}
	}
	for _, op := range operations(doc) {
		for status, r := range at(op.any, "responses").(map[string]any) {
			for _, code := range codesOf(doc, r) {
				if strconv.Itoa(answers[code].status) != status {
					t.Errorf("%s %s: %s under %s", op.method, op.path, code, status)
				}
				if answers[code].later && at(follow(doc, r), "headers", "Retry-After") == nil {
					t.Errorf("%s %s: %s without Retry-After", op.method, op.path, code)
				}
			}
			if status >= "400" && len(codesOf(doc, r)) == 0 {
				t.Errorf("%s %s: %s names no code", op.method, op.path, status)
			}
		}
	}
}

// codesOf lists the codes that a response may carry.
func codesOf(doc, response any) []string {
	all, _ := at(follow(doc, response), "content", "application/json", "schema", "allOf").([]any)
	if len(all) != 2 {
		return nil
	}
	return texts(at(all[1], "properties", "error", "properties", "code", "enum"))
}

// The plan is described member by member, as the program writes it.
func TestTheDescriptionHasEveryMember(t *testing.T) {
	doc := described(t)
	for name, v := range map[string]any{"Plan": proposal.Plan{}, "Facts": proposal.Facts{}, "Step": proposal.Step{}, "Message": proposal.Message{}, "Pin": proposal.Pin{},
		"Proposal": proposal.Record{}, "Appointment": proposal.AppointmentAnswer{}, "Change": proposal.Change{}, "Choice": proposal.Choice{},
		"Alternative": proposal.Alternative{}, "PatientFacts": proposal.PatientFacts{}, "PatientRecord": proposal.PatientRecord{}, "PolicyFacts": proposal.PolicyFacts{}, "OperationFacts": proposal.OperationFacts{}, "SeenFacts": proposal.SeenFacts{}, "ResolveStep": proposal.ResolveStep{}, "ResolutionAnswer": proposal.ResolutionAnswer{}, "Candidate": proposal.Candidate{}, "PatientRow": proposal.PatientAnswer{}, "Creator": proposal.Creator{}, "Summary": proposal.Summary{}, "AuditRow": auditJSON{}, "Operation": operationJSON{}, "OperationAttempt": attemptJSON{}, "OperationLook": lookJSON{}} {
		var want []string
		for f := range reflect.TypeOf(v).Fields() {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "-" {
				want = append(want, tag)
			}
		}
		slices.Sort(want)
		schema := at(doc, "components", "schemas", name)
		got := slices.Sorted(maps.Keys(at(schema, "properties").(map[string]any)))
		if !slices.Equal(got, want) || !slices.Equal(texts(at(schema, "required")), want) {
			t.Errorf("%s: %v, and the program writes %v", name, got, want)
		}
	}
}

func TestTheDescriptionIsServedToAnybody(t *testing.T) {
	s := newSite(t, siteOptions{})
	a := s.browser().get(apiRoot + "/openapi.json")
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" || a.body != string(openAPI) || !json.Valid(openAPI) {
		t.Errorf("%d %s", a.status, a.header)
	}
}
