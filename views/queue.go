package views

import (
	"strconv"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// Views of the queue, for QueuePage.View.
const (
	QueueMine    = "me"      // what the viewer may decide
	QueueAll     = "all"     // all that waits in the clinic
	QueueDecided = "decided" // what is over, newest first
	QueueFailed  = "failed"  // decided, but a message failed
)

// QueuePage is GET /queue: what waits, first deadline first, or what is over. It holds no confirm, only links to cards.
type QueuePage struct {
	Shell
	View      string
	Viewer    string // account id of who looks
	Items     []QueueItem
	Ended     []EndedItem // QueueDecided and QueueFailed
	Filters   QueueFilters
	Count     int // all that the filters let through
	Escalated int // in the clinic
	Failed    int // decided proposals with a message that failed
	Here      string
	More      string // address of the next page, "" = the end
	Live      string // address that an open list asks for what changed, "" = none
	Narrowed  bool   // by a filter
}

// QueueFilters are the GET parameters of the queue.
type QueueFilters struct {
	Risk                                                            []Option // checkboxes, named risk-low ... risk-critical: a name comes once in a form
	View, Action, Asker, Kind, Practitioner, Location, Age, Claimed []Option
	Escalated, Fast                                                 bool
}

// QueueItem is one waiting proposal, or on an open page what became of it.
type QueueItem struct {
	proposal.Record
	Rivals, Comments int
	Escalated        bool
	ClaimedBy        clinic.Ref // zero = nobody
	ClaimedUntil     time.Time
	Confirm          Permission // why the viewer may not decide it; "" = may
}

// EndedItem is one proposal that is over.
type EndedItem struct {
	proposal.Record
	EndedAt time.Time
	Took    time.Duration // from when the card was first shown to who decided it; negative = unknown
	Failed  int           // messages that failed
}

// QueueChanged answers an open list: how many are new, and the rows that are no longer as they were drawn.
type QueueChanged struct {
	Shell
	Viewer     string
	New        int
	Here, Live string
	Items      []QueueItem
}

// Bulk reports whether it can be decided together with others.
func (q QueueItem) bulk() bool {
	return q.Confirm.Code == "" && !q.Stale && !q.Tampered() && q.State == proposal.StateProposed && (q.Risk == proposal.Low || q.Risk == proposal.Medium)
}

func (p QueuePage) waits() bool { return p.View == QueueMine || p.View == QueueAll }

func (p QueuePage) count() string {
	switch {
	case p.View == QueueDecided:
		return "Decided"
	case p.View == QueueFailed:
		return "Decided, but a message failed"
	case p.View == QueueMine && p.Count == 0:
		return "Nothing waits for you"
	case p.View == QueueMine && p.Count == 1:
		return "1 waits for you"
	case p.View == QueueMine:
		return strconv.Itoa(p.Count) + " wait for you"
	case p.Count == 0:
		return "Nothing waiting"
	}
	return strconv.Itoa(p.Count) + " waiting"
}

// nobody says that a list is empty.
func (p QueuePage) nobody() string {
	switch {
	case p.View == QueueDecided && p.Filters.Fast:
		return "Nothing was decided within three seconds of being shown."
	case p.View == QueueDecided:
		return "Nothing has been decided yet."
	case p.View == QueueFailed:
		return "No message of a decided proposal has failed."
	case p.Narrowed:
		return "Nothing waits that these filters let through."
	case p.View == QueueMine:
		return "Nothing waits for a decision of yours."
	}
	return "Nothing waits for a decision."
}

// who is the patient, with the MRN when another patient of that name is on the page too; else what the plan is called.
func (p QueuePage) who(r proposal.Record) string {
	a := r.Plan.After
	if r.Tampered() || a == nil || a.Patient.Name == "" {
		return r.Summary.Title
	}
	same := func(o proposal.Record) bool {
		b := o.Plan.After
		return b != nil && b.Patient.Name == a.Patient.Name && b.Patient.ID != a.Patient.ID
	}
	for _, o := range p.Items {
		if same(o.Record) {
			return a.Patient.Name + " " + a.Patient.MRN
		}
	}
	for _, o := range p.Ended {
		if same(o.Record) {
			return a.Patient.Name + " " + a.Patient.MRN
		}
	}
	return a.Patient.Name
}

// queueChange is what changes in one line: old, an arrow, new.
func queueChange(r proposal.Record) string {
	before, after := r.Plan.Before, r.Plan.After
	if r.Tampered() || after == nil || after.Items != nil {
		return ""
	}
	if aboutOperation(r.Plan) {
		return resolutionLine(r)
	}
	if !after.OfVisit() || before == nil && r.Action != ActionBook {
		return changedRows(r)
	}
	to := shortVisit(after)
	switch {
	case before == nil:
		return to + ", " + after.Practitioner.Name + ", " + after.Location.Name
	case after.Status == clinic.StatusCancelled:
		return shortVisit(before) + ", " + before.Practitioner.Name + " → cancelled"
	}
	out := shortVisit(before) + " → " + to
	if before.Practitioner.ID != after.Practitioner.ID {
		out += ", " + before.Practitioner.Name + " → " + after.Practitioner.Name
	}
	if before.Location.ID != after.Location.ID {
		out += ", " + before.Location.Name + " → " + after.Location.Name
	}
	return out
}

func shortVisit(f *proposal.Facts) string {
	at := f.StartsAt.In(zone(f.Zone))
	return ShortDate(at) + ", " + Clock(at)
}

func changedRows(r proposal.Record) string {
	var out []string
	for _, d := range cardRows(r) {
		switch {
		case d.changed && d.now.main != "":
			out = append(out, d.label+": "+d.now.main+" → "+d.new.main)
		case d.changed:
			out = append(out, d.label+": "+d.new.main)
		}
	}
	if len(out) > 4 {
		out = append(out[:4], "and more")
	}
	return strings.Join(out, "; ")
}

// askedBy is who asked, "You" for the viewer, and that an agent did it for them.
func askedBy(r proposal.Record, viewer string) string {
	name := r.OwnerName
	if r.Owner == viewer {
		name = "You"
	}
	if r.CreatedBy.Kind == clinic.KindAgent {
		return name + ", agent " + r.CreatedBy.Name
	}
	return name
}

// untilOf is the deadline, with its date when that is not today.
func untilOf(s Shell, t time.Time) string {
	at, now := t.In(zone(s.Zone)), s.Now.In(zone(s.Zone))
	if at.Format("2006-01-02") != now.Format("2006-01-02") {
		return ShortDate(at) + ", " + Clock(at)
	}
	return Clock(at)
}

// within5 splits the list where a deadline is near.
func (p QueuePage) heading(i int) string {
	near := func(i int) bool { return p.Items[i].ExpiresAt.Sub(p.Now) < 5*time.Minute }
	switch {
	case i == 0 && near(0):
		return "Within 5 minutes"
	case i > 0 && near(i-1) && !near(i):
		return "Later"
	}
	return ""
}

// becameOf says what became of a row that waits no longer.
func becameOf(s Shell, r proposal.Record) string {
	if r.State == proposal.StateExpired {
		return "Expired: nobody decided in time"
	}
	out := StateWord(r.State)
	if r.DecidedBy != nil && r.DecidedAt != nil {
		out += " by " + r.DecidedBy.Name + " at " + untilOf(s, *r.DecidedAt)
	}
	return out
}

func changedList(r proposal.Record) string {
	var out []string
	for _, c := range r.Changed {
		out = append(out, orWords(c.Label, capital(word(nil, c.Kind))))
	}
	if len(out) > 3 {
		out = append(out[:3], "and more")
	}
	return strings.Join(out, ", ")
}

// endedBy is who made an outcome: the deadline is the system's, never a person's.
func endedBy(r proposal.Record) string {
	if r.DecidedBy != nil {
		return r.DecidedBy.Name
	}
	return "the deadline (system)"
}

func tookWords(d time.Duration) string {
	if d < 0 {
		return ""
	}
	if d < time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s after it was shown"
	}
	return minutesText(int(d/time.Minute)) + " after it was shown"
}

