package clinic

import "testing"

func TestMayBecome(t *testing.T) {
	all := []string{StatusBooked, StatusArrived, StatusCheckedIn, StatusFulfilled, StatusCancelled, StatusNoShow, StatusWaitlist, "", "entered-in-error"}
	allowed := map[[2]string]bool{
		{StatusBooked, StatusArrived}: true, {StatusBooked, StatusNoShow}: true, {StatusBooked, StatusFulfilled}: true,
		{StatusArrived, StatusBooked}: true, {StatusArrived, StatusNoShow}: true, {StatusArrived, StatusFulfilled}: true,
		{StatusCheckedIn, StatusBooked}: true, {StatusCheckedIn, StatusNoShow}: true, {StatusCheckedIn, StatusFulfilled}: true,
		{StatusNoShow, StatusBooked}: true, {StatusNoShow, StatusArrived}: true,
		{StatusFulfilled, StatusBooked}: true, {StatusFulfilled, StatusArrived}: true,
	}
	for _, from := range all {
		for _, to := range all {
			if MayBecome(from, to) != allowed[[2]string{from, to}] {
				t.Errorf("%s to %s: %v", from, to, MayBecome(from, to))
			}
		}
	}
}

func TestHoldsTime(t *testing.T) {
	for status, want := range map[string]bool{StatusBooked: true, StatusArrived: true, StatusCheckedIn: true, StatusFulfilled: false,
		StatusCancelled: false, StatusNoShow: false, StatusWaitlist: false, "": false} {
		if HoldsTime(status) != want {
			t.Errorf("%q", status)
		}
	}
}
