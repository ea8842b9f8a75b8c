package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"countersign/internal/assistant"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Threads is the assistant.Store on a pool.
type Threads struct{ DB *DB }

var _ assistant.Store = Threads{}

// InTx implements assistant.Store.
func (s Threads) InTx(ctx context.Context, clinicID string, fn func(assistant.Tx) error) error {
	return s.DB.InClinic(ctx, clinicID, func(t *Tx) error { return fn(threadTx{t}) })
}

// ReadTx implements assistant.Store.
func (s Threads) ReadTx(ctx context.Context, clinicID string, fn func(assistant.Tx) error) error {
	return s.DB.Read(ctx, clinicID, func(t *Tx) error { return fn(threadTx{t}) })
}

// Assistant is the transaction as a conversation sees it, for pages that read more beside it.
func (t *Tx) Assistant() assistant.Tx { return threadTx{t} }

// threadTx is a Tx as a conversation sees it: a missing row is not_found.
type threadTx struct{ *Tx }

const threadColumns = `h.id, h.person, h.title, h.work, h.created_at AS createdat, h.updated_at AS updatedat`

type threadRow struct {
	ID, Person, Title    string
	Work                 []byte
	CreatedAt, UpdatedAt time.Time
}

// Thread implements assistant.Tx. Six statements at most.
func (t threadTx) Thread(ctx context.Context, id string, lock bool) (assistant.Thread, error) {
	query := `SELECT ` + threadColumns + ` FROM threads h WHERE h.id = $1`
	if lock {
		query += ` FOR UPDATE`
	}
	var row threadRow
	if err := t.get(ctx, &row, query, id); err != nil {
		return assistant.Thread{}, translate(err)
	}
	list, err := t.whole(ctx, []threadRow{row})
	if err != nil {
		return assistant.Thread{}, err
	}
	return list[0], nil
}

// Threads implements assistant.Tx. Six statements at most.
func (t threadTx) Threads(ctx context.Context, person string, f assistant.ThreadFilter) ([]assistant.Thread, error) {
	w := &where{}
	w.and(`h.person = ?`, person)
	if f.Before != nil {
		w.and(`(h.updated_at, h.id) < (?, ?)`, f.Before.CreatedAt, f.Before.ID)
	}
	w.args = append(w.args, f.Limit)
	var rows []threadRow
	if err := t.sel(ctx, &rows, `SELECT `+threadColumns+` FROM threads h`+w.String()+` ORDER BY h.updated_at DESC, h.id DESC LIMIT `+w.last(), w.args...); err != nil {
		return nil, translate(err)
	}
	return t.whole(ctx, rows)
}

// whole adds messages, the latest runs with their calls, and the records of calls that wait.
func (t threadTx) whole(ctx context.Context, rows []threadRow) ([]assistant.Thread, error) {
	out := make([]assistant.Thread, len(rows))
	at := map[string]*assistant.Thread{}
	ids := make(pq.StringArray, len(rows))
	for i, r := range rows {
		out[i] = assistant.Thread{ID: r.ID, Person: r.Person, Title: r.Title, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), SortedAt: r.UpdatedAt.UTC(), Proposals: map[string]proposal.Record{}}
		if err := json.Unmarshal(r.Work, &out[i].Work); err != nil {
			return nil, err
		}
		at[r.ID], ids[i] = &out[i], r.ID
	}
	if len(rows) == 0 {
		return out, nil
	}
	var messages []struct {
		Thread    string
		N         int
		Role      string
		Text      string
		Choices   []byte
		Proposal  string
		CreatedAt time.Time
	}
	err := t.sel(ctx, &messages, `SELECT thread, n, role, text, choices, coalesce(proposal, '') AS proposal, created_at AS createdat
		FROM messages WHERE thread = ANY ($1) ORDER BY thread, n`, ids)
	if err != nil {
		return nil, translate(err)
	}
	for _, m := range messages {
		e := assistant.Entry{ID: assistant.EntryID(m.Thread, m.N), N: m.N, Role: m.Role, Text: m.Text, Proposal: m.Proposal, CreatedAt: m.CreatedAt.UTC()}
		if err := json.Unmarshal(m.Choices, &e.Choices); err != nil {
			return nil, err
		}
		at[m.Thread].Messages = append(at[m.Thread].Messages, e)
	}
	runs, err := t.runs(ctx, `r.thread = ANY ($1) AND r.n = (SELECT max(n) FROM runs l WHERE l.clinic = r.clinic AND l.thread = r.thread)`, ids)
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, r := range runs {
		h := at[r.Thread]
		h.Run, h.Calls = &r, r.Calls
		for _, c := range r.Calls {
			if c.Status == assistant.CallWaits {
				waiting = append(waiting, c.Proposal)
			}
		}
	}
	if len(waiting) == 0 {
		return out, nil
	}
	records, err := proposal.Select(ctx, proposalTx(t), proposal.Filter{IDs: waiting, Limit: len(waiting)})
	for i := range out {
		for _, r := range records {
			out[i].Proposals[r.ID] = r
		}
	}
	return out, err
}

