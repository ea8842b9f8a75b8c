package mirrortest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/db"
	"countersign/db/dbtest"
	"countersign/db/desktest"
)

// largeFile is 4,000 lines: slots of four practitioners, of which each second one is busy with a visit, and its patients.
// The second file has the same practitioners, later.
func largeFile(part int) string {
	var b strings.Builder
	first := time.Date(year, time.Month(3*part), 2, 8, 0, 0, 0, time.UTC)
	b.WriteString(lines(location("n_main")))
	for i := range 4 {
		b.WriteString(lines(practitioner(fmt.Sprintf("n_d%d", i)), schedule(fmt.Sprintf("n_c%d", i), fmt.Sprintf("n_d%d", i), "n_main")))
	}
	for n := range 2000 {
		i := part*10_000 + n
		from := first.AddDate(0, 0, n/4/16).Add(time.Duration(n/4%16) * 30 * time.Minute)
		times := strings.NewReplacer(at("FROM"), from.Format(time.RFC3339), at("TO"), from.Add(30*time.Minute).Format(time.RFC3339))
		if i%8 >= 4 {
			b.WriteString(times.Replace(lines(slot(fmt.Sprintf("n_s%d", i), fmt.Sprintf("n_c%d", i%4), "free", "FROM", "TO"))))
			continue
		}
		b.WriteString(times.Replace(lines(slot(fmt.Sprintf("n_s%d", i), fmt.Sprintf("n_c%d", i%4), "busy", "FROM", "TO"),
			patient(fmt.Sprintf("n_p%d", i), fmt.Sprintf("N%d", i)), visit(fmt.Sprintf("n_a%d", i), fmt.Sprintf("n_p%d", i), fmt.Sprintf("n_d%d", i%4), "FROM", "TO"))))
	}
	return b.String()
}

// What a large file costs grows with its length alone, in tables that PostgreSQL knows nothing of: no look-up of a row reads
// a table, and rows go in by the batch.
func TestALargeFileReadsNoTableForEachRow(t *testing.T) {
	desk := desktest.New(t)
	counting, statements := dbtest.Counting(t, desk.URL)
	read := func(text string) (entries, rows int) {
		rows = strings.Count(text, "\n")
		one(t, desk, `SELECT pg_stat_reset()::text`)
		pool, err := db.Open(ctx, counting, db.Options{StatementTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		mine := *desk
		mine.DB = pool
		statements()
		r := taken(t, &mine, text)
		if !r.Whole() {
			t.Fatalf("%+v", r.Refused)
		}
		if n := statements(); n > rows/20 {
			t.Errorf("%d statements for %d rows", n, rows)
		}
		if err := pool.Close(); err != nil { // a connection tells what it read at its end at the latest
			t.Fatal(err)
		}
		for one(t, desk, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%ehr_links%'`) != "0" {
			time.Sleep(5 * time.Millisecond)
		}
		if _, err := fmt.Sscan(one(t, desk, `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)`), &entries); err != nil {
			t.Fatal(err)
		}
		return entries, rows
	}
	read(largeFile(1)) // of a few rows PostgreSQL may read all of them each time
	second := largeFile(2)
	for _, name := range []string{"first", "again"} {
		n, rows := read(second)
		t.Logf("%s: %d entries read for %d rows", name, n, rows)
		if n > 120*rows {
			t.Errorf("%s: %d entries of tables and indexes read for %d rows", name, n, rows)
		}
	}
	if got := one(t, desk, `SELECT count(*) FROM slots WHERE clinic = 'hav' AND id LIKE 'n\_%' AND (state = 'open') AND (appointment = 'n_a' || substr(id, 4) OR appointment IS NULL AND remote_status = 'free')`); got != "4000" {
		t.Errorf("%s slots stand as the file says", got)
	}
}

// Two imports of one clinic at a time: one waits for the other, and then finds that it brings nothing new.
func TestTwoImportsAtOnceAreOneAfterTheOther(t *testing.T) {
	d := desktest.New(t)
	text := largeFile(1)
	kept := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Reverse(kept) // in the other order each would wait for the other's rows
	changed := make(chan int, 2)
	for _, text := range []string{text, strings.Join(kept, "\n") + "\n"} {
		go func() {
			n := -1
			defer func() { changed <- n }()
			r := taken(t, d, text)
			n = 0
			for _, rows := range r.Changed {
				n += rows
			}
		}()
	}
	if one, other := <-changed, <-changed; max(one, other) != len(kept) || min(one, other) != 0 {
		t.Errorf("one changed %d rows, the other %d, of %d", one, other, len(kept))
	}
}
