package ehr

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/internal/clinic"
)

var (
	noon   = time.Date(2026, 6, 9, 10, 0, 0, 0, time.UTC)
	wanted = Visit{Status: "booked", Patient: clinic.Ref{ID: "p"}, Practitioner: clinic.Ref{ID: "h"}, Location: clinic.Ref{ID: "l"}, RemoteLocation: "rl",
		Type: clinic.Ref{ID: "std", Name: "Standard"}, StartsAt: noon, EndsAt: noon.Add(30 * time.Minute)}
)

const (
	booked = `{"resourceType":"Appointment","id":"7","meta":{"versionId":"3"},"status":"booked","participant":[{"actor":{"reference":"Patient/p"},"status":"accepted"}]}`
	other  = `{"resourceType":"Appointment","id":"7","status":"booked","participant":[{"actor":{"reference":"Patient/q"},"status":"accepted"}]}`
)

func issue(severity, code, own string) string {
	return `{"resourceType":"OperationOutcome","issue":[{"severity":"` + severity + `","code":"` + code + `","details":{"coding":[{"code":"` + own + `"}]}}]}`
}

func TestClassify(t *testing.T) {
	millennium := plain.with(Settings{StaleCodes: []int{409}})
	for name, c := range map[string]struct {
		method, match, media string
		status               int
		head, body           string
		can                  *Capabilities
		outcome, code        string
	}{
		"201":                            {status: 201, body: booked, outcome: Accepted},
		"201 minimal":                    {status: 201, head: "Location: https://x.test/r4/Appointment/7/_history/3", outcome: Accepted},
		"201 nothing":                    {status: 201, outcome: Unclear, code: CodeUnreadable},
		"200 of another":                 {status: 200, body: other, outcome: ForPeople, code: CodePatient},
		"200 and an error":               {status: 200, body: issue("error", "invalid", ""), outcome: Rejected, code: CodeRefused},
		"200 and a warning alone":        {status: 200, body: issue("warning", "informational", ""), outcome: Unclear, code: CodeUnreadable},
		"201 with a warning, by place":   {status: 201, head: "Location: Appointment/7", body: issue("warning", "informational", ""), outcome: Accepted, code: CodeWarning},
		"200 bundle":                     {status: 200, body: `{"resourceType":"Bundle","entry":[{"resource":` + issue("warning", "x", "") + `},{"resource":` + booked + `}]}`, outcome: Accepted, code: CodeWarning},
		"200 cancelled":                  {status: 200, body: `{"resourceType":"Appointment","status":"cancelled","contained":[` + issue("error", "conflict", "") + `]}`, outcome: Rejected, code: CodeSlotTaken},
		"200 pending":                    {status: 201, body: `{"resourceType":"Appointment","id":"7","status":"pending"}`, outcome: PendingIt},
		"202":                            {status: 202, head: "Location: /r4/Appointment/7", outcome: PendingIt},
		"200 html":                       {status: 200, media: "text/html", body: "<html>", outcome: Unclear, code: CodeUnreadable},
		"200 as text":                    {status: 200, media: "text/plain", body: booked, outcome: Unclear, code: CodeUnreadable},
		"200 in latin-1":                 {status: 200, media: "application/fhir+json; charset=iso-8859-1", body: booked, outcome: Unclear, code: CodeUnreadable},
		"200 without an offset":          {status: 200, body: `{"resourceType":"Appointment","id":"7","status":"booked","start":"2026-06-09T10:00:00"}`, outcome: Unclear, code: CodeUnreadable},
		"302":                            {status: 302, outcome: Rejected, code: CodeConfig},
		"307":                            {status: 307, body: booked, outcome: Rejected, code: CodeConfig},
		"400 of the EHR":                 {status: 400, body: issue("error", "invalid", ""), outcome: Rejected, code: CodeRefused},
		"400 of a gateway":               {status: 400, media: "text/html", body: "<html>", outcome: Unclear, code: CodeUnreadable},
		"303 to what was made":           {status: 303, head: "Location: /r4/Appointment/7", outcome: Unclear, code: CodeConfig},
		"201 at an id nobody can keep":   {status: 201, head: "Location: /r4/Appointment/a%00b", outcome: Unclear, code: CodeUnreadable},
		"201 with such an id":            {status: 201, body: `{"resourceType":"Appointment","id":"a\u0000b","status":"booked"}`, outcome: Unclear, code: CodeUnreadable},
		"201 with such a version":        {status: 201, body: `{"resourceType":"Appointment","id":"7","meta":{"versionId":"` + strings.Repeat("9", 400) + `"},"status":"booked"}`, outcome: Unclear, code: CodeUnreadable},
		"401":                            {status: 401, outcome: Throttled, code: CodeAuth},
		"408":                            {status: 408, body: issue("error", "invalid", ""), outcome: Unclear, code: CodeBusy},
		"403":                            {status: 403, outcome: Rejected, code: CodeAuth},
		"404 on a change":                {method: "PUT", match: "3", status: 404, body: issue("error", "not-found", ""), outcome: Rejected, code: CodeStale},
		"404 of a gateway":               {status: 404, media: "text/html", outcome: Unclear, code: CodeUnreadable},
		"409 version":                    {method: "PUT", match: "3", status: 409, body: issue("error", "conflict", ""), outcome: Rejected, code: CodeStale},
		"409 version, mute, as said":     {method: "PUT", match: "3", status: 409, can: &millennium, outcome: Rejected, code: CodeStale},
		"409 mute":                       {method: "PUT", match: "3", status: 409, outcome: Unclear, code: CodeUnreadable},
		"409 clash":                      {status: 409, body: issue("error", "conflict", ""), outcome: Rejected, code: CodeSlotTaken},
		"409 duplicate":                  {status: 409, body: issue("error", "duplicate", ""), outcome: Unclear, code: CodeDuplicate},
		"409 in progress":                {status: 409, body: issue("error", "processing", "idempotency-in-progress"), outcome: Unclear, code: CodeBusy},
		"412 stale":                      {method: "PUT", match: "3", status: 412, outcome: Rejected, code: CodeStale},
		"412 wants If-Match":             {method: "PUT", status: 412, body: issue("error", "required", ""), outcome: Rejected, code: CodeConfig},
		"412 several":                    {status: 412, body: issue("error", "multiple-matches", ""), outcome: ForPeople, code: CodeSeveral},
		"412 of If-None-Exist":           {status: 412, outcome: Rejected, code: CodeConfig},
		"422 slot, in its own words":     {status: 422, body: issue("error", "business-rule", "SLOT-TAKEN"), outcome: Rejected, code: CodeSlotTaken},
		"422 rule":                       {status: 422, body: issue("error", "business-rule", ""), outcome: Rejected, code: CodeRefused},
		"423":                            {status: 423, outcome: Throttled, code: CodeLocked},
		"424":                            {status: 424, body: issue("error", "business-rule", ""), outcome: Rejected, code: CodeRefused},
		"429":                            {status: 429, media: "text/html", body: "<html>", outcome: Throttled, code: CodeBusy},
		"500":                            {status: 500, body: issue("fatal", "exception", ""), outcome: Unclear, code: CodeServer},
		"501 of the EHR":                 {status: 501, body: issue("error", "not-supported", ""), outcome: Rejected, code: CodeConfig},
		"501 of a gateway":               {status: 501, outcome: Unclear, code: CodeServer},
		"503 with Retry-After":           {status: 503, head: "Retry-After: 3", outcome: Unclear, code: CodeServer},
		"duplicate members in its words": {status: 400, body: `{"resourceType":"OperationOutcome","resourceType":"OperationOutcome","issue":[{"severity":"error","code":"invalid"}]}`, outcome: Unclear, code: CodeUnreadable},
	} {
		r := Request{Method: c.method, IfMatch: c.match}
		if r.Method == "" {
			r.Method = "POST"
		}
		raw := Raw{Status: c.status, Header: http.Header{"Content-Type": {"application/fhir+json"}}, Body: []byte(c.body), Sent: true}
		if c.media != "" {
			raw.Header.Set("Content-Type", c.media)
		}
		for i := range c.head {
			if c.head[i] == ':' {
				raw.Header.Set(c.head[:i], c.head[i+2:])
				break
			}
		}
		can := plain
		if c.can != nil {
			can = *c.can
		}
		a := Classify(r, wanted, raw, can, noon)
		if a.Outcome != c.outcome || a.Code != c.code {
			t.Errorf("%s: %s %q, want %s %q", name, a.Outcome, a.Code, c.outcome, c.code)
		}
		if a.Outcome == Accepted && a.RemoteID != "7" {
			t.Errorf("%s: remote id %q", name, a.RemoteID)
		}
	}
}

