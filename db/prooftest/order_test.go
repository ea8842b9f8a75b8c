//go:build unix

package prooftest

import (
	"fmt"
	"testing"
	"time"

	"countersign/db/desktest"
	"countersign/internal/clinic"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// ladder is one world in which a request can be wrong in every way at once.
type ladder struct {
	d                         *desktest.Desk
	decided, late, live, lake proposal.Record // all past repair or stale; live is high risk, at revision 2, and a pin of it moved
	cut                       clinic.Actor    // ana, by a token that may not decide
}

func newLadder(t *testing.T) ladder {
	d := desktest.New(t)
	set := freeze(d)
	start := time.Now().UTC().Truncate(time.Second)
	set(start)
	l := ladder{d: d, cut: d.Actor("ana")}
	l.cut.MayDecide = false
	ana := d.Actor("ana")
	l.decided, l.late = d.Propose(ana, d.Move("apt_maria", d.At(1, 8, 0))), d.Propose(ana, d.Move("apt_maria", d.At(1, 9, 0)))
	_, err := d.Desk.Reject(ctx, ana, desktest.Deciding(l.decided, "used"))
	must(t, err)
	first := d.Propose(d.Agent(), d.Move("apt_maria", d.At(1, 14, 0), "message", "Come at two."))
	second, err := d.Desk.Revise(ctx, d.Agent(), proposal.Revising{Proposal: first.ID, Revision: 1, PlanHash: first.PlanHash, Parameters: map[string]any{"message": "Come at 14."}})
	must(t, err)
	l.live = second.Record
	lake := ana
	lake.Clinic, lake.Person = "lake", "lake_ana"
	l.lake = d.Propose(lake, d.Move("lake_apt_maria", d.At(1, 14, 0)))
	d.Exec(`UPDATE patients SET email = 'new@example.test' WHERE clinic = 'hav' AND id = 'maria'`)
	set(start.Add(time.Hour)) // past the deadline of low risk, before that of high
	return l
}

// Contract section 4: the first match answers. Each request deserves its code and as many of the later ones as can be.
func TestTheFirstRefusalAnswers(t *testing.T) {
	l := newLadder(t)
	d := l.d
	ana, emil, ada, ben, bot := d.Actor("ana"), d.Actor("emil"), d.Actor("ada"), d.Actor("ben"), d.Agent()
	cutBen := ben
	cutBen.MayDecide = false
	nothing := proposal.Record{ID: "prp_nothing"}
	junk := func(r proposal.Record, revision int, key string) proposal.Decision {
		return proposal.Decision{Proposal: r.ID, Revision: revision, PlanHash: "junk", Key: key}
	}
	const confirm, reject = "confirm", "reject"
	for _, rung := range []struct {
		door string
		by   clinic.Actor
		d    proposal.Decision
		want string
	}{
		{confirm, bot, junk(nothing, 9, ""), refusal.IdempotencyKeyMissing},
		{confirm, bot, junk(l.live, 9, "white space"), refusal.IdempotencyKeyMissing},
		{confirm, bot, junk(nothing, 9, "used"), refusal.ConfirmationNeedsPerson},
		{confirm, bot, desktest.Deciding(l.live, "k"), refusal.ConfirmationNeedsPerson},
		{confirm, l.cut, junk(nothing, 9, "used"), refusal.IdempotencyKeyReused},
		{confirm, l.cut, junk(l.decided, 1, "used"), refusal.IdempotencyKeyReused},
		{confirm, l.cut, desktest.Deciding(l.decided, "used"), refusal.IdempotencyKeyReused}, // the other decision
		{confirm, l.cut, junk(l.live, 2, "used"), refusal.IdempotencyKeyReused},
		{confirm, l.cut, junk(nothing, 9, "k"), refusal.NotFound},
		{confirm, ada, desktest.Deciding(l.lake, "k"), refusal.NotFound},
		{confirm, l.cut, junk(l.decided, 9, "k"), refusal.AlreadyDecided},
		{confirm, ada, desktest.Deciding(l.decided, "k"), refusal.AlreadyDecided},
		{confirm, l.cut, junk(l.late, 9, "k"), refusal.ProposalExpired},
		{confirm, ada, desktest.Deciding(l.late, "k"), refusal.ProposalExpired},
		{confirm, l.cut, junk(l.live, 1, "k"), refusal.ResourceChanged},
		{confirm, l.cut, junk(l.live, 9, "k"), refusal.ResourceChanged},
		{confirm, ada, junk(l.live, 0, "k"), refusal.ResourceChanged},
		{confirm, l.cut, junk(l.live, 2, "k"), refusal.PlanHashMismatch},
		{confirm, ada, junk(l.live, 2, "k"), refusal.PlanHashMismatch},
		{confirm, l.cut, desktest.Deciding(l.live, "k"), refusal.SelfApprovalForbidden},
		{confirm, ana, desktest.Deciding(l.live, "k"), refusal.SelfApprovalForbidden},
		{confirm, emil, desktest.Deciding(l.live, "k"), refusal.PermissionDenied},
		{confirm, ada, desktest.Deciding(l.live, "k"), refusal.PermissionDenied},
		{confirm, cutBen, desktest.Deciding(l.live, "k"), refusal.PermissionDenied},
		{confirm, ben, desktest.Deciding(l.live, "k"), refusal.ResourceChanged},

		{reject, bot, junk(nothing, 9, ""), refusal.IdempotencyKeyMissing},
		{reject, l.cut, junk(nothing, 9, "used"), refusal.IdempotencyKeyReused},
		{reject, l.cut, junk(nothing, 9, "k"), refusal.NotFound},
		{reject, bot, desktest.Deciding(l.lake, "k"), refusal.NotFound},
		{reject, l.cut, junk(l.decided, 9, "k"), refusal.AlreadyDecided},
		{reject, l.cut, junk(l.late, 9, "k"), refusal.ProposalExpired},
		{reject, l.cut, junk(l.live, 1, "k"), refusal.ResourceChanged},
		{reject, l.cut, junk(l.live, 2, "k"), refusal.PlanHashMismatch},
		{reject, emil, desktest.Deciding(l.live, "k"), refusal.PermissionDenied},
		{reject, ada, desktest.Deciding(l.live, "k"), refusal.PermissionDenied},
	} {
		call, action := d.Desk.Confirm, "proposal.confirm"
		if rung.door == reject {
			call, action = d.Desk.Reject, map[bool]string{true: "proposal.withdraw", false: "proposal.reject"}[rung.by.Kind == clinic.KindAgent]
		}
		what := fmt.Sprint(rung.door, " by ", rung.by.ID(), " ", rung.d.Revision, " ", rung.d.Key, " wants ", rung.want)
		before := picture(t, d)
		rows := d.Text(`SELECT count(*) FROM audit WHERE action = $1 AND outcome = 'denied' AND code = $2 AND actor = $3`, action, rung.want, rung.by.ID())
		_, err := call(ctx, rung.by, rung.d)
		if code(err) != rung.want {
			t.Errorf("%s, got %s", what, code(err))
		}
		wantUnchanged(t, before, picture(t, d))
		if got := d.Text(`SELECT count(*) - $4 FROM audit WHERE action = $1 AND outcome = 'denied' AND code = $2 AND actor = $3`, action, rung.want, rung.by.ID(), rows); got != "1" {
			t.Errorf("%s: %s rows of the trail", what, got)
		}
	}
	wantWhole(t, d)
}

func TestTheFirstRefusalOfAnEditAnswers(t *testing.T) {
	l := newLadder(t)
	d := l.d
	bad := map[string]any{"starts_at": "never", "colour": "red"}
	for _, rung := range []struct {
		by   clinic.Actor
		e    proposal.Revising
		want string
	}{
		{d.Actor("emil"), proposal.Revising{Proposal: "prp_nothing", Revision: 9, PlanHash: "junk", Parameters: bad}, refusal.NotFound},
		{d.Actor("emil"), proposal.Revising{Proposal: l.lake.ID, Revision: 1, PlanHash: l.lake.PlanHash, Parameters: bad}, refusal.NotFound},
		{d.Actor("emil"), proposal.Revising{Proposal: l.decided.ID, Revision: 9, PlanHash: "junk", Parameters: bad}, refusal.AlreadyDecided},
		{d.Actor("emil"), proposal.Revising{Proposal: l.late.ID, Revision: 9, PlanHash: "junk", Parameters: bad}, refusal.ProposalExpired},
		{d.Actor("emil"), proposal.Revising{Proposal: l.live.ID, Revision: 1, PlanHash: "junk", Parameters: bad}, refusal.ResourceChanged},
		{d.Actor("emil"), proposal.Revising{Proposal: l.live.ID, Revision: 2, PlanHash: "junk", Parameters: bad}, refusal.PlanHashMismatch},
		{d.Actor("emil"), proposal.Revising{Proposal: l.live.ID, Revision: 2, PlanHash: l.live.PlanHash, Parameters: bad}, refusal.PermissionDenied},
		{d.Actor("ada"), proposal.Revising{Proposal: l.live.ID, Revision: 2, PlanHash: l.live.PlanHash, Parameters: bad}, refusal.PermissionDenied},
		{d.Actor("ben"), proposal.Revising{Proposal: l.live.ID, Revision: 2, PlanHash: l.live.PlanHash, Parameters: bad}, refusal.ValidationFailed},
		{d.Actor("ben"), proposal.Revising{Proposal: l.live.ID, Revision: 2, PlanHash: l.live.PlanHash, Parameters: map[string]any{"appointment": "apt_soren"}}, refusal.ValidationFailed},
	} {
		before := picture(t, d)
		_, err := d.Desk.Revise(ctx, rung.by, rung.e)
		if code(err) != rung.want {
			t.Errorf("%s wants %s, got %s", rung.by.Person, rung.want, code(err))
		}
		wantUnchanged(t, before, picture(t, d))
	}
}

// Cases F7, F9, F10: what consumed the proposal answers for ever, before every other reason; a refusal is never kept.
func TestAReplayComesBeforeEverything(t *testing.T) {
	d := desktest.New(t)
	set := freeze(d)
	ana, ben := d.Actor("ana"), d.Actor("ben")
	card := d.Propose(ana, d.Move("apt_maria", d.At(1, 14, 0)))
	k := desktest.Deciding(card, "k")
	_, err := d.Desk.Confirm(ctx, d.Actor("emil"), k) // refused under emil's "k"
	wantCode(t, err, refusal.PermissionDenied)
	d.Exec(`UPDATE accounts SET role = 'reviewer' WHERE id = 'emil'`)
	first, err := d.Desk.Confirm(ctx, ana, k)
	must(t, err)
	_, err = d.Desk.Confirm(ctx, ben, k) // his "k" is another key
	wantCode(t, err, refusal.AlreadyDecided)
	_, err = d.Desk.Confirm(ctx, d.Actor("emil"), k)
	wantCode(t, err, refusal.AlreadyDecided)
	set(card.ExpiresAt.Add(1000 * time.Hour))
	d.Exec(`UPDATE accounts SET role = 'admin' WHERE id = 'ana'`)
	d.Exec(`UPDATE patients SET email = 'new@example.test' WHERE clinic = 'hav' AND id = 'maria'`)
	again, err := d.Desk.Confirm(ctx, ana, k)
	must(t, err)
	if !again.Replayed || string(again.Body) != string(first.Body) || again.Status != first.Status {
		t.Fatal("not the same answer")
	}
	for name, change := range map[string]func(*proposal.Decision){
		"revision": func(d *proposal.Decision) { d.Revision = 2 },
		"hash":     func(d *proposal.Decision) { d.PlanHash = "x" },
		"proposal": func(d *proposal.Decision) { d.Proposal = "prp_x" },
	} {
		other := k
		change(&other)
		if _, err := d.Desk.Confirm(ctx, ana, other); code(err) != refusal.IdempotencyKeyReused {
			t.Error(name, err)
		}
	}
	_, err = d.Desk.Reject(ctx, ana, k)
	wantCode(t, err, refusal.IdempotencyKeyReused)
	wish := d.Move("apt_soren", d.At(1, 15, 0))
	wish.Key = "k"
	ana.Role = clinic.RoleStaff
	_, err = d.Desk.Propose(ctx, ana, wish)
	wantCode(t, err, refusal.IdempotencyKeyReused)
	if got := d.Text(`SELECT string_agg(person || ' ' || key || ' ' || status, ',') FROM idempotency_keys`); got != "ana k 200" {
		t.Fatal("keys:", got)
	}
	wantWhole(t, d)
}

// Case D6: the role counts that stands when the lock is held, not the one of the page.
func TestTheRoleOfThatMomentCounts(t *testing.T) {
	for name, change := range map[string]string{
		"disabled":         `UPDATE accounts SET disabled_at = now()`,
		"made admin":       `UPDATE accounts SET role = 'admin'`,
		"moved to a lake":  `UPDATE accounts SET clinic = 'lake'`,
		"reviewer no more": `UPDATE accounts SET role = 'staff'`,
	} {
		t.Run(name, func(t *testing.T) {
			d := desktest.New(t)
			high := d.Propose(d.Agent(), d.Move("apt_maria", d.At(1, 14, 0), "message", "Come at two."))
			low := d.Propose(d.Actor("ana"), d.Move("apt_soren", d.At(1, 14, 0)))
			agents := d.Propose(d.Agent(), d.Move("apt_soren", d.At(1, 15, 0)))
			// All three look as they did when the page was drawn.
			ana, ben, bot := d.Actor("ana"), d.Actor("ben"), d.Agent()
			d.Exec(change)
			before := picture(t, d)
			want := func(err error) {
				t.Helper()
				if code(err) != refusal.PermissionDenied {
					t.Errorf("got %v", err)
				}
			}
			_, err := d.Desk.Confirm(ctx, ben, desktest.Deciding(high, "k"))
			want(err)
			if name != "reviewer no more" {
				_, err = d.Desk.Confirm(ctx, ana, desktest.Deciding(low, "k"))
				want(err)
				_, err = d.Desk.Reject(ctx, ana, desktest.Deciding(low, "k"))
				want(err)
				_, err = d.Desk.Revise(ctx, ana, proposal.Revising{Proposal: low.ID, Revision: 1, PlanHash: low.PlanHash})
				want(err)
			}
			if name == "disabled" || name == "moved to a lake" {
				_, err = d.Desk.Reject(ctx, bot, desktest.Deciding(agents, "k"))
				want(err)
				_, err = d.Desk.Revise(ctx, bot, proposal.Revising{Proposal: agents.ID, Revision: 1, PlanHash: agents.PlanHash})
				want(err)
			}
			wantUnchanged(t, before, picture(t, d))
		})
	}
}
