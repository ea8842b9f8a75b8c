//go:build unix

package prooftest

import (
	"fmt"
	"strings"
	"testing"

	"countersign/db/desktest"
)

// behindAll runs SQL as a superuser who knows what to switch off.
func behindAll(d *desktest.Desk, query string) {
	d.T.Helper()
	tx, err := d.Root.Begin()
	must(d.T, err)
	defer tx.Rollback()
	_, err = tx.Exec(`SET LOCAL session_replication_role = replica`)
	must(d.T, err)
	_, err = tx.Exec(query)
	must(d.T, err)
	must(d.T, tx.Commit())
}

// rechain makes the whole chain anew over the entries as they are now, tiles included, as somebody would who has read
// the source and owns the database.
func rechain(d *desktest.Desk) {
	d.T.Helper()
	rows, err := d.Root.Query(`SELECT a.id FROM chain c JOIN audit a ON a.clinic = c.clinic AND a.id = c.entry WHERE c.clinic = 'hav' ORDER BY c.seq`)
	must(d.T, err)
	var ids []string
	for rows.Next() {
		var id string
		must(d.T, rows.Scan(&id))
		ids = append(ids, id)
	}
	must(d.T, rows.Err())
	must(d.T, rows.Close())
	behindAll(d, `UPDATE audit SET content_hash = encode(sha256(content), 'hex'); DELETE FROM chain WHERE clinic = 'hav'; DELETE FROM tiles WHERE clinic = 'hav'; DELETE FROM unsealed`)
	for _, id := range ids {
		d.Exec(`INSERT INTO unsealed (clinic, entry) VALUES ('hav', $1)`, id)
	}
	sealAll(d)
}

