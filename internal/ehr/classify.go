package ehr

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/internal/ehr/fhir"
)

// Outcomes of one call that writes: what its answer alone allows to say. That a change is there is never one of them;
// only a look says so.
const (
	NotSent   = "not_sent"  // provably nothing has left: no answer is ever that
	Rejected  = "rejected"  // refused, without effect if looks bear it out
	Throttled = "throttled" // refused for now: an EHR may say so of what it has done
	Accepted  = "accepted"  // said to be there
	PendingIt = "pending"   // taken, and not done yet
	Unclear   = "unknown"   // anything else after the first byte may have left
	ForPeople = "manual"    // a contradiction
)

// Codes of outcomes. Those of a refusal are what the desk is told.
const (
	CodeStale       = "resource_changed"
	CodeSlotTaken   = "slot_taken"
	CodeRefused     = "ehr_refused"
	CodeConfig      = "ehr_configuration" // the connection is not set up for what it is asked
	CodeAuth        = "permission_denied"
	CodeNotReached  = "ehr_not_reached"
	CodeCertificate = "certificate"
	CodeToken       = "token"
	CodeTooLate     = "too_late"
	CodeLocked      = "locked"
	CodeBusy        = "busy"
	CodeNoAnswer    = "no_answer"
	CodeUnreadable  = "unreadable"
	CodeServer      = "server_error"
	CodeDuplicate   = "duplicate"
	CodeSeveral     = "several"
	CodePatient     = "wrong_patient"
	CodeWarning     = "warning"
)

// Answer is what one call came to.
type Answer struct {
	Outcome, Code           string
	Firm                    bool          // of rejected: the EHR itself names a reason that is none of the way there
	Wait                    time.Duration // of throttled
	RemoteID, RemoteVersion string        // as the answer names them
}

// limits of a pause that an EHR asks for.
const (
	leastWait  = time.Second
	mostWait   = 15 * time.Minute
	usualWait  = 30 * time.Second // when it names none
	lockedWait = 5 * time.Second
)

// Classify says what an answer to a write means, from the request, the status and what the body says; never from the
// status alone.
func Classify(r Request, wanted Visit, raw Raw, c Capabilities, now time.Time) Answer {
	if raw.Status == 0 {
		return unanswered(raw)
	}
	said := understand(raw)
	a := classified(r, wanted, raw, said, c, now)
	a.Firm = a.Outcome == Rejected && raw.Status >= 400 && raw.Status < 500 && said.outcome != nil && said.outcome.Refuses(businessCodes...)
	return a
}

