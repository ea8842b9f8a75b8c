package ehr

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"

	"countersign/internal/ehr/fhir"
)

// How a look is made, and what it saw (migration 0016).
const (
	ByBefore     = "before"
	ByRead       = "read"
	ByIdentifier = "identifier"
	ByWindow     = "window"

	SawEqual     = "equal"
	SawDifferent = "different"
	SawPatient   = "wrong_patient"
	SawNone      = "none"
	SawSeveral   = "several"
	SawUnchanged = "unchanged"
	SawMovedOn   = "moved_on"
	SawFailed    = "failed"
)

// match is one appointment found. Broken says why it could be read only in part ("no_offset"), else "".
type match struct {
	fhir.Appointment
	Broken string
}

// failure is a look that failed, by code: it is never "nothing is there".
type failure struct {
	Code      string
	Transport bool          // the EHR did not answer, or answered that it cannot: the lane's trouble, not this operation's
	Wait      time.Duration // that it asks to be left alone; 0 = it does not
}

func (f *failure) Error() string { return "ehr: a look failed: " + f.Code }

var errGone = errors.New("ehr: no such resource")

const mostPages = 200

// get reads one document that must be FHIR. Errors: errGone, *failure.
func (c *Client) get(ctx context.Context, r Request) ([]byte, error) {
	r.Method = http.MethodGet
	raw := c.Do(ctx, r)
	switch {
	case errors.Is(raw.Err, ErrElsewhere):
		return nil, &failure{Code: "page_elsewhere"}
	case raw.Certificate:
		return nil, &failure{Code: CodeCertificate, Transport: true}
	case raw.Status == 0:
		return nil, &failure{Code: CodeNoAnswer, Transport: true}
	case raw.Status >= 500 || raw.Status == http.StatusTooManyRequests:
		return nil, &failure{"status_" + strconv.Itoa(raw.Status), true, c.leftAlone(raw)}
	case raw.Err != nil || !raw.FHIR():
		return nil, &failure{Code: CodeUnreadable}
	case raw.Status == http.StatusGone || raw.Status == http.StatusNotFound && fhir.TypeOf(raw.Body) == "OperationOutcome":
		return nil, errGone
	case raw.Status != http.StatusOK:
		return nil, &failure{Code: "status_" + strconv.Itoa(raw.Status)}
	}
	return raw.Body, nil
}

// leftAlone is how long an EHR that has too much to do asks to be left alone.
func (c *Client) leftAlone(raw Raw) time.Duration {
	can := plain.with(c.conn.Settings)
	if raw.Status == http.StatusTooManyRequests {
		return wait(raw.Header, can, c.now())
	}
	return asked(raw.Header, can, c.now())
}

// read reads one appointment by its id. Errors: errGone, *failure.
func (c *Client) read(ctx context.Context, id, requestID string) (match, error) {
	body, err := c.get(ctx, Request{Path: "Appointment/" + url.PathEscape(id), ID: requestID})
	if err != nil {
		return match{}, err
	}
	m, ok := readMatch(body)
	if !ok || m.ID != id || !sound(&m.Appointment) {
		return match{}, &failure{Code: CodeUnreadable}
	}
	return m, nil
}

// readMatch reads an appointment. One whose time has no offset is read without its times: it is there, and different.
func readMatch(body []byte) (m match, ok bool) {
	err := fhir.Decode(body, "Appointment", &m.Appointment)
	if !errors.Is(err, fhir.ErrNoOffset) {
		return m, err == nil
	}
	var rest struct {
		ID          string             `json:"id"`
		Identifier  []fhir.Identifier  `json:"identifier"`
		Status      string             `json:"status"`
		Comment     string             `json:"comment"`
		Participant []fhir.Participant `json:"participant"`
	}
	if json.Unmarshal(body, &rest) != nil {
		return m, false
	}
	return match{fhir.Appointment{ResourceType: "Appointment", ID: rest.ID, Identifier: rest.Identifier, Status: rest.Status, Comment: rest.Comment,
		Participant: rest.Participant}, "no_offset"}, true
}

