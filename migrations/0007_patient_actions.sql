-- +goose Up
-- A message may be about no visit: then its version is the patient's, and one proposal sends one of a kind.
ALTER TABLE outbox ALTER COLUMN appointment DROP NOT NULL;
CREATE UNIQUE INDEX outbox_once_without_visit ON outbox (clinic, proposal, kind, channel, recipient) WHERE appointment IS NULL;

-- Asking twice: within a scope (a conversation) the same wish, free text aside, is the proposal that waits already.
ALTER TABLE proposals ADD COLUMN scope text, ADD COLUMN wish text; -- wish: sha256 hex of the action and its arguments without free text
CREATE INDEX proposals_by_wish ON proposals (clinic, scope, wish) WHERE state = 'proposed' AND scope IS NOT NULL;

-- Asking too much: what an agent or a person has asked for lately, counted from the index.
CREATE INDEX proposals_by_owner ON proposals (clinic, owner, created_at);
CREATE INDEX proposals_by_agent ON proposals (clinic, created_by, created_at) WHERE created_kind = 'agent';
