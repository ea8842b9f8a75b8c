package dbtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"countersign/db/dbtest"

	_ "github.com/lib/pq"
)

var prepared atomic.Int32

func prepare(ctx context.Context, url string) error {
	prepared.Add(1)
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `CREATE EXTENSION btree_gist; CREATE EXTENSION pg_trgm; CREATE TABLE visit (id int PRIMARY KEY); INSERT INTO visit VALUES (1)`)
	return err
}

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprintf("Parallel/%d", i), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			db := open(t, dbtest.URL(t, prepare))
			t.Logf("database after %v", time.Since(start).Round(time.Millisecond))
			if _, err := db.Exec(`INSERT INTO visit VALUES (2)`); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := db.QueryRow(`SELECT count(*) FROM visit`).Scan(&n); err != nil || n != 2 {
				t.Fatalf("rows: %d, %v; want the template's and our own", n, err)
			}
		})
	}
}

func TestPrepareRunsOnce(t *testing.T) {
	dbtest.URL(t, prepare)
	dbtest.URL(t, prepare)
	if n := prepared.Load(); n != 1 {
		t.Errorf("prepare ran %d times", n)
	}
}

func TestDatabaseIsDroppedWithItsTest(t *testing.T) {
	var url string
	t.Run("Inner", func(t *testing.T) {
		url = dbtest.URL(t, prepare)
		forgotten, err := sql.Open("postgres", url)
		if err != nil {
			t.Fatal(err)
		}
		if err := forgotten.Ping(); err != nil {
			t.Fatal(err)
		}
	})
	if err := open(t, url).Ping(); err == nil {
		t.Error("the database of an ended test is still there")
	}
}
