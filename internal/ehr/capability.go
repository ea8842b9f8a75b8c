package ehr

import (
	"context"
	"slices"
	"sync"
	"time"

	"countersign/internal/ehr/fhir"
)

// Settings are what is said of an EHR by hand; null = as its statement says, and without one as plain FHIR REST has it.
type Settings struct {
	IdentifierWritable   *bool  `json:"identifier_writable,omitempty"`
	IdentifierSearchable *bool  `json:"identifier_searchable,omitempty"`
	ConditionalCreate    *bool  `json:"conditional_create,omitempty"`
	IfMatch              *bool  `json:"if_match,omitempty"`
	NativeModify         *bool  `json:"native_modify,omitempty"`
	RequiresDateInSearch *bool  `json:"requires_date_in_search,omitempty"`
	AsyncCreate          *bool  `json:"async_create,omitempty"`
	StaleCodes           []int  `json:"stale_codes,omitempty"`
	RetryAfter           string `json:"retry_after,omitempty"` // http, none
}

// Capabilities are what the connector may count on with one EHR.
type Capabilities struct {
	IdentifierWritable   bool  // an identifier of ours is kept
	IdentifierSearchable bool  // and found by
	ConditionalCreate    bool  // If-None-Exist is sent; what comes of it is never trusted
	IfMatch              bool  // a write can say which version it changes
	NativeModify         bool  // a visit can be moved; else it is booked anew, looked for, and the old one cancelled
	RequiresDateInSearch bool  // a search needs a day
	AsyncCreate          bool  // 202, and a status that says so, are normal
	StaleCodes           []int // statuses of an If-Match that was not the version: 412, and with some 409
	RetryAfter           bool  // a Retry-After is to be believed (within limits)
}

// plain is FHIR REST as the specification has it.
var plain = Capabilities{IdentifierWritable: true, IdentifierSearchable: true, IfMatch: true, NativeModify: true,
	StaleCodes: []int{412}, RetryAfter: true}

// with puts what was said by hand over what is known.
func (c Capabilities) with(s Settings) Capabilities {
	for _, one := range []struct {
		said *bool
		to   *bool
	}{
		{s.IdentifierWritable, &c.IdentifierWritable}, {s.IdentifierSearchable, &c.IdentifierSearchable}, {s.ConditionalCreate, &c.ConditionalCreate},
		{s.IfMatch, &c.IfMatch}, {s.NativeModify, &c.NativeModify}, {s.RequiresDateInSearch, &c.RequiresDateInSearch},
		{s.AsyncCreate, &c.AsyncCreate},
	} {
		if one.said != nil {
			*one.to = *one.said
		}
	}
	if len(s.StaleCodes) > 0 {
		c.StaleCodes = slices.Clone(s.StaleCodes)
	}
	if s.RetryAfter != "" {
		c.RetryAfter = s.RetryAfter != "none"
	}
	if !c.IfMatch {
		c.NativeModify = false // a change that cannot say what it changes could undo somebody else's
	}
	if !c.IdentifierWritable {
		c.IdentifierSearchable = false
	}
	return c
}

// stated reads a CapabilityStatement.
func stated(s fhir.CapabilityStatement) Capabilities {
	c := plain
	for _, rest := range s.Rest {
		for _, r := range rest.Resource {
			if rest.Mode != "server" || r.Type != "Appointment" {
				continue
			}
			can := func(code string) bool {
				return slices.ContainsFunc(r.Interaction, func(i fhir.CapabilityInteraction) bool { return i.Code == code })
			}
			c.NativeModify = can("update")
			c.ConditionalCreate = r.ConditionalCreate
			c.IfMatch = r.Versioning != "no-version"
			c.IdentifierSearchable = can("search-type") && slices.ContainsFunc(r.SearchParam, func(p fhir.CapabilitySearch) bool { return p.Name == "identifier" })
		}
	}
	return c
}

const probeEvery = time.Hour

// prober asks an EHR what it can do, and remembers.
type prober struct {
	mu    sync.Mutex
	known Capabilities
	until time.Time
}

// capabilities gives what is known, asking when it is an hour old. An EHR without a statement is plain FHIR; one that
// does not answer now is asked again, and nothing is assumed. The lock is held for a call: one asks for all. Errors: *failure.
func (p *prober) capabilities(ctx context.Context, c *Client, requestID string) (Capabilities, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.now().Before(p.until) {
		return p.known, nil
	}
	raw := c.Do(ctx, Request{Method: "GET", Path: "metadata", ID: requestID})
	var statement fhir.CapabilityStatement
	found := plain
	switch {
	case raw.Err == nil && raw.Status == 200 && raw.FHIR() && fhir.Decode(raw.Body, "CapabilityStatement", &statement) == nil:
		found = stated(statement)
	case raw.Err == nil && raw.Status == 200 && raw.FHIR() && fhir.TypeOf(raw.Body) != "": // some other resource: it has none
	case raw.Err == nil && (raw.Status == 501 || raw.Status >= 400 && raw.Status < 500 && !slices.Contains([]int{401, 408, 429}, raw.Status)):
	case !p.until.IsZero():
		return p.known, nil // what it said before still holds
	case raw.Certificate:
		return Capabilities{}, &failure{Code: CodeCertificate, Transport: true}
	case raw.Token:
		return Capabilities{}, &failure{Code: CodeToken, Transport: true}
	default:
		return Capabilities{}, &failure{CodeNotReached, true, c.leftAlone(raw)}
	}
	p.known, p.until = found.with(c.conn.Settings), c.now().Add(probeEvery)
	return p.known, nil
}
