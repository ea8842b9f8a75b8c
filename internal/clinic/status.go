package clinic

// Appointment statuses, in FHIR R4's words.
const (
	StatusBooked    = "booked"
	StatusArrived   = "arrived"
	StatusCheckedIn = "checked-in"
	StatusFulfilled = "fulfilled"
	StatusCancelled = "cancelled"
	StatusNoShow    = "noshow"
	StatusWaitlist  = "waitlist"
)

// HoldsTime reports whether an appointment of this status keeps its practitioner's time from others. Going from a
// status that does not to one that does must find the time still free (case S15). A finished visit blocks nobody. The exclusion constraint on
// appointments says the same.
func HoldsTime(status string) bool {
	switch status {
	case StatusBooked, StatusArrived, StatusCheckedIn:
		return true
	}
	return false
}

// ArrivalStatuses are what the desk may set, in the order in which they are offered.
func ArrivalStatuses() []string {
	return []string{StatusBooked, StatusArrived, StatusNoShow, StatusFulfilled}
}

// MayBecome reports whether the desk may change an arrival status from one to the other. A slip is undone by going
// back, to booked at the least. Nothing leads out of cancelled or waitlist: only a proposal changes those.
func MayBecome(from, to string) bool {
	switch from {
	case StatusBooked:
		return to == StatusArrived || to == StatusNoShow || to == StatusFulfilled
	case StatusArrived, StatusCheckedIn:
		return to == StatusBooked || to == StatusNoShow || to == StatusFulfilled
	case StatusNoShow: // also "came late"
		return to == StatusBooked || to == StatusArrived
	case StatusFulfilled:
		return to == StatusBooked || to == StatusArrived
	}
	return false
}
