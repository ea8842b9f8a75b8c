package ehrtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// create stores a new appointment, unless it is nonsense or its time is taken.
func (s *Server) create(r *http.Request, body []byte, f Fault) reply {
	a, wrong := sensible(r, body, "")
	if wrong != "" {
		return outcome(400, "error", "invalid", wrong)
	}
	if only := r.Header.Get("If-None-Exist"); only != "" && s.Mode.Conditional {
		q, _ := url.ParseQuery(only)
		switch same := s.matching(q); len(same) {
		case 0:
		case 1:
			return s.shown(200, same[0])
		default:
			return outcome(412, "error", "multiple-matches", "")
		}
	}
	if s.taken(a, "") {
		return s.isTaken(a)
	}
	if f.Stored != nil {
		f.Stored(a)
	}
	if s.Mode.NoIdentifiers {
		delete(a, "identifier")
	}
	status := 201
	if s.Mode.Async {
		a["status"], status = "pending", 202
	}
	v := s.add(a)
	v.seenFrom, v.readFrom = s.Clock.Now().Add(f.Lag), s.Clock.Now().Add(f.ReadLag)
	if f.Twice {
		twin := s.add(copied(a))
		twin.seenFrom, twin.readFrom = v.seenFrom, v.readFrom
	}
	return s.written(status, v)
}

func (s *Server) written(status int, v *visit) reply {
	out := s.shown(status, v)
	if status != 200 {
		out.header.Set("Location", fmt.Sprintf("https://elsewhere.test/fhir/Appointment/%s/_history/%d", v.id, len(v.versions)))
	}
	if s.Mode.Minimal {
		out.body = nil
	}
	return out
}

// isTaken says so in the product's way.
func (s *Server) isTaken(a map[string]any) reply {
	if s.Mode.Argonaut {
		no := copied(a)
		no["status"], no["contained"] = "cancelled", []any{Outcome("error", "conflict", "")}
		return answer(200, no)
	}
	status := s.Mode.Taken
	if status == 0 {
		status = 409
	}
	return outcome(status, "error", "conflict", "slot-taken")
}

// update stores a new version of an appointment.
func (s *Server) update(r *http.Request, id string, body []byte, f Fault) reply {
	a, wrong := sensible(r, body, id)
	i := slices.IndexFunc(s.visits, func(v *visit) bool { return v.id == id })
	if i < 0 {
		return outcome(404, "error", "not-found", "")
	}
	v := s.visits[i]
	match := r.Header.Get("If-Match")
	switch {
	case wrong != "":
		return outcome(400, "error", "invalid", wrong)
	case s.Mode.IgnoreIfMatch:
	case match == "" && s.Mode.NeedIfMatch:
		return outcome(412, "error", "required", "if-match")
	case match != "" && match != fmt.Sprintf(`W/"%d"`, len(v.versions)):
		status := s.Mode.Stale
		if status == 0 {
			status = 412
		}
		return outcome(status, "error", "conflict", "version")
	}
	if s.Mode.NoUpdate && (a["start"] != v.now()["start"] || a["end"] != v.now()["end"]) {
		return outcome(422, "error", "business-rule", "no-move")
	}
	if s.taken(a, id) {
		return s.isTaken(a)
	}
	if f.Stored != nil {
		f.Stored(a)
	}
	if s.Mode.NoIdentifiers {
		a["identifier"] = v.now()["identifier"]
	}
	s.slotsOf(v.now(), "free")
	s.keep(v, a)
	return s.written(200, v)
}

// add stores an appointment under a new id.
func (s *Server) add(a map[string]any) *visit {
	s.serial++
	v := &visit{id: "e" + strconv.Itoa(s.serial)}
	s.visits = append(s.visits, v)
	s.keep(v, a)
	return v
}

// keep makes a new version of it, which is the truth from now on.
func (s *Server) keep(v *visit, a map[string]any) {
	a = copied(a)
	a["id"] = v.id
	a["meta"] = map[string]any{"versionId": strconv.Itoa(len(v.versions) + 1), "lastUpdated": s.Clock.Now().UTC().Format(time.RFC3339)}
	v.versions = append(v.versions, a)
	if live(a) {
		s.slotsOf(a, "busy")
	}
}

func (s *Server) slotsOf(a map[string]any, status string) {
	for _, id := range references(a, "slot", "Slot") {
		if s.slots[id] != nil {
			s.slots[id]["status"] = status
		}
	}
}

func live(a map[string]any) bool {
	return a["status"] != "cancelled" && a["status"] != "entered-in-error" && a["status"] != "noshow"
}

// taken: one of its slots is busy with another, or its practitioner is.
func (s *Server) taken(a map[string]any, id string) bool {
	if !live(a) || s.Mode.OpenConflicts {
		return false
	}
	mine := []string{}
	for _, v := range s.visits {
		if v.id == id {
			mine = references(v.now(), "slot", "Slot")
		}
	}
	for _, slot := range references(a, "slot", "Slot") {
		if known := s.slots[slot]; known != nil && known["status"] != "free" && !slices.Contains(mine, slot) {
			return true
		}
	}
	for _, v := range s.visits {
		if b := v.now(); v.id != id && live(b) && overlap(a, b) && same(a, b, "Practitioner") {
			return true
		}
	}
	return false
}

func overlap(a, b map[string]any) bool {
	return instant(a, "start").Before(instant(b, "end")) && instant(b, "start").Before(instant(a, "end"))
}

func same(a, b map[string]any, kind string) bool {
	for _, p := range actors(a, kind) {
		if slices.Contains(actors(b, kind), p) {
			return true
		}
	}
	return false
}

func instant(a map[string]any, member string) time.Time {
	text, _ := a[member].(string)
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// references lists the ids of one type that a member's entries refer to.
func references(a map[string]any, member, kind string) (ids []string) {
	list, _ := a[member].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		if text, _ := m["reference"].(string); strings.HasPrefix(text, kind+"/") {
			ids = append(ids, strings.TrimPrefix(text, kind+"/"))
		}
	}
	return ids
}

func actors(a map[string]any, kind string) (ids []string) {
	list, _ := a["participant"].([]any)
	for _, e := range list {
		p, _ := e.(map[string]any)
		ids = append(ids, references(map[string]any{"x": []any{p["actor"]}}, "x", kind)...)
	}
	return ids
}

// sensible refuses what no EHR would take, and what a careless client would send.
func sensible(r *http.Request, body []byte, id string) (a map[string]any, wrong string) {
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, "json"
	}
	status, _ := a["status"].(string)
	switch {
	case a["resourceType"] != "Appointment":
		return nil, "type"
	case id == "" && a["id"] != nil, id != "" && a["id"] != id:
		return nil, "id"
	case r.Header.Get("Content-Type") != "application/fhir+json":
		return nil, "content-type"
	case r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "":
		return nil, "a header that lets transports send again"
	case !slices.Contains([]string{"booked", "cancelled"}, status):
		return nil, "status"
	case status == "cancelled" && a["cancelationReason"] == nil, status != "cancelled" && a["cancelationReason"] != nil:
		return nil, "app-4"
	case instant(a, "start").IsZero() || !instant(a, "end").After(instant(a, "start")):
		return nil, "app-3"
	case len(actors(a, "Patient")) != 1 || len(actors(a, "Practitioner")) == 0 || len(actors(a, "Location")) != 1:
		return nil, "participant"
	}
	return a, ""
}

func copied(a map[string]any) map[string]any {
	if a == nil {
		return nil
	}
	data, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	var b map[string]any
	if err := json.Unmarshal(data, &b); err != nil {
		panic(err)
	}
	return b
}
