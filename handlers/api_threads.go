package handlers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/assistant"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// threadJSON is a conversation made to be rendered.
type threadJSON struct {
	ID        string             `json:"id"`
	Title     string             `json:"title"`
	State     string             `json:"state"`
	RunID     *string            `json:"run_id"`
	Messages  []messageJSON      `json:"messages"`
	Known     map[string]any     `json:"known"`
	Missing   []string           `json:"missing"`
	Pending   *assistant.Pending `json:"pending_confirmation"`
	CreatedAt time.Time          `json:"created_at"`
	UpdatedAt time.Time          `json:"updated_at"`
}

type messageJSON struct {
	ID         string       `json:"id"`
	Role       string       `json:"role"`
	Text       string       `json:"text"`
	Choices    []choiceJSON `json:"choices"`
	ProposalID *string      `json:"proposal_id"`
	CreatedAt  time.Time    `json:"created_at"`
}

type choiceJSON struct {
	ID     string            `json:"id"`
	Label  string            `json:"label"`
	Action *assistant.Action `json:"action"` // null for one that only says something
}

func threadAnswer(t assistant.Thread) threadJSON {
	out := threadJSON{ID: t.ID, Title: t.Title, State: t.State(), Messages: []messageJSON{}, Known: t.Work.Known(), Missing: t.Work.Missing(),
		Pending: t.Pending(), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
	if t.Run != nil {
		out.RunID = &t.Run.ID
	}
	for _, m := range t.Messages {
		j := messageJSON{ID: m.ID, Role: m.Role, Text: m.Text, Choices: []choiceJSON{}, ProposalID: orNull(m.Proposal), CreatedAt: m.CreatedAt}
		for _, c := range m.Choices {
			j.Choices = append(j.Choices, choiceJSON{c.ID, c.Label, c.Action})
		}
		out.Messages = append(out.Messages, j)
	}
	return out
}

// apiStartThread is POST /threads.
func (s *Server) apiStartThread(c echo.Context) error {
	b, err := bodyOf(c)
	if err == nil {
		err = b.refuse()
	}
	if err != nil {
		return err
	}
	t, err := s.Talk.Start(c.Request().Context(), actor(c))
	if err != nil {
		return err
	}
	return s.json(c, http.StatusCreated, threadAnswer(t))
}

// apiThreads is GET /threads: the caller's own, newest first.
func (s *Server) apiThreads(c echo.Context) error {
	if err := onlyQuery(c, "cursor", "limit"); err != nil {
		return err
	}
	limit, err := pageSize(c)
	if err != nil {
		return err
	}
	f := assistant.ThreadFilter{Limit: limit + 1}
	if f.Before, err = proposalCursor(c.QueryParam("cursor")); err != nil {
		return err
	}
	by, ctx := actor(c), c.Request().Context()
	var list []assistant.Thread
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		if list, err = s.Talk.List(ctx, t.Assistant(), by, f); err != nil {
			return err
		}
		for _, h := range list[:min(limit, len(list))] {
			if h.Pending() != nil {
				if err := s.pendingShown(ctx, t, by, h.Proposals[h.Pending().Proposal]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		next = db.MakeCursor(list[limit-1].SortedAt, list[limit-1].ID)
	}
	items := make([]threadJSON, len(list))
	for i, t := range list {
		items[i] = threadAnswer(t)
	}
	return s.json(c, http.StatusOK, listOf(items, next))
}

// apiThread is GET /threads/{id}.
func (s *Server) apiThread(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	var h assistant.Thread
	err := s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) (err error) {
		if h, err = s.Talk.Read(ctx, t.Assistant(), by, c.Param("id")); err != nil || h.Pending() == nil {
			return err
		}
		return s.pendingShown(ctx, t, by, h.Proposals[h.Pending().Proposal])
	})
	if err != nil {
		return err
	}
	return s.json(c, http.StatusOK, threadAnswer(h))
}

// apiSay is POST /threads/{id}/messages: words, or a choice that was offered last.
func (s *Server) apiSay(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	in := assistant.Saying{Text: b.text("text", false), Choice: b.text("choice", false)}
	if err := b.refuse(); err != nil {
		return err
	}
	ref, err := s.Talk.Say(c.Request().Context(), actor(c), c.Param("id"), in)
	if err != nil {
		return err
	}
	return s.json(c, http.StatusAccepted, ref)
}

type runJSON struct {
	RunID     string     `json:"run_id"`
	ThreadID  string     `json:"thread_id"`
	State     string     `json:"state"`
	ToolCalls []callJSON `json:"tool_calls"`
}

type callJSON struct {
	ID         string `json:"id"`
	ActionRef  string `json:"action_ref"`
	Status     string `json:"status"`
	ProposalID string `json:"proposal_id"`
	Result     any    `json:"result"`
}

// apiRun is GET /runs/{id}.
func (s *Server) apiRun(c echo.Context) error {
	run, err := s.Talk.Run(c.Request().Context(), actor(c), c.Param("id"))
	if err != nil {
		return err
	}
	out := runJSON{RunID: run.ID, ThreadID: run.Thread, State: run.State, ToolCalls: []callJSON{}}
	for _, call := range run.Calls {
		j := callJSON{ID: call.ID, ActionRef: call.Action, Status: call.Status, ProposalID: call.Proposal}
		if len(call.Result) > 0 {
			j.Result = call.Result
		}
		out.ToolCalls = append(out.ToolCalls, j)
	}
	return s.json(c, http.StatusOK, out)
}

// apiDecide is POST /runs/{id}/confirm: the answer to a pending confirmation. What runs is the stored plan.
func (s *Server) apiDecide(c echo.Context) error {
	b, err := bodyOf(c)
	if err != nil {
		return err
	}
	d := assistant.Deciding{Run: c.Param("id"), ToolCall: b.text("tool_call_id", true), Decision: b.text("decision", false)}
	detail := b.object("detail")
	d.Reason = detail["reason"]
	for name := range detail {
		if name != "reason" {
			b.bad("detail."+name, "This call has no such field.")
		}
	}
	field := b.any("idempotency_key")
	if d.Decision == assistant.Approve || b.members["revision"] != nil || b.members["plan_hash"] != nil {
		d.Revision, d.PlanHash = b.number("revision"), b.text("plan_hash", true)
	}
	b.any("revision")
	b.any("plan_hash")
	if err := b.refuse(); err != nil {
		return err
	}
	if d.Decision != assistant.Approve && d.Decision != assistant.Reject {
		return refusal.New(refusal.InvalidDecision)
	}
	if d.Key, err = keyOf(c, field); err != nil {
		return err
	}
	if (d.Key != "" || d.Decision == assistant.Approve) && !proposal.ValidKey(d.Key) {
		return refusal.New(refusal.IdempotencyKeyMissing)
	}
	ref, replayed, err := s.Talk.Decide(c.Request().Context(), actor(c), d)
	if err != nil {
		return err
	}
	if replayed {
		c.Response().Header().Set("Idempotency-Replayed", "true")
	}
	return s.json(c, http.StatusAccepted, ref)
}