func classified(r Request, wanted Visit, raw Raw, said understood, c Capabilities, now time.Time) Answer {
	creates := r.Method == http.MethodPost
	stale := r.IfMatch != "" && slices.Contains(c.StaleCodes, raw.Status)
	switch s := raw.Status; {
	case s >= 200 && s < 300:
		return taken(s, wanted, raw, said)
	case s >= 300 && s < 400: // not followed: neither the token nor the body reaches the target
		if id, version := located(raw.Header); s == http.StatusSeeOther && id != "" { // done, and to be seen there
			return Answer{Outcome: Unclear, Code: CodeConfig, RemoteID: id, RemoteVersion: version}
		}
		return Answer{Outcome: Rejected, Code: CodeConfig}
	case s == http.StatusUnauthorized:
		return Answer{Outcome: Throttled, Code: CodeAuth}
	case s == http.StatusForbidden:
		return Answer{Outcome: Rejected, Code: CodeAuth}
	case s == http.StatusTooManyRequests:
		return Answer{Outcome: Throttled, Code: CodeBusy, Wait: wait(raw.Header, c, now)}
	case s == http.StatusLocked:
		return Answer{Outcome: Throttled, Code: CodeLocked, Wait: max(lockedWait, asked(raw.Header, c, now))}
	case s == http.StatusNotImplemented && said.outcome != nil && said.outcome.Serious():
		return Answer{Outcome: Rejected, Code: CodeConfig}
	case s >= 500:
		return Answer{Outcome: Unclear, Code: CodeServer}
	case s == http.StatusRequestTimeout || s == http.StatusTooEarly:
		return Answer{Outcome: Unclear, Code: CodeBusy}
	case said.outcome != nil && said.outcome.Says("duplicate"): // it may be ours from before: a look says
		return Answer{Outcome: Unclear, Code: CodeDuplicate}
	case said.outcome != nil && said.outcome.Says("transient", "lock-error", "incomplete", "timeout", "idempotency-in-progress"):
		return Answer{Outcome: Unclear, Code: CodeBusy}
	case said.outcome != nil && said.outcome.Says("multiple-matches"):
		return Answer{Outcome: ForPeople, Code: CodeSeveral}
	case s == http.StatusPreconditionFailed && creates: // of If-None-Exist: not supported, or several; a look tells
		return Answer{Outcome: Rejected, Code: CodeConfig}
	case s == http.StatusPreconditionFailed && r.IfMatch == "" || s == http.StatusPreconditionRequired: // it wants an If-Match
		return Answer{Outcome: Rejected, Code: CodeConfig}
	case s == http.StatusPreconditionFailed || stale:
		return Answer{Outcome: Rejected, Code: CodeStale}
	case s == http.StatusNotAcceptable || s == http.StatusUnsupportedMediaType || s == http.StatusMethodNotAllowed:
		return Answer{Outcome: Rejected, Code: CodeConfig}
	case said.outcome == nil || !said.outcome.Serious(): // no word of the EHR itself: a gateway's page, perhaps
		return Answer{Outcome: Unclear, Code: CodeUnreadable}
	case s == http.StatusConflict && said.outcome.Says(slotCodes[1:]...): // it names the time, not the version
		return Answer{Outcome: Rejected, Code: CodeSlotTaken}
	case s == http.StatusConflict && !creates:
		return Answer{Outcome: Rejected, Code: CodeStale}
	case said.outcome.Says("forbidden", "security", "suppressed", "login", "expired"):
		return Answer{Outcome: Rejected, Code: CodeAuth}
	case s == http.StatusConflict || said.outcome.Says(slotCodes...):
		return Answer{Outcome: Rejected, Code: CodeSlotTaken}
	case (s == http.StatusNotFound || s == http.StatusGone) && !creates:
		return Answer{Outcome: Rejected, Code: CodeStale}
	}
	return Answer{Outcome: Rejected, Code: CodeRefused}
}

// businessCodes are the reasons that are believed of an EHR after one look: they are about what was asked, and are found out
// before anything is written.
var businessCodes = append([]string{"invalid", "structure", "required", "value", "invariant", "not-supported", "not-found", "deleted", "too-long",
	"code-invalid", "extension", "business-rule", "forbidden", "suppressed"}, slotCodes...)

// slotCodes are what servers say of a time that somebody else has.
var slotCodes = []string{"conflict", "slot-taken", "slot-busy", "slot-not-free", "slot-unavailable", "no-slot", "double-booking", "overlap"}

// unanswered: without a status, only what is proved not to have left is not sent.
func unanswered(raw Raw) Answer {
	switch {
	case raw.Certificate:
		return Answer{Outcome: NotSent, Code: CodeCertificate}
	case raw.Token:
		return Answer{Outcome: NotSent, Code: CodeToken}
	case raw.Sent:
		return Answer{Outcome: Unclear, Code: CodeNoAnswer}
	case isTooLate(raw.Err):
		return Answer{Outcome: NotSent, Code: CodeTooLate}
	}
	return Answer{Outcome: NotSent, Code: CodeNotReached}
}

// taken reads an answer of success, which may be none.
func taken(status int, wanted Visit, raw Raw, said understood) Answer {
	if said.visit != nil && !sound(said.visit) {
		return Answer{Outcome: Unclear, Code: CodeUnreadable}
	}
	id, version := located(raw.Header)
	a := Answer{Outcome: Accepted, RemoteID: id, RemoteVersion: version}
	if v := said.visit; v != nil {
		if v.ID != "" {
			a.RemoteID, a.RemoteVersion = v.ID, v.Version()
		}
		if a.RemoteVersion == "" {
			a.RemoteVersion = version
		}
		if patients := v.Actors("Patient"); len(patients) > 0 && (len(patients) > 1 || patients[0] != wanted.patient()) {
			a.Outcome, a.Code = ForPeople, CodePatient
			return a
		}
		if wanted.Status != fhir.StatusCancelled && (v.Status == fhir.StatusCancelled || v.Status == fhir.StatusInError) {
			a.Outcome, a.Code = Rejected, CodeRefused
			if said.outcome != nil && said.outcome.Says(slotCodes...) {
				a.Code = CodeSlotTaken
			}
			return a
		}
	}
	switch {
	case status == http.StatusAccepted || said.visit != nil && (said.visit.Status == fhir.StatusPending || said.visit.Status == fhir.StatusProposed):
		a.Outcome = PendingIt
	case said.visit == nil && said.outcome != nil && said.outcome.Serious():
		a.Outcome, a.Code = Rejected, CodeRefused
		if said.outcome.Says(slotCodes...) {
			a.Code = CodeSlotTaken
		}
	case raw.Err != nil || len(raw.Body) > 0 && said.visit == nil && said.outcome == nil: // cut off, a page, another resource
		a.Outcome, a.Code = Unclear, CodeUnreadable
	case a.RemoteID == "" && said.visit == nil && wanted.Status != fhir.StatusCancelled: // said to be done, without saying what
		a.Outcome, a.Code = Unclear, CodeUnreadable
	case said.outcome != nil:
		a.Code = CodeWarning
	}
	return a
}

