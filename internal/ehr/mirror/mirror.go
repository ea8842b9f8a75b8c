// Package mirror keeps a clinic's rows what its EHR says they are: it reads what changed there, page by page, and takes it
// in as an import would. Reading twice changes nothing. What cannot be taken is kept as drift and tried again.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"countersign/internal/ehr"
	"countersign/internal/ehr/fhir"
	"countersign/internal/ehr/intake"
)

const (
	// overlap is how much is read again: an EHR may have several clocks, and commit later than it says.
	overlap = 10 * time.Minute
	// fullEvery is how often all is read, which finds what paging missed and what is gone.
	fullEvery = 24 * time.Hour
	pageSize  = "100"
	mostPages = 20_000
	// mostAsked single resources that could not be taken are asked for in one pass; those that a full reading missed, so many at a time.
	mostAsked = 100
	// mostMissed of them at most in a full reading.
	mostMissed = 5_000
)

// Caller makes calls: an *ehr.Client.
type Caller interface {
	Do(ctx context.Context, r ehr.Request) ehr.Raw
}

// Cursor is how far a kind has been read. Since is of the EHR's clock, zero = nothing yet. Now is ours.
type Cursor struct {
	Since, FullAt, ReadAt, Now time.Time
}

// Broken is a resource that could not be turned into a row.
type Broken struct {
	Remote  string
	Problem *intake.Problem
}

// Drift is where the EHR and we differ and nothing can be done by itself. Remote or ID is "" where it is known on one side
// only. Codes are those of intake.
type Drift struct {
	Kind, Remote, ID, Code string
	FirstAt, LastAt        time.Time
	Tries                  int
}

// Store keeps cursors and drift, and takes rows in, each call in one transaction of the clinic.
type Store interface {
	Cursor(ctx context.Context, clinic, kind string) (Cursor, error)
	// Take takes what it can of rows of one kind, keeps as drift what it cannot take and what is broken, and forgets the drift
	// of what it took. full notes that a full reading saw them.
	Take(ctx context.Context, clinic, kind string, rows []intake.Row, broken []Broken, full bool) (changed, drift int, err error)
	// Retry lists at most so many resources that could not be taken before then, the one tried longest ago first.
	Retry(ctx context.Context, clinic, kind string, before time.Time, most int) ([]string, error)
	// Unseen lists at most so many linked resources that no full reading has seen since then, and that are not known to be gone.
	Unseen(ctx context.Context, clinic, kind string, since time.Time, most int) ([]string, error)
	// Gone notes that the EHR does not have a resource any more. A slot can then not be booked; anything else is drift.
	Gone(ctx context.Context, clinic, kind, remote string) error
	// Finish moves the cursor; Fail keeps it, and why.
	Finish(ctx context.Context, clinic, kind string, since time.Time, full bool, started time.Time) error
	Fail(ctx context.Context, clinic, kind, code string) error
	// Close is the end of a run: slots that could not be given to their visits are, visits that only we know become drift (after
	// a full reading of the EHR's), and the trail gets its line when rows changed.
	Close(ctx context.Context, clinic, via string, full bool, changed int) error
}

// Mirror reads one clinic's EHR. One call at a time.
type Mirror struct {
	Clinic string
	EHR    Caller
	Store  Store
	IDs    func(prefix string) string
	Via    string // cli or worker
	Log    *slog.Logger

	absent map[string]bool // kinds of which was said that the EHR does not have them
}

// Pass is what came of one kind. Code is why it did not come to its end, "" when it did.
type Pass struct {
	Kind                        string
	Pages, Read, Changed, Drift int
	Full                        bool
	Code                        string
}

// failure is why a pass ends before its end; all ends the run: the EHR does not answer, or asks for peace.
type failure struct {
	code string
	all  bool
}

func (f *failure) Error() string { return "mirror: " + f.code }

