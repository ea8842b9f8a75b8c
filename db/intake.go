package db

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lib/pq"

	"countersign/internal/ehr/intake"
)

// IntakeOptions say in whose name rows are taken. Via is a word of the schema: import or mirror.
type IntakeOptions struct {
	By, Via string
	Zone    string // of a location that says none and is new; "" = there is none
	Echo    bool   // a version that we know already is our own change coming back: it changes nothing
	Seen    bool   // a full reading: note what was seen
}

// Intake takes rows of the EHR, or of a file, into the transaction's clinic. It implements intake.Store. Until its Settle
// two visits may overlap.
func (t *Tx) Intake(o IntakeOptions) intake.Store { return &intakeTx{t: t, IntakeOptions: o} }

type intakeTx struct {
	IntakeOptions
	t       *Tx
	types   map[intake.TypeCode]string // by system and code: our id
	touched pq.StringArray             // ids of visits written, at most mostTouched; see settleAll
	all     bool                       // more than that
	begun   bool
	kind    string
	taken   int // rows of that kind so far
	planned int // of them when plans were last made that are kept
}

// begin waits for another intake of the clinic to end: two that bring the same rows in different orders would wait for
// each other. And it has every statement of an intake planned for the tables as they are. The plans that a connection
// keeps may be of the time when they were empty, when any index, or none, seemed as good as the right one.
func (s *intakeTx) begin(ctx context.Context) error {
	if s.begun {
		return nil
	}
	s.begun = true
	if _, err := s.t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('intake ' || $1, 0))`, s.t.clinic); err != nil {
		return err
	}
	_, err := s.t.exec(ctx, planAsTheyAre)
	return err
}

const planAsTheyAre = `SET LOCAL plan_cache_mode = force_custom_plan`

// manyRows is from when on the looks of foreign keys, some five for each row, are not planned anew each time.
const manyRows = 1000

// keepPlans has the plans of the next statement and its foreign keys kept, once there are many rows of the kind. They are
// made again whenever these have doubled: a plan for a table of a few rows may take any index, and would keep it.
func (s *intakeTx) keepPlans(ctx context.Context) (bool, error) {
	if s.taken < manyRows {
		return false, nil
	}
	if s.taken >= 2*s.planned {
		s.planned = s.taken
		if _, err := s.t.exec(ctx, `DISCARD PLANS`); err != nil {
			return false, err
		}
	}
	_, err := s.t.exec(ctx, `SET LOCAL plan_cache_mode = force_generic_plan`)
	return true, err
}

const mostTouched = 5000

// item is a row on its way in, with what is known of it.
type item[R intake.Row] struct {
	R       R
	n       int // in the batch
	ID      string
	Here    bool // there is a row of ours
	Linked  bool // which is known to be this
	Version string
	Hash    string
}

// table of each kind.
var intakeTables = map[string]string{intake.KindLocation: "locations", intake.KindPractitioner: "practitioners", intake.KindPatient: "patients",
	intake.KindSchedule: "schedules", intake.KindSlot: "slots", intake.KindAppointment: "appointments"}

// Take implements intake.Store.
func (s *intakeTx) Take(ctx context.Context, rows []intake.Row) (changed int, problems []*intake.Problem, err error) {
	problems = make([]*intake.Problem, len(rows))
	if len(rows) == 0 {
		return 0, problems, nil
	}
	if err := s.begin(ctx); err != nil {
		return 0, nil, err
	}
	if kind := rows[0].Kind(); kind != s.kind {
		s.kind, s.taken, s.planned = kind, 0, 0
	}
	s.taken += len(rows)
	switch kind := rows[0].Kind(); kind {
	case intake.KindLocation:
		changed, err = takeKind(ctx, s, rows, problems, s.putLocations)
	case intake.KindPractitioner:
		changed, err = takeKind(ctx, s, rows, problems, s.putPractitioners)
	case intake.KindPatient:
		changed, err = takeKind(ctx, s, rows, problems, s.putPatients)
	case intake.KindSchedule:
		changed, err = takeKind(ctx, s, rows, problems, s.putSchedules)
	case intake.KindSlot:
		changed, err = takeKind(ctx, s, rows, problems, s.putSlots)
	case intake.KindAppointment:
		changed, err = takeKind(ctx, s, rows, problems, s.putVisits)
	default:
		err = fmt.Errorf("db: no rows of kind %q are taken", kind)
	}
	return changed, problems, err
}

// knownRow is what is known of a resource before it is taken.
type knownRow struct {
	Remote, Local, ID, Version, Hash string // ID "" = there is no row of ours
	Linked, Here                     bool
	Clash                            bool // the row of that id is another resource
}

// known looks each resource up by itself (OFFSET 0 keeps it so: joined as a whole, every batch would read the whole table),
// by its link or else by the id that ours would have. w is that id: coalesce may not stand beside a column under
// row-level security if an index is to serve.
func (s *intakeTx) known(ctx context.Context, kind string, remotes []string) (map[string]knownRow, error) {
	locals := make(pq.StringArray, len(remotes))
	for i, r := range remotes {
		locals[i] = intake.LocalID(kind, r)
	}
	var found []knownRow
	err := s.t.sel(ctx, &found, `SELECT r.remote, r.local, coalesce(l.id, p.id, '') AS id, coalesce(l.remote_version, '') AS version, coalesce(l.taken_hash, '') AS hash,
		l.id IS NOT NULL AS linked, p.id IS NOT NULL AS here
		FROM unnest($2::text[], $3::text[]) AS r(remote, local)
		LEFT JOIN LATERAL (SELECT l.id, l.remote_version, l.taken_hash FROM ehr_links l WHERE l.kind = $1 AND l.remote_id = r.remote OFFSET 0) l ON true
		CROSS JOIN LATERAL (SELECT coalesce(l.id, r.local) AS id OFFSET 0) w
		LEFT JOIN LATERAL (SELECT p.id FROM `+intakeTables[kind]+` p WHERE p.id = w.id OFFSET 0) p ON true`, kind, pq.StringArray(remotes), locals)
	if err != nil {
		return nil, err
	}
	var unsure pq.StringArray
	for _, f := range found {
		if f.Here && !f.Linked {
			unsure = append(unsure, f.ID)
		}
	}
	others, err := s.linked(ctx, kind, unsure)
	rows := map[string]knownRow{}
	for _, f := range found {
		f.Clash = f.Here && !f.Linked && others[f.ID]
		rows[f.Remote] = f
	}
	return rows, err
}

// linked tells which of our ids are a resource of the EHR. One look for all: as long as PostgreSQL has no statistics of the
// links it may take the wrong one of their two indexes, and would then read the whole kind for each.
func (s *intakeTx) linked(ctx context.Context, kind string, ids pq.StringArray) (map[string]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []string
	err := s.t.sel(ctx, &found, `SELECT id::text FROM ehr_links WHERE kind = $1 AND id = ANY ($2)`, kind, ids)
	are := map[string]bool{}
	for _, id := range found {
		are[id] = true
	}
	return are, err
}

// takeKind leaves alone what says nothing new, writes the rest, and notes what every row taken is in the EHR. put returns
// the number of rows that changed, and sets the problems of those it did not take.
func takeKind[R intake.Row](ctx context.Context, s *intakeTx, rows []intake.Row, problems []*intake.Problem,
	put func(context.Context, []*item[R], []*intake.Problem) (int, error)) (int, error) {
	kind := rows[0].Kind()
	remotes := make([]string, len(rows))
	for i, r := range rows {
		remotes[i] = r.Header().Remote
	}
	known, err := s.known(ctx, kind, remotes)
	if err != nil {
		return 0, err
	}
	var items, links []*item[R]
	for i, r := range rows {
		row, ok := r.(R)
		if !ok {
			return 0, fmt.Errorf("db: rows of several kinds")
		}
		x := &item[R]{R: row, n: i}
		f := known[r.Header().Remote]
		if f.Clash {
			x.ID = intake.OtherID(kind, f.Remote)
		} else {
			x.ID, x.Here, x.Linked, x.Version, x.Hash = f.ID, f.Here, f.Linked, f.Version, f.Hash
		}
		if x.ID == "" {
			x.ID = f.Local
		}
		h := r.Header()
		said := x.Here && x.Hash == h.Hash
		echo := s.Echo && x.Here && x.Linked && x.Version != "" && x.Version == h.Version
		if !said && !echo {
			items = append(items, x)
		}
		links = append(links, x)
	}
	changed := 0
	if len(items) > 0 {
		if changed, err = put(ctx, items, problems); err != nil {
			return 0, err
		}
	}
	return changed, link(ctx, s, kind, links, problems)
}

// link notes the resource, its version and what it said, where that is news.
func link[R intake.Row](ctx context.Context, s *intakeTx, kind string, items []*item[R], problems []*intake.Problem) error {
	var ids, remotes, versions, hashes pq.StringArray
	for _, x := range items {
		h := x.R.Header()
		if problems[x.n] != nil {
			continue
		}
		ids, remotes, versions, hashes = append(ids, x.ID), append(remotes, h.Remote), append(versions, h.Version), append(hashes, h.Hash)
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := s.t.exec(ctx, `INSERT INTO ehr_links AS o (clinic, kind, id, remote_id, remote_version, taken_hash, seen_at)
		SELECT $1, $2, x.id, x.remote, nullif(x.version, ''), x.hash, CASE WHEN $7::boolean THEN app_now() END
		FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS x(id, remote, version, hash)
		ON CONFLICT (clinic, kind, id) DO UPDATE SET remote_version = coalesce(excluded.remote_version, o.remote_version),
			taken_hash = excluded.taken_hash, seen_at = coalesce(excluded.seen_at, o.seen_at)
		WHERE (o.remote_version, o.taken_hash) IS DISTINCT FROM (coalesce(excluded.remote_version, o.remote_version), excluded.taken_hash)
			OR excluded.seen_at IS NOT NULL`, s.t.clinic, kind, ids, remotes, versions, hashes, s.Seen)
	return err
}

// local gives our ids of resources that rows refer to: linked, or (not linked to anything else) of the same id.
func (s *intakeTx) local(ctx context.Context, kind string, remotes []string) (map[string]string, error) {
	known, err := s.known(ctx, kind, remotes)
	ids := map[string]string{}
	for remote, f := range known {
		if f.Here && !f.Clash {
			ids[remote] = f.ID
		}
	}
	return ids, err
}

// TakeTypes implements intake.Store. A type of the clinic with that name is the one that is meant.
func (s *intakeTx) TakeTypes(ctx context.Context, wishes []intake.TypeWish) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.types == nil {
		s.types = map[intake.TypeCode]string{}
	}
	type row struct {
		System, Code, Name, ID string
		Minutes                int
	}
	rows := []row{}
	for _, w := range wishes {
		if _, ok := s.types[intake.TypeCode{System: w.System, Code: w.Code}]; !ok {
			rows = append(rows, row{w.System, w.Code, w.Name, intake.TypeID(w.TypeCode), w.Minutes})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	list, err := jsonText(rows)
	if err != nil {
		return err
	}
	const shape = ` json_to_recordset($1::json) AS x("System" text, "Code" text, "Name" text, "ID" text, "Minutes" integer)`
	_, err = s.t.exec(ctx, `INSERT INTO appointment_types (clinic, id, name, minutes) SELECT $2, x."ID", x."Name", x."Minutes" FROM`+shape+`
		WHERE NOT EXISTS (SELECT FROM ehr_types e WHERE e.system = x."System" AND e.code = x."Code")
			AND NOT EXISTS (SELECT FROM appointment_types y WHERE lower(y.name) = lower(x."Name"))
		ON CONFLICT (clinic, id) DO NOTHING`, list, s.t.clinic)
	if err != nil {
		return err
	}
	_, err = s.t.exec(ctx, `INSERT INTO ehr_types (clinic, system, code, type)
		SELECT $2, x."System", x."Code", coalesce((SELECT y.id FROM appointment_types y WHERE y.id = x."ID"),
			(SELECT y.id FROM appointment_types y WHERE lower(y.name) = lower(x."Name") ORDER BY y.id LIMIT 1)) FROM`+shape+`
		WHERE NOT EXISTS (SELECT FROM ehr_types e WHERE e.system = x."System" AND e.code = x."Code")`, list, s.t.clinic)
	if err != nil {
		return err
	}
	var found []struct{ System, Code, Type string }
	if err := s.t.sel(ctx, &found, `SELECT e.system, e.code, e.type FROM ehr_types e`); err != nil {
		return err
	}
	for _, f := range found {
		s.types[intake.TypeCode{System: f.System, Code: f.Code}] = f.Type
	}
	return nil
}

func (s *intakeTx) typeID(t intake.TypeCode) string {
	return s.types[intake.TypeCode{System: t.System, Code: t.Code}]
}

func (s *intakeTx) typeIDs(list []intake.TypeCode) []string {
	ids := []string{}
	for _, t := range list {
		ids = append(ids, s.typeID(t))
	}
	return ids
}

func jsonText(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
