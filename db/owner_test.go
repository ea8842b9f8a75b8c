package db_test

import (
	"database/sql"
	"net/url"
	"testing"

	"countersign/db"
	"countersign/db/dbtest"
)

// A database of one's own, run by an owner who is nobody special, as the README says how: it makes the schema, with the
// app's role made and granted before; the app works; an operator who bypasses row-level security reads inspect whole,
// and the owner does not.
func TestAnOwnerWithoutFurtherRights(t *testing.T) {
	root := dbtest.URL(t, db.Migrate) // the app's role is there from now on
	as := func(user, database string) string {
		u, err := url.Parse(root)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.User(user)
		if database != "" {
			u.Path = "/" + database
		}
		return u.String()
	}
	open := func(url string) *sql.DB {
		pool, err := sql.Open("postgres", url)
		if err != nil {
			t.Fatal(err)
		}
		pool.SetMaxIdleConns(0)
		return pool
	}
	super := open(root)
	t.Cleanup(func() { super.Close() })
	exec := func(query string) {
		t.Helper()
		if _, err := super.Exec(query); err != nil {
			t.Fatalf("%v: %s", err, query)
		}
	}
	exec(`CREATE ROLE desk_owner LOGIN`)
	exec(`GRANT countersign_app TO desk_owner`)
	exec(`CREATE ROLE desk_reader LOGIN BYPASSRLS IN ROLE pg_read_all_data`)
	exec(`CREATE DATABASE desk_of_an_owner OWNER desk_owner`)
	t.Cleanup(func() {
		for _, s := range []string{`DROP DATABASE desk_of_an_owner WITH (FORCE)`, `DROP ROLE desk_owner`, `DROP ROLE desk_reader`} {
			if _, err := super.Exec(s); err != nil {
				t.Error(err)
			}
		}
	})
	owner := as("desk_owner", "desk_of_an_owner")
	for range 2 {
		if err := db.Migrate(ctx, owner); err != nil {
			t.Fatal(err)
		}
	}
	d, err := db.Open(ctx, owner, db.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if err := d.InClinic(ctx, "hav", func(tx *db.Tx) error { _, err := tx.AddClinic(ctx, "Havnegade", false); return err }); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(ctx); err != nil {
		t.Error(err)
	}
	filled := open(as("postgres", "desk_of_an_owner"))
	defer filled.Close()
	if _, err := filled.Exec(`INSERT INTO accounts (id, clinic, email, name, role, password_hash) VALUES ('ana', 'hav', 'ana@example.test', 'ana', 'staff', 'x');
		INSERT INTO proposals (clinic, id, action, expires_at, risk, created_by, created_kind, created_name, owner, owner_name, created_via)
		VALUES ('hav', 'p_1', 'x@1', '2026-01-01Z', 'low', 'ana', 'user', 'ana', 'ana', 'ana', 'api')`); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]int{"postgres": 1, "desk_reader": 1, "desk_owner": 0} {
		pool := open(as(user, "desk_of_an_owner"))
		var n int
		if err := pool.QueryRow(`SELECT count(*) FROM inspect.proposals WHERE state = 'expired'`).Scan(&n); err != nil || n != want {
			t.Errorf("%s reads %d of inspect, %v", user, n, err)
		}
		pool.Close()
	}
}
