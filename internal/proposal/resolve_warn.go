package proposal

import "countersign/internal/refusal"

// Warnings of a resolution: what the program saw in the EHR speaks against what a person says of it.
const (
	WarnNotSeen   = "ehr_not_seen"   // booked: no look has seen that appointment as it was approved
	WarnDiffers   = "ehr_differs"    // booked: what was seen differs, or is there more than once
	WarnMerged    = "ehr_merged"     // booked: it is another patient's record, into which the approved one was merged
	WarnSeenThere = "ehr_seen_there" // not booked: a look saw something of it there
)

// Codes and verdicts of looks that matter here; they are those of package ehr.
const (
	sawEqual        = "equal"
	sawWrongPatient = "wrong_patient"
	sawMerged       = "patient_merged"
)

// against gives the warnings of a resolution. An appointment that the EHR gave to another patient is never taken for this
// one: that must be corrected there, and a look must show it, before anybody can say it is booked.
func (o OperationNow) against(resolution, remote string) ([]string, error) {
	var last *Seen
	for i := range o.Seen {
		if s := &o.Seen[i]; resolution == NotBooked || s.RemoteID == remote || s.RemoteID == "" {
			last = s
			break
		}
	}
	if resolution == NotBooked {
		if last != nil && (last.RemoteID != "" && last.RemoteID != o.OldRemoteID && last.Verdict != "unchanged" && last.Verdict != "moved_on" || last.Verdict == "several") {
			return []string{WarnSeenThere}, nil
		}
		return nil, nil
	}
	equal := last != nil && last.Verdict == sawEqual
	switch {
	case equal:
		return nil, nil
	case o.Code == sawMerged:
		return []string{WarnMerged}, nil
	case o.Code == sawWrongPatient, last != nil && last.Verdict == sawWrongPatient:
		return nil, refusal.Invalid(refusal.Field{Name: "resolution",
			Message: "The EHR named another patient for this. Correct it there, press “Look again”, and say that it is booked once a look shows the right patient."})
	case last != nil && last.RemoteID != "" || last != nil && last.Verdict == "several":
		return []string{WarnDiffers}, nil
	}
	return []string{WarnNotSeen}, nil
}