// runs reads runs with their calls, in two statements.
func (t threadTx) runs(ctx context.Context, which string, args ...any) ([]assistant.Run, error) {
	var rows []struct {
		ID, Thread, State      string
		N, Turn, Fence         int
		Input                  []byte
		LeasedUntil, CreatedAt time.Time
	}
	err := t.sel(ctx, &rows, `SELECT r.id, r.thread, r.n, r.state, r.turn, r.fence, r.input, r.leased_until AS leaseduntil, r.created_at AS createdat
		FROM runs r WHERE `+which, args...)
	if err != nil || len(rows) == 0 {
		return nil, translate(err)
	}
	out := make([]assistant.Run, len(rows))
	ids := make(pq.StringArray, len(rows))
	at := map[string]*assistant.Run{}
	for i, r := range rows {
		out[i] = assistant.Run{ID: r.ID, Thread: r.Thread, N: r.N, State: r.State, Turn: r.Turn, Fence: r.Fence, LeasedUntil: r.LeasedUntil, CreatedAt: r.CreatedAt.UTC()}
		if err := json.Unmarshal(r.Input, &out[i].Input); err != nil {
			return nil, err
		}
		ids[i], at[r.ID] = r.ID, &out[i]
	}
	var calls []struct {
		assistant.ToolCall
		Arguments, Result []byte // as text columns give them
	}
	err = t.sel(ctx, &calls, `SELECT id, thread, run, action, arguments, proposal, revision, plan_hash AS planhash, expires_at AS expiresat, status, result,
		created_at AS createdat, resolved_at AS resolvedat FROM tool_calls WHERE run = ANY ($1) ORDER BY created_at, id`, ids)
	for _, c := range calls {
		c.ToolCall.Arguments, c.ToolCall.Result = c.Arguments, c.Result
		c.ExpiresAt = c.ExpiresAt.UTC()
		r := at[c.Run]
		r.Calls = append(r.Calls, c.ToolCall)
	}
	return out, translate(err)
}

// Run implements assistant.Tx.
func (t threadTx) Run(ctx context.Context, id string) (assistant.Run, error) {
	list, err := t.runs(ctx, `r.id = $1`, id)
	if err != nil {
		return assistant.Run{}, err
	}
	if len(list) == 0 {
		return assistant.Run{}, refusal.New(refusal.NotFound)
	}
	return list[0], nil
}

// CallOwner implements assistant.Tx.
func (t threadTx) CallOwner(ctx context.Context, call string) (person, run string, err error) {
	var row struct{ Person, Run string }
	err = t.get(ctx, &row, `SELECT h.person, c.run FROM tool_calls c JOIN threads h ON h.clinic = c.clinic AND h.id = c.thread WHERE c.id = $1`, call)
	return row.Person, row.Run, translate(err)
}

// ThreadOf is the person's conversation in which a proposal was made, "" when there is none. One statement.
func (t *Tx) ThreadOf(ctx context.Context, proposalID, person string) (id string, err error) {
	err = t.get(ctx, &id, `SELECT coalesce(max(h.id), '') FROM tool_calls c JOIN threads h ON h.clinic = c.clinic AND h.id = c.thread
		WHERE c.proposal = $1 AND h.person = $2`, proposalID, person)
	return id, err
}

// Completed implements assistant.Tx.
func (t threadTx) Completed(ctx context.Context, thread, appointment string) (ids []string, err error) {
	err = t.sel(ctx, &ids, `SELECT p.id FROM tool_calls c JOIN proposals p ON p.clinic = c.clinic AND p.id = c.proposal
		WHERE c.thread = $1 AND c.status = 'completed' AND p.appointment = $2 ORDER BY p.decided_at`, thread, appointment)
	return ids, translate(err)
}

// Unsettled implements assistant.Tx.
func (t threadTx) Unsettled(ctx context.Context, most int) (ids []string, err error) {
	err = t.sel(ctx, &ids, `SELECT c.thread FROM tool_calls c JOIN proposals p ON p.clinic = c.clinic AND p.id = c.proposal
		WHERE c.status = 'awaiting_confirmation' AND (p.state NOT IN ('proposed', 'executing') OR p.state = 'proposed' AND p.expires_at <= $1) LIMIT $2`, t.now, most)
	return ids, translate(err)
}

// BrokenOff implements assistant.Tx.
func (t threadTx) BrokenOff(ctx context.Context, most int) ([]assistant.Run, error) {
	return t.runs(ctx, `r.state = 'running' AND r.leased_until <= $1 LIMIT $2`, t.now, most)
}

// Practitioners implements assistant.Tx.
func (t threadTx) Practitioners(ctx context.Context) ([]assistant.Doctor, error) {
	list, err := t.Tx.Practitioners(ctx)
	out := make([]assistant.Doctor, len(list))
	for i, o := range list {
		out[i] = assistant.Doctor(o)
	}
	return out, translate(err)
}

// FreeStarts implements assistant.Tx.
func (t threadTx) FreeStarts(ctx context.Context, f assistant.StartFilter) ([]clinic.Start, error) {
	list, err := t.Tx.FreeStarts(ctx, StartFilter(f))
	return list, translate(err)
}
