package handlers

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// contractCodes is the table of contract section 6, typed from it and not from the code.
var contractCodes = map[string]struct {
	status int
	retry  string
}{
	"malformed_request":            {400, "never"},
	"idempotency_key_missing":      {400, "new-key"},
	"unauthenticated":              {401, "same-key"},
	"permission_denied":            {403, "never"},
	"self_approval_forbidden":      {403, "never"},
	"confirmation_requires_person": {403, "never"},
	"cross_origin":                 {403, "never"},
	"unknown_confirmation":         {404, "never"},
	"not_found":                    {404, "never"},
	"method_not_allowed":           {405, "never"},
	"body_too_large":               {413, "never"},
	"unsupported_media_type":       {415, "never"},
	"resource_changed":             {409, "new-revision"},
	"plan_hash_mismatch":           {409, "new-revision"},
	"already_decided":              {409, "never"},
	"idempotency_in_progress":      {409, "same-key"},
	"run_in_progress":              {409, "same-key"},
	"proposal_expired":             {410, "new-proposal"},
	"idempotency_key_reused":       {422, "new-key"},
	"validation_failed":            {422, "never"},
	"unknown_action":               {422, "never"},
	"time_does_not_exist":          {422, "never"},
	"time_is_ambiguous":            {422, "never"},
	"in_the_past":                  {422, "never"},
	"outside_schedule":             {422, "never"},
	"slot_taken":                   {422, "never"},
	"possible_duplicate":           {422, "never"},
	"invalid_decision":             {422, "never"},
	"not_awaiting_confirmation":    {422, "never"},
	"awaiting_confirmation":        {422, "never"},
	"rate_limited":                 {429, "never"},
	"internal":                     {500, "never"},
	"busy":                         {503, "same-key"},
}

func TestEveryCodeHasItsStatusRetryAndWords(t *testing.T) {
	if len(answers) != len(contractCodes) {
		t.Errorf("%d codes in the table, %d in the contract", len(answers), len(contractCodes))
	}
	for code, want := range contractCodes {
		a, ok := answers[code]
		if !ok {
			t.Errorf("%s is not in the table", code)
			continue
		}
		if a.status != want.status || a.retry != want.retry {
			t.Errorf("%s: %d %s", code, a.status, a.retry)
		}
		for _, text := range []string{a.title, a.words, a.next} {
			if len(text) < 10 || strings.Contains(text, "_") || strings.Contains(text, "error") {
				t.Errorf("%s: %q is not for a receptionist", code, text)
			}
		}
	}
	for _, later := range []string{"idempotency_in_progress", "run_in_progress", "rate_limited", "busy"} {
		if !answers[later].later {
			t.Errorf("%s has no Retry-After", later)
		}
	}
	if !strings.Contains(answers["busy"].words, "not executed") {
		t.Error("busy does not say that nothing was executed")
	}
}

// answered is what fail makes of the error.
func answered(t *testing.T, path string, err error, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	s := newSiteless()
	req := httptest.NewRequest("POST", path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.fail(err, echo.New().NewContext(req, w))
	return w
}

func TestTheShapeOfAnError(t *testing.T) {
	now := time.Date(2026, 10, 25, 2, 30, 0, 123456789, time.FixedZone("", 7200))
	record := &proposal.Record{ID: "p_1", Revision: 2, PlanBytes: json.RawMessage(`{"a":"<\u2028>"}`), ExpiresAt: now, CreatedAt: now, DecidedAt: &now}
	r := refusal.New(refusal.ResourceChanged).With("changed", []proposal.Change{{Kind: "slot", ID: "s_1", Expected: 1, Current: 2, Label: "09:00"}})
	r.Record = record
	w := answered(t, "/api/v1/proposals/p_1/confirm", r)
	var body struct {
		Status string
		Error  struct {
			Code, Message, Retry string
			Changed              []proposal.Change
			Proposal             map[string]any
			Fields               []refusal.Field
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	e := body.Error
	if w.Code != 409 || w.Header().Get("Content-Type") != "application/json" || body.Status != "error" || e.Code != "resource_changed" ||
		e.Retry != "new-revision" || e.Message == "" || len(e.Changed) != 1 || e.Proposal["id"] != "p_1" || e.Fields != nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, at := range []string{"expires_at", "created_at"} {
		if e.Proposal[at] != "2026-10-25T00:30:00Z" {
			t.Errorf("%s is %v", at, e.Proposal[at])
		}
	}
	if !strings.Contains(w.Body.String(), `"plan":{"a":"<\u2028>"}`) {
		t.Errorf("the plan is not as it was: %s", w.Body)
	}
	if record.ExpiresAt != now || *record.DecidedAt != now {
		t.Error("encoding changed the record")
	}

	w = answered(t, "/api/v1/proposals", refusal.Invalid(refusal.Field{Name: "starts_at", Message: "Needed."}))
	if !strings.Contains(w.Body.String(), `"fields":[{"name":"starts_at","message":"Needed."}]`) {
		t.Errorf("fields: %s", w.Body)
	}
	r = refusal.New(refusal.PermissionDenied)
	r.Record = record
	if w := answered(t, "/api/v1/proposals", r); strings.Contains(w.Body.String(), "p_1") {
		t.Errorf("403 carries the proposal: %s", w.Body)
	}
	if w := answered(t, "/api/v1/x", &refusal.Error{Code: refusal.Busy, RetryAfter: 1500 * time.Millisecond}); w.Code != 503 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("busy: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	one, two := answered(t, "/api/v1/x", refusal.New(refusal.NotFound, "p_9 is gone")), answered(t, "/api/v1/x", echo.ErrNotFound)
	if one.Body.String() != two.Body.String() {
		t.Errorf("two answers to what is not there:\n%s%s", one.Body, two.Body)
	}
	if w := answered(t, "/api/v1/x", refusal.New("made_up")); w.Code != 500 || strings.Contains(w.Body.String(), "made_up") {
		t.Errorf("a code that is not in the table: %d %s", w.Code, w.Body)
	}
}

func TestARefusalAsPageAndFragment(t *testing.T) {
	r := refusal.New(refusal.SelfApprovalForbidden)
	for _, headers := range [][]string{nil, {"HX-Request", "true"}} {
		w := answered(t, "/proposals/p_1/confirm", r, headers...)
		whole := strings.Contains(strings.ToLower(w.Body.String()), "<!doctype html>")
		if w.Code != 403 || whole == (headers != nil) || !strings.Contains(w.Body.String(), "Ask another reviewer") || strings.Contains(w.Body.String(), "<form") && headers != nil {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
