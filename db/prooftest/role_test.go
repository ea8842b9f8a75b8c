//go:build unix

package prooftest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"countersign/db"
	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// asApp opens a session that works as the app's role, without any clinic.
func asApp(d *desktest.Desk) *sqlx.Conn {
	d.T.Helper()
	pool, err := sqlx.Open("postgres", d.URL)
	must(d.T, err)
	d.T.Cleanup(func() { pool.Close() })
	conn, err := pool.Connx(ctx)
	must(d.T, err)
	_, err = conn.ExecContext(ctx, "SET ROLE "+db.Role)
	must(d.T, err)
	return conn
}

// outside are the tables with a clinic in them that are read before anybody knows which clinic asks.
var outside = map[string]bool{"accounts": true, "tokens": true}

func TestEveryTableOfAClinicIsUnderAForcedPolicy(t *testing.T) {
	d := desktest.New(t)
	var tables []struct {
		Name   string `db:"name"`
		On     bool   `db:"on"`
		Forced bool   `db:"forced"`
		Rules  int    `db:"rules"`
	}
	must(t, sqlx.NewDb(d.Root, "postgres").Select(&tables, `SELECT c.relname AS name, c.relrowsecurity AS on, c.relforcerowsecurity AS forced,
		(SELECT count(*) FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = c.relname AND p.cmd = 'ALL' AND p.permissive = 'PERMISSIVE'
			AND p.qual LIKE '%current_setting(''app.clinic''%' AND p.with_check = p.qual) AS rules
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		AND (c.relname = 'clinics' OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'clinic' AND NOT a.attisdropped)) ORDER BY 1`))
	if len(tables) < 15 {
		t.Fatal("only", len(tables), "tables")
	}
	for _, table := range tables {
		if outside[table.Name] {
			continue
		}
		if !table.On || !table.Forced || table.Rules != 1 {
			t.Errorf("%s: %+v", table.Name, table)
		}
	}
}

func TestTheAppIsNobodyInParticular(t *testing.T) {
	d := desktest.New(t)
	if got := d.Text(`SELECT concat(rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication) FROM pg_roles WHERE rolname = $1`, db.Role); got != "ffffff" {
		t.Fatal(got)
	}
	if got := d.Text(`SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = $1`, db.Role); got != "0" {
		t.Fatal("it owns", got)
	}
	if got := d.Text(`SELECT count(*) FROM pg_proc p JOIN pg_roles r ON r.oid = p.proowner WHERE r.rolname = $1`, db.Role); got != "0" {
		t.Fatal("it owns functions:", got)
	}
	if got := d.Text(`SELECT has_schema_privilege($1, 'inspect', 'USAGE')::text || has_schema_privilege($1, 'public', 'CREATE')::text`, db.Role); got != "falsefalse" {
		t.Fatal(got)
	}
}

// What the app cannot do, whatever its code says: change what was written once, or delete what stays.
func TestWhatIsWrittenOnceStays(t *testing.T) {
	d := desktest.New(t)
	ana := d.Actor("ana")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	_, err := d.Desk.Confirm(ctx, ana, desktest.Deciding(card, "k"))
	must(t, err)
	d.Exec(`INSERT INTO tokens (id, clinic, account, name, kind, secret_hash) VALUES ('bot', 'hav', 'ana', 'bot', 'agent', sha256('bot'))`)
	_, err = d.Desk.GrantBypass(ctx, d.Actor("ada"), proposal.Granting{Agent: "bot", Reason: "x", Minutes: 5, Most: 5})
	must(t, err)
	before := picture(t, d)
	app := asApp(d)
	for _, query := range []string{
		`UPDATE bypasses SET reason = 'y'`, `UPDATE bypasses SET granted_by = 'ben'`, `UPDATE bypasses SET most = 200`, `UPDATE bypasses SET ends_at = ends_at + interval '1 minute'`, `DELETE FROM bypasses`,
		`UPDATE revisions SET plan_bytes = 'x'`, `DELETE FROM revisions`, `TRUNCATE revisions CASCADE`,
		`UPDATE audit SET outcome = 'denied'`, `DELETE FROM audit`, `TRUNCATE audit`,
		`UPDATE appointment_history SET status = 'noshow'`, `DELETE FROM appointment_history`,
		`DELETE FROM proposals`, `DELETE FROM idempotency_keys`, `DELETE FROM outbox`, `DELETE FROM appointments`, `DELETE FROM patients`,
		`UPDATE proposals SET state = 'proposed', outcome = 'proposed'`, `UPDATE outbox SET body = 'x'`,
		`ALTER TABLE revisions DISABLE TRIGGER never_changes`, `SET session_replication_role = replica`, `CREATE TABLE mine (x int)`,
	} {
		if _, err := app.ExecContext(ctx, `BEGIN; SET LOCAL app.clinic = 'hav'; `+query+`; COMMIT`); err == nil {
			t.Errorf("%s was allowed", query)
		}
		_, _ = app.ExecContext(ctx, `ROLLBACK`)
	}
	// The owner cannot by mistake either.
	for _, query := range []string{`UPDATE bypasses SET reason = 'y'`, `DELETE FROM bypasses`, `UPDATE revisions SET plan_bytes = 'x'`, `DELETE FROM audit`, `UPDATE proposals SET state = 'proposed', outcome = 'proposed'`, `DELETE FROM proposals`} {
		if _, err := d.Root.Exec(query); err == nil {
			t.Errorf("%s was allowed to the owner", query)
		}
	}
	wantUnchanged(t, before, picture(t, d))
	wantWhole(t, d)
}

