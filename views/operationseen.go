package views

import (
	"strconv"
	"strings"

	"countersign/internal/ehr"
)

// Words for what was sent to an EHR and what each look saw there.

func (a SentAttempt) what() string {
	if a.Phase == ehr.PhaseCancelOld {
		return "Ending the old booking"
	}
	return "The change"
}

// answer says what came of it.
func (a SentAttempt) answer() string {
	words := map[string]string{"not_sent": "Not sent: nothing of it can be there", "rejected": "Refused", "throttled": "Asked to wait", "accepted": "Said to be there",
		"pending": "Taken in; the EHR works on it", "unknown": "No clear answer", "manual": "An answer that only a person can judge", "": "Begun; how it ended is not known"}[a.Outcome]
	if words == "" {
		words = word(nil, a.Outcome)
	}
	if a.Code != "" {
		words += " (" + word(nil, a.Code) + ")"
	}
	if a.HTTPStatus != 0 {
		words += ", status " + strconv.Itoa(a.HTTPStatus)
	}
	return words
}

func (l SeenLook) how() string {
	return word(map[string]string{"before": "Before the first attempt", "read": "By its id there", "identifier": "By our number", "window": "By patient and day"}, l.How)
}

// saw says what a look saw.
func (l SeenLook) saw() string {
	switch l.Verdict {
	case "equal":
		return "Exactly what was approved"
	case "different":
		return "One that differs: " + memberWords(l.Code)
	case "wrong_patient":
		return "One of another patient"
	case "none":
		if l.Code != "" {
			return "None that stands: one was " + word(nil, l.Code)
		}
		return "None"
	case "several":
		if l.Matches != nil {
			return Count(*l.Matches, "appointment") + " under the same number"
		}
		return "Several under the same number"
	case "unchanged":
		return "The visit as it was before"
	case "moved_on":
		return "The visit, changed by somebody else: " + memberWords(l.Code)
	case "failed":
		return "The look failed, which proves nothing (" + word(nil, l.Code) + ")"
	}
	return word(nil, l.Verdict)
}

// memberWords names the members that differ.
func memberWords(codes string) string {
	if codes == "" {
		return "not said in what"
	}
	var out []string
	for _, c := range strings.Split(codes, ",") {
		out = append(out, word(map[string]string{"start": "its start", "end": "its end", "duration": "its length", "practitioner": "the practitioner", "location": "the location",
			"type": "the type", "status": "its status", "patient": "the patient", "gone": "it is gone"}, c))
	}
	return strings.Join(out, ", ")
}
