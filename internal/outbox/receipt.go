package outbox

import (
	"slices"
	"time"
)

// Receipt is what a gateway says has become of a message.
type Receipt struct {
	Event   string // the gateway's name for this saying: it says one thing once
	Message string // id of the outbox
	Clinic  string // whose message it is; "" = the gateway did not say
	Status  string // one of ReceiptStatuses
	At      time.Time
}

// ReceiptStatuses are what a gateway can say, the least final first.
var ReceiptStatuses = []string{"accepted", "sent", "failed", "undelivered", "delivered"}

// rank of the states that receipts speak of: a receipt only ever leads upwards, so that the order in which they come does
// not matter. That it was delivered stands above that it was not: the telephone said so.
var rank = map[string]int{Sent: 1, Undelivered: 2, Delivered: 3}

// Receive gives the state of a message after a receipt, and whether that is another one. What was never tried, is just
// being sent or was ended by us stays what it is.
func Receive(state string, attempts, unanswered int, status string) (string, bool) {
	next := map[string]string{"accepted": Sent, "sent": Sent, "failed": Undelivered, "undelivered": Undelivered, "delivered": Delivered}[status]
	tried := slices.Contains([]string{Sent, Undelivered, Delivered, Unknown, Failed, Dead}, state) || state == Queued && attempts+unanswered > 0
	if !tried || rank[next] <= rank[state] {
		return state, false
	}
	return next, true
}