// No clinic, no rows; one clinic, its rows; and nothing of it stays in the session for the next user of the pool.
func TestNoClinicNoRows(t *testing.T) {
	d := desktest.New(t)
	_ = d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	app := asApp(d)
	count := func(query string) (n int) {
		t.Helper()
		must(t, app.GetContext(ctx, &n, query))
		return n
	}
	var tables []string
	must(t, sqlx.NewDb(d.Root, "postgres").Select(&tables, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
		AND has_table_privilege($1, oid, 'SELECT')`, db.Role))
	empty := func(when string) {
		t.Helper()
		for _, table := range tables {
			if n := count(`SELECT count(*) FROM ` + table); n != 0 {
				t.Errorf("%s: %d rows of %s", when, n, table)
			}
		}
		if n := count(`SELECT count(*) FROM search_patients('{a}', 10)`); n != 0 {
			t.Errorf("%s: the search found %d", when, n)
		}
	}
	empty("no clinic")
	_, err := app.ExecContext(ctx, `BEGIN; SET LOCAL app.clinic = 'hav'`)
	must(t, err)
	if n := count(`SELECT count(*) FROM appointments`); n != 2 {
		t.Error("its own appointments:", n)
	}
	if n := count(`SELECT count(*) FROM appointments WHERE clinic <> 'hav'`) + count(`SELECT count(*) FROM search_patients('{lake}', 10)`); n != 0 {
		t.Error("another clinic's rows:", n)
	}
	for _, query := range []string{`INSERT INTO practitioners (clinic, id, name) VALUES ('lake', 'x', 'X')`, `UPDATE practitioners SET clinic = 'lake' WHERE id = 'holm'`} {
		if _, err := app.ExecContext(ctx, `SAVEPOINT s; `+query); err == nil {
			t.Error("wrote into another clinic:", query)
		}
		_, err := app.ExecContext(ctx, `ROLLBACK TO s`)
		must(t, err)
	}
	_, err = app.ExecContext(ctx, `COMMIT`)
	must(t, err)
	empty("after the transaction")
	// An id that is no id opens nothing, and is never part of a statement.
	for _, id := range []string{"", "hav'; DROP TABLE audit; --", "hav lake"} {
		if err := d.DB.Read(ctx, id, func(*db.Tx) error { return nil }); err == nil {
			t.Errorf("%q opened a transaction", id)
		}
	}
}

// One connection serves clinic A, then clinic B: B sees nothing of A, whatever A's transaction came to.
func TestAConnectionKeepsNothingOfTheClinicBefore(t *testing.T) {
	d := desktest.New(t, wide(1))
	ana := d.Actor("ana")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	lake := ana
	lake.Clinic, lake.Person = "lake", "lake_ana"
	for i, end := range []func(){
		func() {}, // committed
		func() { _, _ = d.Desk.Confirm(ctx, d.Actor("emil"), desktest.Deciding(card, "k")) }, // rolled back
		func() {
			defer func() { _ = recover() }()
			_ = d.DB.InClinic(ctx, "hav", func(*db.Tx) error { panic("a bug") })
		},
	} {
		end()
		if _, err := d.Desk.Get(ctx, lake, card.ID); code(err) != refusal.NotFound {
			t.Error(i, err)
		}
		if list, err := d.Desk.List(ctx, lake, proposal.Filter{Limit: 10}); err != nil || len(list) > 0 {
			t.Error(i, len(list), err)
		}
	}
}

// For every verb another clinic's proposal is the same as none, and leaves the same trace.
func TestAnotherClinicsProposalDoesNotExist(t *testing.T) {
	d := desktest.New(t)
	card := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
	lake := d.Actor("ben")
	lake.Clinic, lake.Person = "lake", "lake_ben"
	before := picture(t, d)
	answers := map[string][]string{}
	for _, id := range []string{card.ID, "prp_nothing"} {
		r := card
		r.ID = id
		_, get := d.Desk.Get(ctx, lake, id)
		_, confirm := d.Desk.Confirm(ctx, lake, desktest.Deciding(r, "k"))
		_, reject := d.Desk.Reject(ctx, lake, desktest.Deciding(r, "k"))
		_, revise := d.Desk.Revise(ctx, lake, proposal.Revising{Proposal: id, Revision: 1, PlanHash: card.PlanHash})
		_, _, plan := d.Desk.Revision(ctx, lake, id, 1)
		for _, err := range []error{get, confirm, reject, revise, plan} {
			answers[id] = append(answers[id], strings.ReplaceAll(fmt.Sprintf("%+v", *refusal.Of(err)), id, "ID"))
		}
	}
	if fmt.Sprint(answers[card.ID]) != fmt.Sprint(answers["prp_nothing"]) || !strings.Contains(answers[card.ID][0], refusal.NotFound) {
		t.Fatalf("told apart:\n%v\n%v", answers[card.ID], answers["prp_nothing"])
	}
	wantUnchanged(t, before, picture(t, d))
}
