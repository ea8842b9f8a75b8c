package db

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/lib/pq"

	"countersign/internal/outbox"
	"countersign/internal/proposal"
)

// Outbox is the outbox.Store on a pool.
type Outbox struct{ DB *DB }

var _ outbox.Store = Outbox{}

// Clinics implements outbox.Store.
func (o Outbox) Clinics(ctx context.Context) ([]string, error) { return o.DB.Clinics(ctx) }

const messageColumns = `o.clinic, o.id, coalesce(o.appointment, '') AS appointment, o.version, o.kind, o.channel, o.recipient, coalesce(o.subject, '') AS subject,
	o.body AS text, coalesce(o.calendar, '') AS calendar, o.created_at AS queuedat, o.send_at AS sendat, o.proposal, o.revision, o.plan_hash AS planhash,
	o.attempts, o.unanswered, o.lease`

// claimable is what is due ($2), whose channel has a sender ($3) or whose time is over, and which is the first of its
// visit on its way; or what somebody was sending and never settled.
const claimable = `SELECT q.id, q.state FROM outbox q WHERE q.state IN ('queued', 'sending') AND q.next_at <= $2 AND CASE q.state
	WHEN 'sending' THEN q.leased_until <= $2
	ELSE (q.channel = ANY ($3) OR (SELECT a.starts_at FROM appointments a WHERE a.clinic = q.clinic AND a.id = q.appointment) <= $2)
		AND NOT EXISTS (SELECT FROM outbox e WHERE e.clinic = q.clinic AND e.appointment = q.appointment AND e.state IN ('queued', 'sending') AND e.id <> q.id
			AND e.due <= $2 AND e.channel = ANY ($3) AND (e.version, e.due, e.id) < (q.version, q.due, q.id)) END
	ORDER BY q.next_at, q.id`

// Claim implements outbox.Store.
func (o Outbox) Claim(ctx context.Context, clinicID string, channels []string, most int, lease time.Duration) ([]outbox.Message, error) {
	var out []outbox.Message
	ours := pq.StringArray(append([]string{}, channels...)) // none is an empty list, not NULL
	err := o.DB.InClinic(ctx, clinicID, func(t *Tx) error {
		if len(channels) < 2 {
			if _, err := t.exec(ctx, `UPDATE outbox SET last_code = $3 WHERE state = 'queued' AND next_at <= $1 AND channel <> ALL ($2) AND last_code IS NULL`,
				t.now, ours, outbox.CodeNoSender); err != nil {
				return err
			}
		}
		out = nil
		return t.sel(ctx, &out, `UPDATE outbox o SET state = 'sending', lease = o.lease + 1, leased_until = app_now() + $1 * interval '1 second',
			attempts = o.attempts + CASE s.state WHEN 'queued' THEN 1 ELSE 0 END
			FROM (`+claimable+` LIMIT `+strconv.Itoa(most)+` FOR UPDATE OF q SKIP LOCKED) s WHERE o.id = s.id
			RETURNING `+messageColumns+`, s.state = 'sending' AS lost`, lease.Seconds(), t.now, ours)
	})
	return out, err
}

