package db

import (
	"context"
	"encoding/json"

	"countersign/internal/proposal"
)

// Show records what somebody is shown, each card kept once; with once only what was not shown to them through that
// door before, for programs that ask again and again. It says how many were recorded. One statement.
func (t *Tx) Show(ctx context.Context, once bool, list ...proposal.Showing) (int64, error) {
	type row struct {
		ID       string `json:"id"`
		Proposal string `json:"proposal"`
		Revision int    `json:"revision"`
		PlanHash string `json:"plan_hash"`
		Hash     string `json:"hash"`
		Card     string `json:"card"`
		Person   string `json:"person"`
		Name     string `json:"name"`
		Via      string `json:"via"`
	}
	rows := make([]row, len(list))
	for i, s := range list {
		rows[i] = row{s.ID, s.Proposal, s.Revision, s.PlanHash, proposal.CardHash(s.Card), string(s.Card), s.By.ID(), s.By.Name(), s.Via}
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return 0, err
	}
	n, err := t.exec(ctx, `WITH x AS (SELECT x.id, x.proposal, x.revision, x.plan_hash, x.hash, x.card, x.person, x.name, x.via
			FROM json_to_recordset($1::json) AS x(id text, proposal text, revision integer, plan_hash text, hash text, card text, person text, name text, via text)
			WHERE NOT $3 OR NOT EXISTS (SELECT FROM showings s WHERE s.proposal = x.proposal AND s.revision = x.revision AND s.person = x.person AND s.via = x.via AND s.card_hash = x.hash)),
		kept AS (INSERT INTO cards (clinic, hash, content) SELECT current_setting('app.clinic'), x.hash, convert_to(x.card, 'UTF8') FROM x ON CONFLICT DO NOTHING)
		INSERT INTO showings (clinic, id, proposal, revision, plan_hash, card_hash, person, name, via, at)
		SELECT current_setting('app.clinic'), x.id, x.proposal, x.revision, x.plan_hash, x.hash, x.person, x.name, x.via, $2 FROM x`, string(b), t.now, once)
	return n, translate(err)
}