// Whatever a superuser does to the trail is found, and named for what it is.
func TestTamperingIsFound(t *testing.T) {
	const edit = `UPDATE audit SET actor = 'ben', content = convert_to(replace(convert_from(content, 'UTF8'), '"actor":"ana"', '"actor":"ben"'), 'UTF8') WHERE id = (SELECT entry FROM chain WHERE seq = 3)`
	for _, c := range []struct {
		name   string
		tamper func(d *desktest.Desk)
		want   []string // the start of each finding's line
	}{
		{"a content edited", func(d *desktest.Desk) { behindAll(d, edit) }, []string{"entry_changed: number 3 "}},
		{"a content edited with its hash", func(d *desktest.Desk) {
			behindAll(d, edit+`; UPDATE audit SET content_hash = encode(sha256(content), 'hex')`)
		}, []string{"entry_changed: number 3 "}},
		{"a column edited", func(d *desktest.Desk) {
			behindAll(d, `UPDATE audit SET actor = 'ben' WHERE id = (SELECT entry FROM chain WHERE seq = 3)`)
		}, []string{"entry_changed: number 3 "}},
		{"a time edited", func(d *desktest.Desk) {
			behindAll(d, `UPDATE audit SET at = at - interval '1 microsecond' WHERE id = (SELECT entry FROM chain WHERE seq = 3)`)
		}, []string{"entry_changed: number 3 "}},
		{"an entry removed", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM audit WHERE id = (SELECT entry FROM chain WHERE seq = 3)`)
		}, []string{"entry_gone: number 3 "}},
		{"an entry removed with its link", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM audit WHERE id = (SELECT entry FROM chain WHERE seq = 3); DELETE FROM chain WHERE seq = 3`)
		}, []string{"entry_gone: number 3 "}},
		{"the first two removed with their links", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM audit WHERE id IN (SELECT entry FROM chain WHERE seq <= 2); DELETE FROM chain WHERE seq <= 2`)
		}, []string{"entry_gone: numbers 1 to 2 "}},
		{"a link edited", func(d *desktest.Desk) {
			behindAll(d, `UPDATE chain SET chain_hash = sha256('x') WHERE seq = 10`)
		}, []string{"chain_broken: number 10 ", "rewritten: "}},
		{"two links exchanged", func(d *desktest.Desk) {
			behindAll(d, `UPDATE chain SET entry = entry || '_'; UPDATE chain SET entry = (SELECT left(o.entry, -1) FROM chain o WHERE o.seq = 7 - chain.seq) WHERE seq IN (3, 4);
				UPDATE chain SET entry = left(entry, -1) WHERE right(entry, 1) = '_'`)
		}, []string{"chain_broken: number 3 ", "entry_changed: number 3 ", "chain_broken: number 4 ", "entry_changed: number 4 ", "rewritten: "}},
		{"the tail cut (G17)", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM audit WHERE id IN (SELECT entry FROM chain WHERE seq > 8); DELETE FROM chain WHERE seq > 8; DELETE FROM checkpoints`)
		}, []string{"tail_cut: the trail ends after number 8, ", "version_untold: version 2 of appointment apt_maria "}},
		{"everything removed", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM audit; DELETE FROM chain; DELETE FROM unsealed; DELETE FROM checkpoints`)
		}, []string{"tail_cut: the trail ends after number 0, ", "version_untold: version 2 of appointment apt_maria "}},
		{"everything rewritten", func(d *desktest.Desk) {
			behindAll(d, edit+`; DELETE FROM checkpoints`)
			rechain(d)
		}, []string{"rewritten: the first 10 "}},
		{"a checkpoint forged", func(d *desktest.Desk) {
			behindAll(d, edit)
			rechain(d)
			behindAll(d, `DELETE FROM checkpoints`)
			takeCheckpoint(d, newKey(t))
		}, []string{"bad_checkpoint: the stored checkpoint of 10 entries: it is signed by a key that is not known here", "rewritten: "}},
		{"a checkpoint edited", func(d *desktest.Desk) {
			behindAll(d, `UPDATE checkpoints SET note = replace(note, 'time 20', 'time 19')`)
		}, []string{"bad_checkpoint: the stored checkpoint of 10 entries: the signature is not good"}},
		{"a tile edited", func(d *desktest.Desk) {
			write(d, 300)
			sealAll(d)
			behindAll(d, `UPDATE tiles SET root = sha256('x')`)
		}, []string{"chain_broken: tile 0 "}},
		{"an entry hidden from the sealer", func(d *desktest.Desk) {
			write(d, 1)
			behindAll(d, `DELETE FROM unsealed`)
		}, []string{"not_sealed: entry "}},
		{"an entry that waits", func(d *desktest.Desk) {
			write(d, 1)
			d.Exec(`UPDATE unsealed SET queued_at = queued_at - interval '61 s'`)
		}, []string{"not_sealed: entry "}},
		{"an entry removed before it was sealed", func(d *desktest.Desk) {
			write(d, 1)
			behindAll(d, `DELETE FROM audit WHERE id IN (SELECT entry FROM unsealed)`)
		}, []string{"entry_gone: entry "}},
		{"a visit moved in psql", func(d *desktest.Desk) {
			d.Exec(`UPDATE appointments SET status = 'noshow' WHERE clinic = 'hav' AND id = 'apt_soren'`)
		}, []string{"version_untold: version 2 of appointment apt_soren "}},
		{"a visit moved in psql, in a plan's name", func(d *desktest.Desk) {
			d.Exec(`UPDATE appointments SET status = 'noshow', changed_via = 'seed' WHERE clinic = 'hav' AND id = 'apt_soren'`)
		}, []string{"version_untold: version 2 of appointment apt_soren "}},
		{"a visit moved past its history", func(d *desktest.Desk) {
			behindAll(d, `UPDATE appointments SET status = 'noshow' WHERE clinic = 'hav' AND id = 'apt_soren'`)
		}, []string{"appointment_moved: appointment apt_soren "}},
		{"a version removed", func(d *desktest.Desk) {
			behindAll(d, `DELETE FROM appointment_history WHERE appointment = 'apt_maria' AND version = 2;
				UPDATE appointments SET version = 1, during = (SELECT during FROM appointment_history WHERE appointment = 'apt_maria' AND version = 1) WHERE id = 'apt_maria'`)
		}, []string{"entry_unfounded: entry aud_"}},
		{"a trigger switched off", func(d *desktest.Desk) { d.Exec(`ALTER TABLE audit DISABLE TRIGGER never_changes`) }, []string{"guard_missing: table audit is without its trigger never_changes"}},
		{"a trigger dropped", func(d *desktest.Desk) { d.Exec(`DROP TRIGGER never_emptied ON chain`) }, []string{"guard_missing: table chain is without its trigger never_emptied"}},
		{"a policy lifted", func(d *desktest.Desk) { d.Exec(`ALTER TABLE audit NO FORCE ROW LEVEL SECURITY`) }, []string{"guard_missing: table audit is not under a forced row policy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := desktest.New(t)
			key := newKey(t)
			// An honest history of ten entries: one move among them, proposed and confirmed.
			write(d, 6)
			card := d.Propose(d.Actor("ana"), d.Move("apt_maria", d.At(1, 14, 0)))
			_, err := d.Desk.Confirm(ctx, d.Actor("ana"), desktest.Deciding(card, "k"))
			must(t, err)
			sealAll(d)
			n := int64(10)
			for size := d.Text(`SELECT max(seq) FROM chain`); size != fmt.Sprint(n); size = d.Text(`SELECT max(seq) FROM chain`) {
				write(d, 1)
				sealAll(d)
			}
			outside := takeCheckpoint(d, key)
			wantVerified(d, key, n, outside)
			c.tamper(d)
			_, lines := verified(d, key, outside)
			ok := len(lines) == len(c.want)
			for i := range c.want {
				ok = ok && strings.HasPrefix(lines[i], c.want[i])
			}
			if !ok {
				t.Errorf("found\n%s\nwant %q", strings.Join(lines, "\n"), c.want)
			}
			for _, line := range lines {
				if strings.Contains(line, "Jensen") || strings.Contains(line, "Maria") {
					t.Error("names a patient:", line)
				}
			}
		})
	}
}
