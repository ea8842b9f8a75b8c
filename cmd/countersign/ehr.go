package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign/db"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
)

// ehrEntry is one clinic's line in the file of connections. Without a url the clinic has no EHR.
type ehrEntry struct {
	Clinic       string       `json:"clinic"` // name
	URL          string       `json:"url"`
	Token        string       `json:"token"`
	TokenURL     string       `json:"token_url"`
	ClientID     string       `json:"client_id"`
	ClientSecret string       `json:"client_secret"`
	Scopes       []string     `json:"scopes"`
	Timeout      string       `json:"timeout"`
	Parallel     int          `json:"parallel"`
	Capabilities ehr.Settings `json:"capabilities"`
}

// connections tell which clinic has which EHR. They stand for the life of the process.
type connections struct {
	everyone ehr.Connection            // of clinics that are not named; no URL = none
	named    map[string]ehr.Connection // by clinic id
}

// of gives a clinic's connection; has is false where its only book is this desk's.
func (c *connections) of(clinicID string) (conn ehr.Connection, has bool) {
	conn, named := c.named[clinicID]
	if !named {
		conn = c.everyone
	}
	conn.Clinic = clinicID
	return conn, conn.URL != ""
}

func (c *connections) has(clinicID string) bool {
	_, has := c.of(clinicID)
	return has
}

// shared reports whether another of the clinics has the same EHR: scheme, host and path are equal.
func (c *connections) shared(clinicID string, clinics []string) bool {
	mine, has := c.of(clinicID)
	return has && slices.ContainsFunc(clinics, func(id string) bool {
		theirs, has := c.of(id)
		return has && id != clinicID && base(theirs.URL) == base(mine.URL)
	})
}

// base is an EHR's address in one spelling.
func base(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + strings.TrimRight(path.Clean("/"+u.Path), "/")
}

// connections reads --ehr-url and the file of --ehr-connections. Every address is tried for its form, and every clinic must exist.
func (c *config) connections(ctx context.Context, d *db.DB) (*connections, error) {
	out := &connections{everyone: ehr.Connection{URL: c.ehrURL, Timeout: c.ehrTimeout}, named: map[string]ehr.Connection{}}
	if c.ehrURL != "" {
		if _, err := ehr.NewClient(out.everyone, nil); err != nil {
			return nil, fmt.Errorf("--ehr-url: %w", err)
		}
	}
	if c.ehrConnections == "" {
		return out, nil
	}
	b, err := os.ReadFile(c.ehrConnections)
	if err != nil {
		return nil, err
	}
	var entries []ehrEntry
	read := json.NewDecoder(bytes.NewReader(b))
	read.DisallowUnknownFields()
	if err := read.Decode(&entries); err != nil {
		return nil, fmt.Errorf("--ehr-connections: %w", err)
	}
	if _, err := read.Token(); err != io.EOF {
		return nil, errors.New("--ehr-connections: something stands after the list")
	}
	for i, e := range entries {
		if err := out.add(ctx, d, e, c.ehrTimeout); err != nil {
			return nil, fmt.Errorf("--ehr-connections: entry %d: %w", i+1, err) // its members may hold secrets
		}
	}
	return out, nil
}

func (c *connections) add(ctx context.Context, d *db.DB, e ehrEntry, timeout time.Duration) error {
	id, err := d.ClinicByName(ctx, e.Clinic)
	if err != nil {
		return fmt.Errorf("no clinic %q: %w", e.Clinic, err)
	}
	if _, twice := c.named[id]; twice {
		return errors.New("this clinic stands there twice")
	}
	conn := ehr.Connection{Clinic: id, URL: e.URL, Token: e.Token, TokenURL: e.TokenURL, ClientID: e.ClientID, Secret: e.ClientSecret, Scopes: e.Scopes,
		Timeout: timeout, Parallel: e.Parallel, Settings: e.Capabilities}
	if e.Timeout != "" {
		if err := (*duration)(&conn.Timeout).Set(e.Timeout); err != nil {
			return fmt.Errorf("timeout: %w", err)
		}
	}
	if conn.URL != "" {
		if _, err := ehr.NewClient(conn, nil); err != nil {
			return err
		}
	}
	c.named[id] = conn
	return nil
}

// newClinics is how often a clinic that has come is looked for.
const newClinics = 10 * time.Second

// lanes runs the way to every clinic's EHR, each beside the others.
func lanes(d *db.DB, conns *connections, desk *proposal.Service, settle time.Duration, log *slog.Logger) func(context.Context) error {
	return eachEHR(d, conns, log, "ehr", func(ctx context.Context, id string, client *ehr.Client) error {
		lane := &ehr.Lane{Clinic: id, Client: client, Store: db.Operations{DB: d}, Desk: ehr.ProposalDesk{Service: desk}, Settle: settle, IDs: newID,
			Jitter: func(d time.Duration) time.Duration { return rand.N(d/4 + 1) }, Log: log}
		return lane.Run(ctx)
	})
}

// eachEHR runs something for every clinic that has an EHR, each beside the others, and for those that come.
func eachEHR(d *db.DB, conns *connections, log *slog.Logger, name string, run func(ctx context.Context, clinicID string, client *ehr.Client) error) func(context.Context) error {
	return func(ctx context.Context) error {
		var running sync.WaitGroup
		defer running.Wait()
		open := map[string]bool{}
		return every(newClinics, func(ctx context.Context) error {
			clinics, err := d.Clinics(ctx)
			for _, id := range clinics {
				conn, has := conns.of(id)
				if open[id] || !has {
					continue
				}
				client, wrong := ehr.NewClient(conn, nil)
				if err = errors.Join(err, wrong); wrong != nil {
					continue
				}
				open[id] = true
				running.Go(func() {
					worker{name, func(ctx context.Context) error { return run(ctx, id, client) }}.keepRunning(ctx, log)
				})
			}
			return err
		})(ctx)
	}
}