// Run reads every kind once. An EHR that does not answer rightly is no error: the passes say so. Errors are the store's.
func (m *Mirror) Run(ctx context.Context, full bool) (passes []Pass, err error) {
	changed, whole := 0, false // whole: all the EHR's visits were read
	for _, kind := range intake.Kinds() {
		p, err := m.pass(ctx, kind, full)
		changed += p.Changed
		if f, ok := err.(*failure); ok {
			p.Code = f.code
			passes = append(passes, p)
			m.warn(ctx, p)
			if err := m.Store.Fail(ctx, m.Clinic, kind, f.code); err != nil {
				return passes, err
			}
			if f.all {
				break
			}
			continue
		}
		if err != nil {
			return passes, err
		}
		passes = append(passes, p)
		whole = whole || p.Full && kind == intake.KindAppointment
	}
	return passes, m.Store.Close(ctx, m.Clinic, m.Via, whole, changed)
}

// warn says that a pass failed. That the EHR does not have a kind at all is said once.
func (m *Mirror) warn(ctx context.Context, p Pass) {
	if p.Pages == 0 && p.Code == fmt.Sprintf("http_%d", http.StatusNotFound) {
		if m.absent[p.Kind] {
			return
		}
		if m.absent == nil {
			m.absent = map[string]bool{}
		}
		m.absent[p.Kind] = true
	}
	m.Log.WarnContext(ctx, "ehr: reading changes failed", "clinic", m.Clinic, "kind", p.Kind, "code", p.Code, "page", p.Pages+1)
}

// ReadWithin reports whether a run came to its end so short a time ago, in whatever process.
func (m *Mirror) ReadWithin(ctx context.Context, ago time.Duration) (bool, error) {
	kinds := intake.Kinds()
	c, err := m.Store.Cursor(ctx, m.Clinic, kinds[len(kinds)-1])
	return !c.ReadAt.IsZero() && c.Now.Sub(c.ReadAt) < ago, err
}

// pass reads the changes of one kind, then asks again for what could not be taken before.
func (m *Mirror) pass(ctx context.Context, kind string, full bool) (p Pass, err error) {
	cursor, err := m.Store.Cursor(ctx, m.Clinic, kind)
	if err != nil {
		return p, err
	}
	started := cursor.Now
	p = Pass{Kind: kind, Full: full || cursor.Since.IsZero() || started.Sub(cursor.FullAt) >= fullEvery}
	query := url.Values{"_count": {pageSize}}
	if !p.Full {
		query.Set("_lastUpdated", "ge"+cursor.Since.Add(-overlap).UTC().Format(time.RFC3339))
	}
	request := ehr.Request{Method: http.MethodGet, Path: kind, Query: query}
	var newest time.Time
	for {
		page, err := m.page(ctx, request)
		if err != nil {
			return p, err
		}
		rows, broken := m.read(kind, page)
		for _, r := range rows {
			if at := r.Header().Updated; at.After(newest) {
				newest = at
			}
		}
		if err := m.take(ctx, kind, rows, broken, &p); err != nil {
			return p, err
		}
		p.Pages++
		next := page.Next()
		if next == "" {
			break
		}
		if p.Pages == mostPages || next == request.Page {
			return p, &failure{code: "endless"}
		}
		request = ehr.Request{Method: http.MethodGet, Page: next}
	}
	if err := m.askAgain(ctx, kind, started, &p); err != nil {
		return p, err
	}
	// The EHR's clock alone decides nothing: a time ahead of ours would hide what happens until then.
	since := cursor.Since
	if newest.IsZero() && p.Read > 0 || newest.After(started) {
		newest = started
	}
	if newest.After(since) {
		since = newest
	}
	if since.IsZero() {
		since = started
	}
	return p, m.Store.Finish(ctx, m.Clinic, kind, since, p.Full, started)
}

// read turns a page into rows. What is there beside the matches is not asked about.
func (m *Mirror) read(kind string, page *fhir.Bundle) (rows []intake.Row, broken []Broken) {
	seen := map[string]bool{}
	for _, e := range page.Entry {
		if len(e.Resource) == 0 || e.Search != nil && e.Search.Mode != "" && e.Search.Mode != "match" {
			continue
		}
		row, remote, p := intake.MapOf(kind, e.Resource)
		if remote == "" || seen[remote] {
			continue
		}
		seen[remote] = true
		if p != nil {
			broken = append(broken, Broken{remote, p})
		} else {
			rows = append(rows, row)
		}
	}
	return rows, broken
}