// fromQueue is the card as the queue opens it: after the decision it leads on to the next.
func fromQueue(id string) string { return cardURL(id) + "?from=queue" }

// pickName and pickValue are a ticked row in a form: revision and hash are those that were shown.
func pickName(id string) string { return "pick." + id }

func pickValue(r proposal.Record) string { return strconv.Itoa(r.Revision) + "." + r.PlanHash }

// why is what makes it risky, in one line.
func (q QueueItem) why() string {
	return strings.Join(CardPage{Record: q.Record}.allReasons(), "; ")
}

func (p CardPage) allReasons() []string {
	var out []string
	for _, w := range p.Record.Warnings {
		out = append(out, WarningWord(w))
	}
	return append(out, p.reasons()...)
}

func newWords(n int) string {
	if n == 1 {
		return "1 new, show it"
	}
	return strconv.Itoa(n) + " new, show them"
}

func endedClass(r proposal.Record) string { return CardPage{Record: r}.stateClass() }

// escalatedWords is who asked for a decision soon: the clock is the system's.
func escalatedWords(p CardPage) string {
	e := p.Review.Escalated
	if e.By.ID == "" {
		return "by the system: a quarter of the time was left at " + Clock(p.at(e.At))
	}
	return "by " + e.By.Name + " at " + Clock(p.at(e.At))
}
