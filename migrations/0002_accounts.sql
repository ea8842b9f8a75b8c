-- +goose Up
-- Accounts, sessions, tokens and sign-in failures are the listed exceptions to row-level security: they are read
-- before anybody knows which clinic is asking.
CREATE TABLE accounts (
  id            ident PRIMARY KEY,
  clinic        ident NOT NULL REFERENCES clinics,
  email         text NOT NULL CHECK (email = lower(email)),
  name          text NOT NULL CHECK (name <> ''),
  role          text NOT NULL CHECK (role IN ('staff', 'reviewer', 'admin')),
  password_hash text NOT NULL, -- argon2id, PHC string
  demo          boolean NOT NULL DEFAULT false, -- works only while this process runs with --demo
  disabled_at   timestamptz,
  created_at    timestamptz NOT NULL DEFAULT app_now(),
  UNIQUE (email)
);

CREATE TABLE sessions (
  id_hash    bytea PRIMARY KEY CHECK (length(id_hash) = 32), -- sha256 of the cookie's random 256-bit id
  account    ident REFERENCES accounts, -- null before sign-in
  data       bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT app_now(),
  seen_at    timestamptz NOT NULL DEFAULT app_now(),
  expires_at timestamptz NOT NULL -- absolute
);
CREATE INDEX sessions_by_account ON sessions (account);

CREATE TABLE tokens (
  id          ident PRIMARY KEY,
  clinic      ident NOT NULL REFERENCES clinics,
  account     ident NOT NULL REFERENCES accounts, -- who it acts as (user) or for (agent)
  name        text NOT NULL CHECK (name <> ''),
  kind        text NOT NULL CHECK (kind IN ('user', 'agent')),
  decide      boolean NOT NULL DEFAULT false CHECK (NOT (decide AND kind = 'agent')),
  secret_hash bytea NOT NULL UNIQUE CHECK (length(secret_hash) = 32), -- sha256
  demo        boolean NOT NULL DEFAULT false,
  revoked_at  timestamptz,
  created_at  timestamptz NOT NULL DEFAULT app_now()
);

CREATE TABLE signin_failures (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account  text NOT NULL, -- sha256 hex of the address typed, so that a mistyped secret is not kept
  address  text NOT NULL, -- network address
  at       timestamptz NOT NULL DEFAULT app_now()
);
CREATE INDEX signin_failures_by_account ON signin_failures (account, at);
CREATE INDEX signin_failures_by_address ON signin_failures (address, at);
