-- +goose Up
-- Who may be the same person as somebody to be registered has the same birth date (or the same record number): names,
-- numbers and addresses are compared in Go, among the few who do.
CREATE INDEX patients_by_birth_date ON patients (clinic, birth_date);

-- A run that is taken over from a server that went away: whoever worked on it before may write nothing any more.
ALTER TABLE runs ADD COLUMN fence integer NOT NULL DEFAULT 0;