func (m *Mirror) take(ctx context.Context, kind string, rows []intake.Row, broken []Broken, p *Pass) error {
	p.Read += len(rows) + len(broken)
	if len(rows)+len(broken) == 0 {
		return nil
	}
	changed, drift, err := m.Store.Take(ctx, m.Clinic, kind, rows, broken, p.Full)
	p.Changed += changed
	p.Drift += drift
	return err
}

// askAgain asks for single resources: those that could not be taken and, in a full reading, those that it did not see. One
// that cannot be read is drift and keeps nothing else waiting; an EHR that asks for peace is asked no more in this pass.
func (m *Mirror) askAgain(ctx context.Context, kind string, started time.Time, p *Pass) error {
	ids, err := m.Store.Retry(ctx, m.Clinic, kind, started, mostAsked)
	if err != nil {
		return err
	}
	if peace, err := m.ask(ctx, kind, ids, p); err != nil || peace || !p.Full {
		return err
	}
	// What was asked for is seen, gone or drift: none of them is missed again.
	for asked := 0; asked < mostMissed; asked += mostAsked {
		if ids, err = m.Store.Unseen(ctx, m.Clinic, kind, started, mostAsked); err != nil || len(ids) == 0 {
			return err
		}
		if peace, err := m.ask(ctx, kind, ids, p); err != nil || peace {
			return err
		}
	}
	return nil
}

// ask asks for resources one by one. peace is that the EHR does not answer, or does not want to now.
func (m *Mirror) ask(ctx context.Context, kind string, ids []string, p *Pass) (peace bool, err error) {
	for _, id := range ids {
		row, problem, gone, stop := m.one(ctx, kind, id)
		if err := ctx.Err(); err != nil {
			return true, err
		}
		if gone {
			err = m.Store.Gone(ctx, m.Clinic, kind, id)
		} else if problem != nil {
			err = m.take(ctx, kind, nil, []Broken{{id, problem}}, p)
		} else {
			err = m.take(ctx, kind, []intake.Row{row}, nil, p)
		}
		if err != nil || stop {
			return stop, err
		}
	}
	return false, nil
}

// one asks for one resource: it is a row, gone, or there is a problem with it. An id that is none is not asked for: it
// would be another address.
func (m *Mirror) one(ctx context.Context, kind, id string) (row intake.Row, problem *intake.Problem, gone, stop bool) {
	if !intake.ValidRemote(id) {
		return nil, &intake.Problem{Code: intake.CodeBadID}, false, false
	}
	raw := m.EHR.Do(ctx, ehr.Request{Method: http.MethodGet, Path: kind + "/" + id, ID: m.IDs("req")})
	if raw.Err == nil && (raw.Status == http.StatusGone || raw.Status == http.StatusNotFound && raw.FHIR()) {
		return nil, nil, true, false
	}
	if f := wrong(raw); f != nil {
		return nil, &intake.Problem{Code: f.code}, false, f.all
	}
	row, remote, problem := intake.MapOf(kind, raw.Body)
	if remote != id {
		problem = &intake.Problem{Code: intake.CodeMalformed}
	}
	return row, problem, false, false
}

// page asks for one page. Anything but a whole page of a search is a failure, never "nothing there".
func (m *Mirror) page(ctx context.Context, r ehr.Request) (*fhir.Bundle, error) {
	r.ID = m.IDs("req")
	raw := m.EHR.Do(ctx, r)
	if f := wrong(raw); f != nil {
		return nil, f
	}
	var b fhir.Bundle
	if err := fhir.DecodePage(raw.Body, &b); err != nil || b.Type != "searchset" {
		return nil, &failure{code: "malformed"}
	}
	return &b, nil
}

func wrong(raw ehr.Raw) *failure {
	switch {
	case errors.Is(raw.Err, ehr.ErrElsewhere):
		return &failure{code: "elsewhere"}
	case raw.Err != nil && raw.Status == 0:
		return &failure{code: "no_answer", all: true}
	case raw.Err != nil:
		return &failure{code: "cut_off"}
	case raw.Status != http.StatusOK:
		return &failure{fmt.Sprintf("http_%d", raw.Status), raw.Status == http.StatusTooManyRequests || raw.Status == http.StatusServiceUnavailable || raw.Status == http.StatusUnauthorized}
	case !raw.FHIR():
		return &failure{code: "not_fhir"}
	}
	return nil
}
