// Package refusal types every "no" of the product once: a code of the contract's table, words for the receptionist,
// and structured details. handlers turns it into a status and a page or a JSON body in one table.
package refusal

import (
	"errors"
	"time"
)

// Codes of contract section 6.
const (
	MalformedRequest        = "malformed_request"
	IdempotencyKeyMissing   = "idempotency_key_missing"
	Unauthenticated         = "unauthenticated"
	PermissionDenied        = "permission_denied"
	SelfApprovalForbidden   = "self_approval_forbidden"
	ConfirmationNeedsPerson = "confirmation_requires_person"
	CrossOrigin             = "cross_origin"
	NotFound                = "not_found"
	UnknownConfirmation     = "unknown_confirmation"
	MethodNotAllowed        = "method_not_allowed"
	BodyTooLarge            = "body_too_large"
	UnsupportedMediaType    = "unsupported_media_type"
	ResourceChanged         = "resource_changed"
	PlanHashMismatch        = "plan_hash_mismatch"
	AlreadyDecided          = "already_decided"
	IdempotencyInProgress   = "idempotency_in_progress"
	ProposalExpired         = "proposal_expired"
	IdempotencyKeyReused    = "idempotency_key_reused"
	ValidationFailed        = "validation_failed"
	UnknownAction           = "unknown_action"
	TimeDoesNotExist        = "time_does_not_exist"
	TimeIsAmbiguous         = "time_is_ambiguous"
	InThePast               = "in_the_past"
	OutsideSchedule         = "outside_schedule"
	SlotTaken               = "slot_taken"
	PossibleDuplicate       = "possible_duplicate"
	RunInProgress           = "run_in_progress"
	InvalidDecision         = "invalid_decision"
	NotAwaitingConfirmation = "not_awaiting_confirmation"
	AwaitingConfirmation    = "awaiting_confirmation"
	RateLimited             = "rate_limited"
	Internal                = "internal"
	Busy                    = "busy"
)

// Error is a refusal. Message and Fields hold no patient data: they may stand in logs. Details and Record may, and go
// only to those who may read them.
type Error struct {
	Code       string
	Message    string         // "" = the table's words for the code
	Fields     []Field        // validation_failed: all at once
	Details    map[string]any // members of the JSON error: changed, choices, alternatives
	Record     any            // 409 and 410: the current record, member "proposal"
	RetryAfter time.Duration
	Cause      error // for the log only
}

// Field is one wrong input, by the name it was sent under.
type Field struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Code + ": " + e.Cause.Error()
	}
	return e.Code
}

func (e *Error) Unwrap() error { return e.Cause }

// New makes a refusal with the table's words, or with message when given.
func New(code string, message ...string) *Error {
	e := &Error{Code: code}
	if len(message) > 0 {
		e.Message = message[0]
	}
	return e
}

// With adds one structured detail.
func (e *Error) With(name string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[name] = value
	return e
}

// Invalid is validation_failed with its fields.
func Invalid(fields ...Field) *Error { return &Error{Code: ValidationFailed, Fields: fields} }

// Of gives the refusal inside err, or nil.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