// understood is what a body says, as far as it can be read.
type understood struct {
	visit   *fhir.Appointment
	outcome *fhir.OperationOutcome
}

// understand reads an Appointment, an OperationOutcome, or both in a Bundle, and nothing that does not say it is FHIR.
func understand(raw Raw) (u understood) {
	if raw.Err != nil || !raw.FHIR() {
		return u
	}
	documents := [][]byte{raw.Body}
	var bundle fhir.Bundle
	if fhir.Decode(raw.Body, "Bundle", &bundle) == nil {
		documents = nil
		for _, e := range bundle.Entry {
			documents = append(documents, e.Resource)
		}
	}
	for _, d := range documents {
		var v fhir.Appointment
		var o fhir.OperationOutcome
		switch fhir.TypeOf(d) {
		case "Appointment":
			if fhir.Decode(d, "Appointment", &v) == nil && u.visit == nil {
				u.visit = &v
				u.outcome = contained(&v, u.outcome)
			}
		case "OperationOutcome":
			if fhir.Decode(d, "OperationOutcome", &o) == nil {
				u.outcome = &o
			}
		}
	}
	return u
}

// contained is an outcome that an appointment holds inside itself, which is how some say why.
func contained(v *fhir.Appointment, other *fhir.OperationOutcome) *fhir.OperationOutcome {
	var inside struct {
		Contained []json.RawMessage `json:"contained"`
	}
	if json.Unmarshal(v.More, &inside) == nil {
		for _, c := range inside.Contained {
			var o fhir.OperationOutcome
			if fhir.Decode(c, "OperationOutcome", &o) == nil {
				return &o
			}
		}
	}
	return other
}

// located reads id and version from a Location of the EHR, whose server does not matter.
func located(h http.Header) (id, version string) {
	u, err := url.Parse(h.Get("Location"))
	if err != nil || u.Path == "" {
		return "", ""
	}
	parts := strings.Split(u.Path, "/")
	if n := len(parts); n >= 4 && parts[n-2] == "_history" {
		version, parts = parts[n-1], parts[:n-2]
	}
	if n := len(parts); n >= 2 && parts[n-2] == "Appointment" && plainID(parts[n-1]) && (version == "" || plainID(version)) {
		return parts[n-1], version
	}
	return "", ""
}

// sound reports that an appointment's id and version can be kept, sent back and shown.
func sound(v *fhir.Appointment) bool {
	return (v.ID == "" || plainID(v.ID)) && (v.Version() == "" || plainID(v.Version()))
}

const longestID = 255 // FHIR's are 64 letters, digits, "-" and "."; servers are not so strict

// plainID: visible ASCII, not too long.
func plainID(id string) bool {
	return id != "" && len(id) <= longestID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// wait is how long to leave an EHR alone: what it asks, within limits.
func wait(h http.Header, c Capabilities, now time.Time) time.Duration {
	d := asked(h, c, now)
	if d == 0 {
		d = usualWait
	}
	return d
}

// asked reads Retry-After: seconds or a date, within the limits; 0 when there is none that can be read.
func asked(h http.Header, c Capabilities, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" || !c.RetryAfter {
		return 0
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		seconds = at.Sub(now).Seconds()
	}
	if math.IsNaN(seconds) {
		return 0
	}
	return time.Duration(min(max(seconds, leastWait.Seconds()), mostWait.Seconds()) * float64(time.Second))
}
