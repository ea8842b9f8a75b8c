package views

import (
	"net/url"
	"strconv"
	"time"
)

// QueuePage is GET /queue: what waits in the clinic, first deadline first. It holds no confirm, only links to cards.
type QueuePage struct {
	Shell
	Items   []QueueItem
	Filters QueueFilters
	More    string // cursor of the next page, "" = the end
}

// QueueFilters are the GET parameters of the queue.
type QueueFilters struct {
	Risk   []Option // checkboxes, named risk-low ... risk-critical: a name comes once in a form
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
	Stale            bool // something it rests on has changed: it cannot be confirmed as it is
}

func (p QueuePage) count() string {
	if p.Waiting == 0 {
		return "Nothing waiting"
	}
	return strconv.Itoa(p.Waiting) + " waiting"
}

// who is the patient, with the MRN when another patient of that name waits too.
func (p QueuePage) who(q QueueItem) string {
	if q.Patient.Name == "" {
		return q.What
	}
	for _, o := range p.Items {
		if o.Patient.Name == q.Patient.Name && o.Patient.ID != q.Patient.ID {
			return q.Patient.Name + " " + q.Patient.MRN
		}
	}
	return q.Patient.Name
}

func (q QueueItem) when() string {
	if q.StartsAt.IsZero() {
		return ""
	}
	at := q.StartsAt.In(zone(q.Zone))
	return ShortDate(at) + ", " + Clock(at)
}

func (q QueueItem) asker() string {
	name := q.AskedBy
	if q.Yours {
		name = "You"
	}
	if q.Agent {
		return name + ", agent"
	}
	return name
}

// until is the deadline, with its date when that is not today.
func (p QueuePage) until(q QueueItem) string {
	at, now := q.ExpiresAt.In(zone(p.Zone)), p.Now.In(zone(p.Zone))
	if at.Format("2006-01-02") != now.Format("2006-01-02") {
		return ShortDate(at) + ", " + Clock(at)
	}
	return Clock(at)
}

// pageURL is a list from a cursor on, with the chosen filters.
func pageURL(path, cursor string, risk, action []Option) string {
	q := url.Values{"cursor": {cursor}}
	for _, o := range risk {
		if o.Selected {
			q.Set("risk-"+o.Value, "on")
		}
	}
	for _, o := range action {
		if o.Selected {
			q.Set("action", o.Value)
		}
	}
	return path + "?" + q.Encode()
}
