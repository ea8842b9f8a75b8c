package fhir

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bundle is an answer to a search, or a set of resources to import.
type Bundle struct {
	ResourceType string        `json:"resourceType"`
	Type         string        `json:"type,omitzero"`
	Total        *int          `json:"total,omitzero"`
	Link         []Link        `json:"link,omitempty"`
	Entry        []BundleEntry `json:"entry,omitempty"`
}

// Link is where else to look.
type Link struct {
	Relation string `json:"relation"`
	URL      string `json:"url"`
}

// BundleEntry holds one resource, not yet read.
type BundleEntry struct {
	FullURL  string         `json:"fullUrl,omitzero"`
	Resource jsontext.Value `json:"resource,omitzero"`
	Search   *EntrySearch   `json:"search,omitzero"`
}

// EntrySearch says why an entry is there: match, include or outcome.
type EntrySearch struct {
	Mode string `json:"mode,omitzero"`
}

// Next is the address of the page after this one, "" at the end.
func (b *Bundle) Next() string {
	for _, l := range b.Link {
		if l.Relation == "next" {
			return l.URL
		}
	}
	return ""
}

// OperationOutcome is what a server says about a request.
type OperationOutcome struct {
	ResourceType string  `json:"resourceType"`
	Issue        []Issue `json:"issue,omitempty"`
}

// Issue is one thing said. Severity: fatal, error, warning, information. Code is FHIR's; servers put their own codes
// into Details. Diagnostics may hold patient data and is never logged.
type Issue struct {
	Severity    string           `json:"severity"`
	Code        string           `json:"code"`
	Details     *CodeableConcept `json:"details,omitzero"`
	Diagnostics string           `json:"diagnostics,omitzero"`
}

// Serious reports whether the outcome holds an error or worse. Warnings and information are normal beside a success.
func (o *OperationOutcome) Serious() bool {
	return slices.ContainsFunc(o.Issue, Issue.serious)
}

// Says reports whether an issue has one of these codes, FHIR's or the server's own, whatever the case.
func (o *OperationOutcome) Says(codes ...string) bool {
	return slices.ContainsFunc(o.Issue, func(i Issue) bool { return i.says(codes) })
}

// Refuses reports whether there is an error or worse, and each of them has one of these codes.
func (o *OperationOutcome) Refuses(codes ...string) bool {
	return o.Serious() && !slices.ContainsFunc(o.Issue, func(i Issue) bool { return i.serious() && !i.says(codes) })
}

// Partial reports whether an answer that holds this outcome is not the whole one: an error, or a warning that something
// is missing.
func (o *OperationOutcome) Partial() bool {
	return o.Serious() || slices.ContainsFunc(o.Issue, func(i Issue) bool { return i.Severity != "information" && i.says(missingCodes) })
}

// missingCodes are FHIR's issue types of an answer that was not completed.
var missingCodes = []string{"incomplete", "timeout", "throttled", "transient", "too-costly", "lock-error", "no-store", "exception"}

func (i Issue) serious() bool { return i.Severity == "error" || i.Severity == "fatal" }

func (i Issue) says(codes []string) bool {
	is := func(code string) bool {
		return slices.ContainsFunc(codes, func(c string) bool { return strings.EqualFold(c, code) })
	}
	return is(i.Code) || i.Details != nil && slices.ContainsFunc(i.Details.Coding, func(c Coding) bool { return is(c.Code) })
}

// CapabilityStatement is what a server says it can do; only what we ask about.
type CapabilityStatement struct {
	ResourceType string `json:"resourceType"`
	FHIRVersion  string `json:"fhirVersion,omitzero"`
	Rest         []struct {
		Mode     string               `json:"mode"`
		Resource []CapabilityResource `json:"resource"`
	} `json:"rest"`
}

// CapabilityResource is what a server can do with one type of resource.
type CapabilityResource struct {
	Type              string                  `json:"type"`
	Interaction       []CapabilityInteraction `json:"interaction"`
	Versioning        string                  `json:"versioning"` // no-version, versioned, versioned-update
	ConditionalCreate bool                    `json:"conditionalCreate"`
	SearchParam       []CapabilitySearch      `json:"searchParam"`
}

// CapabilityInteraction is one interaction: read, create, update, search-type…
type CapabilityInteraction struct {
	Code string `json:"code"`
}

// CapabilitySearch is one parameter that can be searched by.
type CapabilitySearch struct {
	Name string `json:"name"`
	Type string `json:"type"`
}