// Facts implements outbox.Store. One statement.
func (o Outbox) Facts(ctx context.Context, m outbox.Message) (f outbox.Facts, mine bool, err error) {
	err = o.DB.Read(ctx, m.Clinic, func(t *Tx) error {
		f, err = t.messageFacts(ctx, m.ID, ` AND o.lease = $2 AND o.state = 'sending' AND o.leased_until > app_now()`, m.Lease)
		mine = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return f, mine, err
}

// ran are the states of a proposal that was confirmed and writes messages; a bulk writes them one by one.
var ran = map[string]bool{proposal.StateExecuting: true, proposal.StateCompleted: true, proposal.StatePartial: true}

// messageFacts reads them for one message. Errors: sql.ErrNoRows.
func (t *Tx) messageFacts(ctx context.Context, id, more string, args ...any) (outbox.Facts, error) {
	var r struct {
		Now                time.Time
		Action, State      string
		PlanBytes          []byte
		Version            *int64
		OnlyStatus         *bool
		Status             *string
		StartsAt           *time.Time
		Deceased           *bool
		Contact            *string
		Email, Phone, Zone string
	}
	err := t.get(ctx, &r, `SELECT app_now() AS now, q.action, q.state, v.plan_bytes AS planbytes, a.version, a.status, a.starts_at AS startsat, p.deceased, p.contact,
		(SELECT min(h.version) = o.version AND a.version > o.version AND count(DISTINCT (h.practitioner, h.location, h.type, h.during)) = 1 FROM appointment_history h
			WHERE h.clinic = o.clinic AND h.appointment = o.appointment AND h.version >= o.version) AS onlystatus,
		coalesce(p.email, '') AS email, coalesce(p.phone, '') AS phone,
		coalesce(p.zone, l.zone, (SELECT zone FROM locations ORDER BY name, id LIMIT 1), '') AS zone
		FROM outbox o JOIN proposals q ON q.clinic = o.clinic AND q.id = o.proposal
		JOIN revisions v ON v.clinic = o.clinic AND v.proposal = o.proposal AND v.revision = o.revision
		LEFT JOIN appointments a ON a.clinic = o.clinic AND a.id = o.appointment
		LEFT JOIN patients p ON p.clinic = o.clinic AND p.id = coalesce(a.patient, q.patient)
		LEFT JOIN locations l ON l.clinic = o.clinic AND l.id = a.location
		WHERE o.id = $1`+more, append([]any{id}, args...)...)
	if err != nil {
		return outbox.Facts{}, err
	}
	f := outbox.Facts{Now: r.Now.UTC(), Action: r.Action, Confirmed: ran[r.State], PlanBytes: r.PlanBytes, Zone: r.Zone}
	if r.Version != nil {
		f.Visit = &outbox.Visit{Version: *r.Version, OnlyStatus: r.OnlyStatus != nil && *r.OnlyStatus, Status: *r.Status, StartsAt: r.StartsAt.UTC()}
	}
	if r.Deceased != nil {
		f.Patient = &outbox.Patient{Deceased: *r.Deceased, Contact: *r.Contact, Email: r.Email, Phone: r.Phone}
	}
	return f, nil
}

// overtakeMessages ends what was not sent of a visit's messages; the visit's parameter follows. It changes in this very
// transaction, so that they are wrong from now on. One that is being sent is left to who sends it: it is judged again just
// before, and where that was earlier than this commit it was right when it left, and the new message waits for it.
const overtakeMessages = `UPDATE outbox SET state = 'superseded', last_code = 'visit_changed' WHERE state IN ('queued', 'failed', 'dead', 'unknown') AND appointment = `

// endTroubles ends what nobody needs to look at any more: the visit is over. What is queued is judged when it would be sent,
// for a status may be a slip that is taken back in time.
func (t *Tx) endTroubles(ctx context.Context, appointment string) error {
	_, err := t.exec(ctx, `UPDATE outbox SET state = 'superseded', last_code = 'visit_changed' WHERE state IN ('failed', 'dead', 'unknown') AND appointment = $1`, appointment)
	return err
}

// Settle implements outbox.Store.
func (o Outbox) Settle(ctx context.Context, m outbox.Message, r outbox.Result) (mine bool, err error) {
	err = o.DB.InClinic(ctx, m.Clinic, func(t *Tx) error {
		n, err := t.exec(ctx, `UPDATE outbox SET state = $3, last_code = CASE $3 WHEN 'sent' THEN NULL ELSE coalesce($4, last_code) END, leased_until = NULL,
			next_at = app_now() + $5 * interval '1 second', sent_at = CASE $3 WHEN 'sent' THEN app_now() END, provider_id = coalesce($6, provider_id),
			unanswered = unanswered + CASE WHEN $7 THEN 1 ELSE 0 END, attempts = attempts - CASE WHEN $8 THEN 1 ELSE 0 END
			WHERE id = $1 AND lease = $2 AND state = 'sending'`,
			m.ID, m.Lease, r.State, orNull(r.Code), r.Wait.Seconds(), orNull(r.ProviderID), r.Unanswered, r.NoTry)
		mine = n == 1
		return err
	})
	return mine, err
}
