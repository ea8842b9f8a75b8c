package views

import "time"

// QueuePage is GET /queue: what waits in the clinic, first deadline first. It holds no confirm, only links to cards.
type QueuePage struct {
	Shell
	Items   []QueueItem
	Filters QueueFilters
	More    string // cursor of the next page, "" = the end
}

// QueueFilters are the GET parameters of the queue.
type QueueFilters struct {
	Risk   []Option // checkboxes, named risk
	Action []Option
}

// QueueItem is one waiting proposal.
type QueueItem struct {
	ID, Action, Risk string
	Patient          Person    // drawn with MRN when two share a name
	What             string    // used when there is no patient: "24 visits of Dr Thorsen"
	StartsAt         time.Time // proposed; zero = none
	Zone             string
	AskedBy          string // name
	Agent            bool   // an agent asked for AskedBy
	Rivals           int
	ExpiresAt        time.Time
	Yours            bool // the person who looks asked
}
