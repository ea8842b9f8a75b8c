package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
)

// operationJSON is an operation as the API gives it. was and wanted are the plan's, null when the stored plan is not what
// was approved.
type operationJSON struct {
	ID          string          `json:"id"`
	State       string          `json:"state"`
	Phase       string          `json:"phase"`
	Code        *string         `json:"code"`
	Kind        string          `json:"kind"`
	Proposal    string          `json:"proposal"`
	Revision    int             `json:"revision"`
	PlanHash    string          `json:"plan_hash"`
	Item        int             `json:"item"`
	Appointment string          `json:"appointment"`
	Was         *proposal.Facts `json:"was"`
	Wanted      *proposal.Facts `json:"wanted"`
	By          clinic.Ref      `json:"confirmed_by"`
	At          time.Time       `json:"confirmed_at"`
	SendUntil   time.Time       `json:"send_until"`
	Deadline    time.Time       `json:"deadline"`
	Late        bool            `json:"late"`
	NextAt      *time.Time      `json:"next_at"`
	AskedBy     *clinic.Ref     `json:"asked_by"`
	Attempts    int             `json:"attempts"`
	Looks       int             `json:"looks"`
	RemoteID    *string         `json:"remote_id"`
	OldRemote   *string         `json:"old_remote_id"`
	Resolution  *string         `json:"resolution"`
	EndedAt     *time.Time      `json:"ended_at"`
	Version     int64           `json:"version"`
}

// operationEvidenceJSON adds what was sent and seen.
type operationEvidenceJSON struct {
	operationJSON
	Sent []attemptJSON `json:"sent"`
	Seen []lookJSON    `json:"seen"`
}

type attemptJSON struct {
	N          int        `json:"n"`
	Phase      string     `json:"phase"`
	Method     string     `json:"method"`
	Body       string     `json:"body"`
	BodyHash   string     `json:"body_hash"`
	RequestID  string     `json:"request_id"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	HTTPStatus *int       `json:"http_status"`
	Outcome    *string    `json:"outcome"`
	Code       *string    `json:"code"`
}

type lookJSON struct {
	N             int         `json:"n"`
	At            time.Time   `json:"at"`
	How           string      `json:"how"`
	Matches       *int        `json:"matches"`
	Verdict       string      `json:"verdict"`
	Code          *string     `json:"code"`
	RemoteID      *string     `json:"remote_id"`
	RemoteVersion *string     `json:"remote_version"`
	AskedBy       *clinic.Ref `json:"asked_by"`
}

func operationAnswer(o db.DeskOperation) operationJSON {
	j := operationJSON{ID: o.ID, State: o.State, Phase: o.Phase, Code: orNull(o.Code), Kind: o.Kind, Proposal: o.Proposal, Revision: o.Revision, PlanHash: o.PlanHash,
		Item: o.Item, Appointment: o.Appointment, By: o.By, At: seconds(o.At), SendUntil: seconds(o.SendUntil), Deadline: seconds(o.Deadline), Late: o.Late(),
		AskedBy: refOrNull(o.AskedBy), Attempts: o.Attempts, Looks: o.Looks, RemoteID: orNull(o.RemoteID), OldRemote: orNull(o.OldRemoteID),
		Resolution: orNull(o.Resolution), EndedAt: secondsOrNull(o.EndedAt), Version: o.Version}
	if o.EndedAt.IsZero() && (o.State != "manual" || o.LookOnly) {
		j.NextAt = secondsOrNull(o.NextAt)
	}
	if o.Plan != nil {
		j.Was, j.Wanted = o.Plan.Before, o.Plan.After
	}
	return j
}

func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func secondsOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = seconds(t)
	return &t
}

func refOrNull(r clinic.Ref) *clinic.Ref {
	if r.ID == "" {
		return nil
	}
	return &r
}

// apiOperations is GET /operations.
func (s *Server) apiOperations(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	if err := proposal.MayListOperations(by); err != nil {
		return err
	}
	if err := onlyQuery(c, "state", "cursor", "limit"); err != nil {
		return err
	}
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	f, err := operationFilter(c, limit)
	if err != nil {
		return err
	}
	var items []operationJSON
	next := ""
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		rows, more, err := s.openOperations(ctx, t, by, f)
		items, next = nil, more
		for _, o := range rows {
			items = append(items, operationAnswer(o))
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

// apiOperation is GET /operations/{id}.
func (s *Server) apiOperation(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := onlyQuery(c); err != nil {
		return err
	}
	return s.answerOperationJSON(c, http.StatusOK, id)
}

func (s *Server) answerOperationJSON(c echo.Context, status int, id string) error {
	by, ctx := actor(c), c.Request().Context()
	var out operationEvidenceJSON
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		o, attempts, looks, err := s.operationRead(ctx, t, by, id)
		if err != nil {
			return err
		}
		out = operationEvidenceJSON{operationJSON: operationAnswer(o), Sent: []attemptJSON{}, Seen: []lookJSON{}}
		for _, a := range attempts {
			out.Sent = append(out.Sent, attemptJSON{N: a.N, Phase: a.Phase, Method: a.Method, Body: string(a.Request), BodyHash: a.Hash, RequestID: a.RequestID,
				StartedAt: seconds(a.StartedAt), FinishedAt: secondsOrNull(a.FinishedAt), HTTPStatus: a.HTTPStatus, Outcome: orNull(a.Outcome), Code: orNull(a.Code)})
		}
		for _, l := range looks {
			out.Seen = append(out.Seen, lookJSON{N: l.N, At: seconds(l.At), How: l.How, Matches: l.Matches, Verdict: l.Verdict, Code: orNull(l.Code),
				RemoteID: orNull(l.RemoteID), RemoteVersion: orNull(l.RemoteVersion), AskedBy: refOrNull(l.AskedBy)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.json(c, status, out)
}

// apiLookAgain is POST /operations/{id}/look.
func (s *Server) apiLookAgain(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	if err := b.refuse(); err != nil {
		return err
	}
	if err := s.Desk.LookAgain(c.Request().Context(), actor(c), id); err != nil {
		return err
	}
	return s.answerOperationJSON(c, http.StatusAccepted, id)
}
