package outbox

import (
	"context"
	"errors"
	"regexp"
	"time"
)

// Result is what became of one claim.
type Result struct {
	State      string
	Code       string // "" leaves the last one
	ProviderID string
	Wait       time.Duration // of a queued one, until the next try
	Unanswered bool          // the receiver may have taken it
	NoTry      bool          // nothing was tried: it does not count
}

const (
	maxAttempts   = 8
	maxUnanswered = 3 // an e-mail has one Message-ID, so a few repeats are one mail to most; then a person decides
	firstWait     = 30 * time.Second
	jitter        = 0.2
	longestWish   = 2 * time.Hour // what a receiver may ask us to wait: a message has its time
)

// outcome judges the answer to a try. random is in [0, 1).
func outcome(m Message, providerID string, err error, random float64) Result {
	var no *Refused
	var silent *Ambiguous
	switch {
	case err == nil:
		return Result{State: Sent, ProviderID: providerID}
	case errors.As(err, &silent):
		return unanswered(m, silent.Code, random)
	case errors.As(err, &no) && !no.Temporary:
		return Result{State: Failed, Code: plain(no.Code)}
	case errors.As(err, &no):
		r := again(m, no.Code, random)
		if r.State == Queued {
			r.Wait = max(r.Wait, min(no.RetryAfter, longestWish))
		}
		return r
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // a sender that forgot to say so
		return unanswered(m, CodeNoAnswer, random)
	}
	return again(m, CodeNotReachable, random)
}

// unanswered: an SMS that may have gone out is never repeated by itself.
func unanswered(m Message, code string, random float64) Result {
	r := again(m, code, random)
	r.Unanswered = true
	if m.Channel != Email || m.Unanswered+1 >= maxUnanswered || r.State == Dead {
		r.State, r.Wait = Unknown, 0
	}
	return r
}

func again(m Message, code string, random float64) Result {
	if m.Attempts >= maxAttempts {
		return Result{State: Dead, Code: plain(code)}
	}
	return Result{State: Queued, Code: plain(code), Wait: backoff(m.Attempts, random)}
}

// backoff doubles with every try, and parts those that failed together.
func backoff(attempts int, random float64) time.Duration {
	full := firstWait << max(0, attempts-1)
	return time.Duration(float64(full) * (1 - jitter + 2*jitter*random))
}

var codeShape = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// plain keeps whatever a receiver said out of the record: a code is a code.
func plain(code string) string {
	if !codeShape.MatchString(code) {
		return "other"
	}
	return code
}