// A refusal is firm only when the EHR itself names a reason of what was asked, and nothing else beside it.
func TestWhichRefusalsAreFirm(t *testing.T) {
	both := `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"conflict"},{"severity":"error","code":"processing"}]}`
	for name, c := range map[string]struct {
		status      int
		media, body string
		firm        bool
	}{
		"conflict": {status: 409, body: issue("error", "conflict", ""), firm: true}, "slot": {status: 422, body: issue("error", "processing", "slot-taken"), firm: true},
		"rule": {status: 422, body: issue("fatal", "business-rule", ""), firm: true}, "scope": {status: 403, body: issue("error", "forbidden", ""), firm: true},
		"of the way": {status: 422, body: issue("error", "processing", "")}, "mute": {status: 403}, "a page": {status: 403, media: "text/html", body: "<html>"},
		"redirect": {status: 302, body: issue("error", "conflict", "")}, "501": {status: 501, body: issue("error", "not-supported", "")},
		"200": {status: 200, body: issue("error", "conflict", "")}, "both": {status: 409, body: both}, "412": {status: 412}, "415": {status: 415}, "405": {status: 405},
	} {
		raw := Raw{Status: c.status, Header: http.Header{"Content-Type": {cmp.Or(c.media, "application/fhir+json")}}, Body: []byte(c.body), Sent: true}
		if a := Classify(Request{Method: "POST"}, wanted, raw, plain, noon); a.Firm != c.firm || a.Outcome != Rejected {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestWithoutAnAnswer(t *testing.T) {
	for want, raw := range map[string]Raw{
		NotSent + " " + CodeNotReached:  {Err: errors.New("dial")},
		NotSent + " " + CodeCertificate: {Err: errors.New("tls"), Certificate: true},
		NotSent + " " + CodeToken:       {Err: errNoToken, Token: true},
		NotSent + " " + CodeTooLate:     {Err: errTooLate},
		Unclear + " " + CodeNoAnswer:    {Err: errors.New("reset"), Sent: true},
	} {
		if a := Classify(Request{Method: "POST"}, wanted, raw, plain, noon); a.Outcome+" "+a.Code != want {
			t.Errorf("%s %s, want %s", a.Outcome, a.Code, want)
		}
	}
}

func TestRetryAfterHasLimits(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"5": 5 * time.Second, "0": time.Second, "-5": time.Second, "1000000000": 15 * time.Minute, "1e300": 15 * time.Minute, "": usualWait, "soon": usualWait, "NaN": usualWait, "inf": 15 * time.Minute,
		noon.Add(40 * time.Second).Format(http.TimeFormat): 40 * time.Second, noon.Add(-time.Hour).Format(http.TimeFormat): time.Second,
		noon.Add(24 * time.Hour).Format(http.TimeFormat): 15 * time.Minute,
	} {
		if got := wait(http.Header{"Retry-After": {value}}, plain, noon); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := wait(http.Header{"Retry-After": {"600"}}, plain.with(Settings{RetryAfter: "none"}), noon); got != usualWait {
		t.Errorf("not to be believed: %v", got)
	}
}
