package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"countersign/db"
	"countersign/handlers"
	"countersign/internal/account"
	"countersign/internal/assistant"
	"countersign/internal/audit"
	"countersign/internal/proposal"
)

// site is the product in this process, on a loopback port, and a client with a token.
type site struct {
	db     *db.DB
	desk   *proposal.Service
	server *httptest.Server
	client *http.Client
	token  string
	random io.Reader
}

func newSite(ctx context.Context, url string, log *slog.Logger) (*site, error) {
	pool, err := db.Open(ctx, url, db.Options{StatementTimeout: 10 * time.Minute})
	if err != nil {
		return nil, err
	}
	s := &site{db: pool, token: "bench-token", random: rand.Reader, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, MaxConnsPerHost: 128}}}
	s.desk = &proposal.Service{Store: db.Proposals{DB: pool}, IDs: newID, TTL: 12 * time.Hour, Log: log}
	words, err := assistant.NewGrammar("en")
	if err != nil {
		return nil, err
	}
	talk := &assistant.Service{Store: db.Threads{DB: pool}, Desk: s.desk, Interpreter: words, IDs: newID, Log: log}
	accounts, err := account.NewService(pool, rand.Reader, true, account.DefaultLimits)
	if err != nil {
		return nil, err
	}
	rules := account.DefaultRules
	rules.Demo = true
	s.server = httptest.NewServer(handlers.New(handlers.Deps{DB: pool, AuditKey: audit.KeyOfProcess(rand.Reader), Desk: s.desk, Talk: talk, Accounts: accounts, Sessions: pool, Rules: rules, Ready: pool.Ready,
		Log: log, Random: rand.Reader, Now: time.Now, Closing: ctx}))
	return s, nil
}

func (s *site) close() {
	s.server.Close()
	s.db.Close()
}

func (s *site) addToken(ctx context.Context, root *sql.DB, clinic, person string) error {
	hash := sha256.Sum256([]byte(s.token))
	_, err := root.ExecContext(ctx, `INSERT INTO tokens (id, clinic, account, name, kind, decide, secret_hash) VALUES ('tok_bench', $1, $2, 'bench', 'user', true, $3)`,
		clinic, person, hash[:])
	return err
}

// call sends one API request and wants that status.
func (s *site) call(ctx context.Context, method, path, body string, want int) error {
	req, err := s.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	return do(s.client, req, want)
}

// answer is the body of a request that succeeds.
func (s *site) answer(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := s.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return answerOf(s.client, req, http.StatusOK, http.StatusCreated, http.StatusAccepted)
}

func (s *site) request(ctx context.Context, method, path, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.server.URL+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func do(client *http.Client, req *http.Request, want int) error {
	_, err := answerOf(client, req, want)
	return err
}

func answerOf(client *http.Client, req *http.Request, wants ...int) ([]byte, error) {
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		return nil, err
	}
	if !slices.Contains(wants, res.StatusCode) {
		return nil, fmt.Errorf("%s %s: %d %.300s", req.Method, req.URL.Path, res.StatusCode, b.String())
	}
	return b.Bytes(), nil
}

func newID(prefix string) string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return prefix + "_" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// raw is a pool beside the product's; setup runs on every connection.
func raw(url, setup string) (*sql.DB, error) {
	c, err := pq.NewConnector(url)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(c)
	if setup != "" {
		pool.SetMaxOpenConns(1)
	}
	return pool, nil
}
