package db

import (
	"context"
	"encoding/json"
	"time"

	"countersign/internal/assistant"
)

// Save implements assistant.Tx.
func (t threadTx) Save(ctx context.Context, c assistant.Change) error {
	work, err := json.Marshal(c.Thread.Work)
	if err != nil {
		return err
	}
	h := c.Thread
	query := `UPDATE threads SET title = $3, work = $4, updated_at = $5 WHERE id = $1 AND person = $2`
	if c.New {
		query = `INSERT INTO threads (clinic, id, person, title, work, updated_at) VALUES (current_setting('app.clinic'), $1, $2, $3, $4, $5)`
	}
	if _, err := t.exec(ctx, query, h.ID, h.Person, h.Title, work, h.UpdatedAt); err != nil {
		return translate(err)
	}
	if r := c.Run; r != nil {
		input, err := json.Marshal(r.Input)
		if err != nil {
			return err
		}
		_, err = t.exec(ctx, `INSERT INTO runs (clinic, id, thread, n, state, turn, fence, input, leased_until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (clinic, id) DO UPDATE SET state = excluded.state, turn = excluded.turn, fence = excluded.fence, input = excluded.input,
			leased_until = excluded.leased_until`,
			t.clinic, r.ID, h.ID, r.N, r.State, r.Turn, r.Fence, input, r.LeasedUntil)
		if err != nil {
			return translate(err)
		}
	}
	for _, m := range c.Messages {
		choices, err := json.Marshal(m.Choices)
		if err != nil {
			return err
		}
		if m.Choices == nil {
			choices = []byte(`[]`)
		}
		_, err = t.exec(ctx, `INSERT INTO messages (clinic, thread, n, role, text, choices, proposal, created_at) VALUES ($1, $2, $3, $4, $5, $6, nullif($7, ''), $8)`,
			t.clinic, h.ID, m.N, m.Role, m.Text, choices, m.Proposal, m.CreatedAt)
		if err != nil {
			return translate(err)
		}
	}
	for _, call := range c.Calls {
		if err := t.saveCall(ctx, call); err != nil {
			return err
		}
	}
	for _, e := range c.Events {
		_, err := t.exec(ctx, `INSERT INTO events (clinic, kind, person, body) VALUES ($1, $2, nullif($3, ''), $4)`, t.clinic, e.Kind, e.Person, string(e.Body))
		if err != nil {
			return translate(err)
		}
	}
	return nil
}

// Renew implements assistant.Tx.
func (t threadTx) Renew(ctx context.Context, run assistant.Run, until time.Time) (mine bool, err error) {
	n, err := t.exec(ctx, `UPDATE runs SET leased_until = $4 WHERE id = $1 AND turn = $2 AND fence = $3 AND state = 'running'`, run.ID, run.Turn, run.Fence, until)
	return n == 1, translate(err)
}

func (t threadTx) saveCall(ctx context.Context, c assistant.ToolCall) error {
	if c.Status != assistant.CallWaits {
		_, err := t.exec(ctx, `UPDATE tool_calls SET status = $2, result = $3, resolved_at = $4 WHERE id = $1`, c.ID, c.Status, string(c.Result), c.ResolvedAt)
		return translate(err)
	}
	_, err := t.exec(ctx, `INSERT INTO tool_calls (clinic, id, thread, run, action, arguments, proposal, revision, plan_hash, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		t.clinic, c.ID, c.Thread, c.Run, c.Action, string(c.Arguments), c.Proposal, c.Revision, c.PlanHash, c.ExpiresAt)
	return translate(err)
}
