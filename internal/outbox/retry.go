package outbox

// MayRetry reports whether a person is offered to have it sent again; Retry has the last word.
func MayRetry(state, code string, attempts int) bool {
	switch state {
	case Failed, Dead, Unknown:
		return !Alarming(code)
	}
	return state == Queued && attempts > 0
}

// Retry says in words why a person may not have a message of that state sent again, "" when they may.
func Retry(state string, m Message, f Facts) string {
	switch state {
	case Failed, Dead, Unknown:
	case Queued:
		if m.Attempts == 0 {
			return "This message waits for its first try. There is nothing to try again."
		}
	case Superseded, Suppressed, Expired:
		return Verdict{State: state}.words()
	case Undelivered:
		return "The receiver took this message and could not deliver it. Tell the patient another way."
	default:
		return "This message has been sent or is being sent. There is nothing to try again."
	}
	if v := Check(m, f, Quiet{}); v.State != "" {
		return v.words()
	}
	return ""
}

// words say why it is not sent; nothing of it names anybody.
func (v Verdict) words() string {
	why := map[string]string{
		Superseded: "A later change of the visit made this message wrong.",
		Suppressed: "The patient is not to get this message: their wish or their address has changed, or they have died.",
		Expired:    "This message is too late to be of use.",
		Dead:       "This message is not what stands in a confirmed plan. The person who runs Countersign must look at this.",
	}[v.State]
	return why + " It is not sent."
}
