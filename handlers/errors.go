package handlers

import (
	"net/http"

	"countersign/internal/refusal"
)

// Values of the JSON error's member retry.
const (
	retryNever       = "never"
	retryNewKey      = "new-key"
	retrySameKey     = "same-key"
	retryNewRevision = "new-revision"
	retryNewProposal = "new-proposal"
)

// answer is how one code is told: words say what happened, next what to do now, both to a receptionist.
type answer struct {
	status             int
	retry              string
	title, words, next string
	later              bool // carries Retry-After
	fixed              bool // always these words: another text would tell what exists, or what broke
}

// answers is the one table from codes (contract section 6) to HTTP and words. A code that is not in it is a bug, and is
// answered as internal.
var answers = map[string]answer{
	refusal.MalformedRequest: {status: http.StatusBadRequest, retry: retryNever, title: "This could not be read",
		words: "What was sent could not be read.", next: "Load the page again and fill in the form once more."},
	refusal.IdempotencyKeyMissing: {status: http.StatusBadRequest, retry: retryNewKey, title: "This form is incomplete",
		words: "The form was sent without the key that keeps a double click from counting twice. Nothing was done.", next: "Load the page again and decide there."},
	refusal.Unauthenticated: {status: http.StatusUnauthorized, retry: retrySameKey, title: "You are not signed in",
		words: "You are not signed in, or you have been signed out.", next: "Sign in and go on where you were."},
	refusal.PermissionDenied: {status: http.StatusForbidden, retry: retryNever, title: "You may not do this",
		words: "Your role does not allow this. Nothing was done.", next: "Ask somebody whose role allows it; what was proposed still waits."},
	refusal.SelfApprovalForbidden: {status: http.StatusForbidden, retry: retryNever, title: "Somebody else must decide this",
		words: "You asked for this change or edited it, so you cannot be the one who approves it. Nothing was done.", next: "Ask another reviewer; it waits in the queue."},
	refusal.ConfirmationNeedsPerson: {status: http.StatusForbidden, retry: retryNever, title: "A person must decide this",
		words: "Only a person can decide, and an agent cannot. Nothing was done.", next: "Ask a person to open the proposal and decide it."},
	refusal.CrossOrigin: {status: http.StatusForbidden, retry: retryNever, title: "This came from another site",
		words: "This was sent by another site, not by a page of Countersign. Nothing was done.", next: "Open Countersign itself and do it there."},
	refusal.NotFound: {status: http.StatusNotFound, retry: retryNever, title: "This is not here", fixed: true,
		words: "There is nothing here by that address.", next: "Go to the day sheet and look for it from there."},
	refusal.UnknownConfirmation: {status: http.StatusNotFound, retry: retryNever, title: "Nothing waits here", fixed: true,
		words: "Nothing waits for a decision here.", next: "Open the queue and look for the proposal there."},
	refusal.MethodNotAllowed: {status: http.StatusMethodNotAllowed, retry: retryNever, title: "This cannot be done here",
		words: "This address does not do that.", next: "Go back and use the buttons of the page."},
	refusal.BodyTooLarge: {status: http.StatusRequestEntityTooLarge, retry: retryNever, title: "This is too much at once",
		words: "More was sent than fits: 64 KiB is the most. Nothing was done.", next: "Shorten the text and send it again."},
	refusal.UnsupportedMediaType: {status: http.StatusUnsupportedMediaType, retry: retryNever, title: "This form of data is not read here",
		words: "What was sent is in a form that is not read here: pages take form fields, the API takes application/json.", next: "Send it in that form."},
	refusal.ResourceChanged: {status: http.StatusConflict, retry: retryNewRevision, title: "This changed while you had it open",
		words: "Something this change rests on has changed since you looked. Nothing was done.", next: "Look at what differs and review the current version."},
	refusal.PlanHashMismatch: {status: http.StatusConflict, retry: retryNewRevision, title: "This is not what was shown",
		words: "What was confirmed is not the plan as it stands. Nothing was done.", next: "Open the proposal again and review it."},
	refusal.AlreadyDecided: {status: http.StatusConflict, retry: retryNever, title: "This has been decided already",
		words: "Somebody has decided this already. Your click changed nothing.", next: "Look at the outcome; propose again if more must change."},
	refusal.IdempotencyInProgress: {status: http.StatusConflict, retry: retrySameKey, title: "This is being done", later: true,
		words: "The same request is still being worked on.", next: "Wait a moment and look again."},
	refusal.RunInProgress: {status: http.StatusConflict, retry: retrySameKey, title: "The assistant is still working", later: true,
		words: "The assistant is still working on what you said before.", next: "Wait a moment and send it again."},
	refusal.ProposalExpired: {status: http.StatusGone, retry: retryNewProposal, title: "The time to decide has passed",
		words: "This proposal was not decided in time. Nothing was done.", next: "Propose the change again."},
	refusal.IdempotencyKeyReused: {status: http.StatusUnprocessableEntity, retry: retryNewKey, title: "This was sent before as something else",
		words: "The same key was used before for a different request. Nothing was done.", next: "Load the page again and send it from there."},
	refusal.ValidationFailed: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "Some fields need another look",
		words: "Some of what was filled in cannot be used. Nothing was done.", next: "Correct the fields named here and send it again."},
	refusal.UnknownAction: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "There is no such change",
		words: "This kind of change is not known here.", next: "Choose one of the changes that the pages offer."},
	refusal.TimeDoesNotExist: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This time does not exist",
		words: "The clocks go forward then, and this time is skipped on that day.", next: "Choose a time before or after the gap."},
	refusal.TimeIsAmbiguous: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This time comes twice",
		words: "The clocks go back then, and this time comes twice on that day.", next: "Choose which of the two is meant."},
	refusal.InThePast: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This time has passed",
		words: "This time is in the past.", next: "Choose a time that is still to come."},
	refusal.OutsideSchedule: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "There are no hours then",
		words: "The practitioner has no hours for this type of visit at that place and time.", next: "Choose one of the free times on the day sheet."},
	refusal.SlotTaken: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This time is taken",
		words: "Somebody else has this time. Nothing was done.", next: "Choose another time; free ones are named where there are any."},
	refusal.PossibleDuplicate: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This patient may be here already",
		words: "There is a patient who looks like this one. Nothing was done.", next: "Compare name, date of birth and record number, and say whether it is somebody else."},
	refusal.InvalidDecision: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "This is no decision",
		words: "A decision is approve or reject.", next: "Decide with one of the two."},
	refusal.NotAwaitingConfirmation: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "Nothing waits for a decision",
		words: "The assistant is not waiting for a decision.", next: "Look at the conversation as it stands now."},
	refusal.AwaitingConfirmation: {status: http.StatusUnprocessableEntity, retry: retryNever, title: "A decision is waited for first",
		words: "The card in this conversation waits for a decision before anything else.", next: "Confirm, edit or reject the card."},
	refusal.RateLimited: {status: http.StatusTooManyRequests, retry: retryNever, title: "Too many attempts", later: true,
		words: "There were too many attempts in a short time.", next: "Wait and try again."},
	refusal.Internal: {status: http.StatusInternalServerError, retry: retryNever, title: "Something went wrong here", fixed: true,
		words: "The program made a mistake; it was not yours.", next: "Look at the day sheet to see whether it happened. If this comes again, tell the person who runs Countersign."},
	refusal.Busy: {status: http.StatusServiceUnavailable, retry: retrySameKey, title: "Too busy just now", later: true,
		words: "The system was too busy and this was not executed.", next: "Wait a moment and send it again."},
}
