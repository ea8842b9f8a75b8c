package db_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func bypassed(t *testing.T, limits proposal.Limits) *desktest.Desk {
	t.Helper()
	d := desktest.New(t)
	d.Desk.Limits = limits
	d.Exec(`INSERT INTO tokens (id, clinic, account, name, kind, secret_hash) VALUES ('bot', 'hav', 'ana', 'bot', 'agent', sha256('bot'))`)
	return d
}

// Of many at once: the limit, and exactly the bypass's number more.
func TestABypassIsCappedExactly(t *testing.T) {
	d := bypassed(t, proposal.Limits{Agent: 10, Person: 1000, Clinic: 5000, Window: 10 * time.Minute})
	if _, err := d.Desk.GrantBypass(ctx, d.Actor("ada"), proposal.Granting{Agent: "bot", Reason: "Ill", Minutes: 60, Most: 7}); err != nil {
		t.Fatal(err)
	}
	var made, limited atomic.Int64
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			p := d.Move("apt_maria", d.At(1+i/20, 9, 0).Add(time.Duration(i%20)*15*time.Minute))
			p.Key = fmt.Sprint("k", i)
			switch _, err := d.Desk.Propose(ctx, d.Agent(), p); {
			case err == nil:
				made.Add(1)
			case code(err) == refusal.RateLimited:
				limited.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if made.Load() != 17 || limited.Load() != 23 {
		t.Errorf("%d made, %d limited", made.Load(), limited.Load())
	}
	if got := d.Text(`SELECT concat_ws(' ', (SELECT count(*) FROM proposals WHERE bypass IS NOT NULL), count(*), count(DISTINCT proposal)) FROM audit
		WHERE action = 'proposal.propose' AND object_kind = 'bypass' AND object = (SELECT id FROM bypasses)`); got != "7 7 7" {
		t.Error(got)
	}
}

func TestABypassEndsByItselfAndLiftsNothingElse(t *testing.T) {
	d := bypassed(t, proposal.Limits{Agent: 1, Person: 3, Clinic: 100, Window: 10 * time.Minute})
	ask := func(n int) string {
		_, err := d.Desk.Propose(ctx, d.Agent(), d.Move("apt_maria", d.At(1, 11, 0).Add(time.Duration(n)*15*time.Minute)))
		return code(err)
	}
	if ask(0) != "" || ask(1) != refusal.RateLimited {
		t.Fatal("the limit")
	}
	b, err := d.Desk.GrantBypass(ctx, d.Actor("ada"), proposal.Granting{Agent: "bot", Reason: "Ill", Minutes: 1, Most: 200})
	if err != nil {
		t.Fatal(err)
	}
	if ask(1) != "" || ask(2) != "" || ask(3) != refusal.RateLimited {
		t.Error("the person's limit, which it does not lift")
	}
	d.Desk.Limits.Person = 100
	if ask(3) != "" {
		t.Error("it does not run")
	}
	d.Exec(`ALTER TABLE bypasses DISABLE TRIGGER USER`)
	d.Exec(`UPDATE bypasses SET granted_at = granted_at - interval '1 minute', ends_at = ends_at - interval '1 minute'`)
	if ask(4) != refusal.RateLimited {
		t.Error("its time is over")
	}
	if err := d.Desk.EndBypass(ctx, d.Actor("ada"), b.ID); err != nil || d.Text(`SELECT count(*) FROM bypasses WHERE ended_at IS NOT NULL`) != "0" {
		t.Error("what ended by itself was ended again:", err)
	}
}

func TestOnlyAdministratorsGrant(t *testing.T) {
	d := bypassed(t, proposal.DefaultLimits)
	bot := d.Agent()
	bots := d.Actor("ada") // an agent of an administrator's
	bots.Kind, bots.Agent, bots.AgentName = bot.Kind, bot.Agent, bot.AgentName
	for name, by := range map[string]func() error{
		"staff": func() error {
			_, err := d.Desk.GrantBypass(ctx, d.Actor("ana"), proposal.Granting{Agent: "bot", Reason: "x", Minutes: 1, Most: 1})
			return err
		},
		"reviewer": func() error {
			_, err := d.Desk.GrantBypass(ctx, d.Actor("ben"), proposal.Granting{Agent: "bot", Reason: "x", Minutes: 1, Most: 1})
			return err
		},
		"agent": func() error {
			_, err := d.Desk.GrantBypass(ctx, bots, proposal.Granting{Agent: "bot", Reason: "x", Minutes: 1, Most: 1})
			return err
		},
		"ending": func() error { return d.Desk.EndBypass(ctx, bots, "byp") },
	} {
		if err := by(); code(err) != refusal.PermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := d.Text(`SELECT count(*) || ' ' || (SELECT count(*) FROM bypasses) FROM audit WHERE action LIKE 'bypass.%' AND outcome = 'denied'`); got != "4 0" {
		t.Error("refusals on the trail, and bypasses:", got)
	}
	// Two administrators at once: one bypass.
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			_, _ = d.Desk.GrantBypass(ctx, d.Actor("ada"), proposal.Granting{Agent: "bot", Reason: fmt.Sprint("r", i), Minutes: 5, Most: 5})
		})
	}
	wait.Wait()
	if got := d.Text(`SELECT count(*) FROM bypasses`); got != "1" {
		t.Error(got, "bypasses")
	}
}