// search reads all pages of a search for appointments and keeps those that are wanted: an EHR may ignore a parameter.
// Errors: *failure, also for one page of them, and when the EHR says or shows that these are not all.
func (c *Client) search(ctx context.Context, q url.Values, requestID string, wanted func(*fhir.Appointment) bool) (found []match, err error) {
	r := Request{Path: "Appointment", Query: q, ID: requestID}
	seen, total := map[string]bool{}, 0
	for range mostPages {
		body, err := c.get(ctx, r)
		if errors.Is(err, errGone) { // some answer an empty search so; nobody else could tell it from a wrong address
			return nil, &failure{Code: "status_404"}
		}
		if err != nil {
			return nil, err
		}
		var page fhir.Bundle
		if fhir.Decode(body, "Bundle", &page) != nil || page.Type != "searchset" {
			return nil, &failure{Code: CodeUnreadable}
		}
		if page.Total != nil {
			total = max(total, *page.Total)
		}
		for _, e := range page.Entry {
			switch fhir.TypeOf(e.Resource) {
			case "Appointment":
				m, ok := readMatch(e.Resource)
				if !ok || m.ID == "" || !sound(&m.Appointment) {
					return nil, &failure{Code: CodeUnreadable}
				}
				if wanted(&m.Appointment) && !seen[m.ID] {
					found = append(found, m)
				}
				seen[m.ID] = true
			case "OperationOutcome": // warnings and information are normal inside a searchset
				var o fhir.OperationOutcome
				if fhir.Decode(e.Resource, "OperationOutcome", &o) != nil || o.Partial() {
					return nil, &failure{Code: "outcome"}
				}
			case "":
				return nil, &failure{Code: CodeUnreadable}
			}
		}
		next := page.Next()
		switch {
		case next == "" && len(seen) < total: // it has more than it shows
			return nil, &failure{Code: "incomplete"}
		case next == "":
			return found, nil
		}
		r = Request{Page: next, ID: requestID}
	}
	return nil, &failure{Code: "pages"}
}

// find looks for the appointment that has the operation's mark: by identifier, or where an EHR cannot do that among the
// visits of the days around its time, the patient's and then the practitioner's: one that was written to another patient
// must not look like none.
func (c *Client) find(ctx context.Context, operation string, v Visit, can Capabilities, requestID string) (how string, found []match, err error) {
	ours := func(a *fhir.Appointment) bool { return marked(a, operation) }
	days := []string{"ge" + v.StartsAt.AddDate(0, 0, -1).Format(time.DateOnly), "le" + v.StartsAt.AddDate(0, 0, 1).Format(time.DateOnly)}
	if can.IdentifierSearchable {
		q := url.Values{"identifier": {IdentifierSystem + "|" + operation}}
		if can.RequiresDateInSearch {
			q["date"] = days
		}
		found, err = c.search(ctx, q, requestID, ours)
		return ByIdentifier, found, err
	}
	found, err = c.search(ctx, url.Values{"patient": {v.patient()}, "date": days}, requestID, ours)
	if len(found) == 0 && err == nil {
		found, err = c.search(ctx, url.Values{"practitioner": {v.practitioner()}, "date": days}, requestID, ours)
	}
	return ByWindow, found, err
}

// free reports whether a slot can still be taken. Errors: *failure.
func (c *Client) free(ctx context.Context, id, requestID string) (bool, error) {
	body, err := c.get(ctx, Request{Path: "Slot/" + url.PathEscape(id), ID: requestID})
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var s fhir.Slot
	if fhir.Decode(body, "Slot", &s) != nil || s.ID != id {
		return false, &failure{Code: CodeUnreadable}
	}
	return s.Status == fhir.SlotFree, nil
}

// replacedBy reports whether a patient's record says that another stands for it. What cannot be read does not say so.
func (c *Client) replacedBy(ctx context.Context, id, other, requestID string) bool {
	body, err := c.get(ctx, Request{Path: "Patient/" + url.PathEscape(id), ID: requestID})
	var p fhir.Patient
	if err != nil || fhir.Decode(body, "Patient", &p) != nil {
		return false
	}
	for _, l := range p.Link {
		if t, to := l.Other.Target(); l.Type == "replaced-by" && t == "Patient" && to == other {
			return true
		}
	}
	return false
}
