package ehrtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// search answers by pages, in the order of making.
func (s *Server) search(r *http.Request) reply {
	q := r.URL.Query()
	if s.Mode.NeedDate && len(q["date"]) == 0 {
		return outcome(400, "error", "required", "date")
	}
	found := s.matching(q)
	size := s.Mode.PageSize
	if size == 0 {
		size = 20
	}
	from, _ := strconv.Atoi(q.Get("_offset"))
	to := min(from+size, len(found))
	entries := []any{}
	for _, v := range found[min(from, to):to] {
		entries = append(entries, map[string]any{"fullUrl": "https://elsewhere.test/fhir/Appointment/" + v.id, "resource": v.now(), "search": map[string]any{"mode": "match"}})
	}
	if s.Mode.Informs {
		entries = append(entries, map[string]any{"resource": Outcome("information", "informational", ""), "search": map[string]any{"mode": "outcome"}})
	}
	bundle := map[string]any{"resourceType": "Bundle", "type": "searchset", "total": len(found), "entry": entries}
	if to < len(found) {
		q.Set("_offset", strconv.Itoa(to))
		bundle["link"] = []any{map[string]any{"relation": "next", "url": fmt.Sprintf("http://%s%s?%s", r.Host, r.URL.Path, q.Encode())}}
	}
	return answer(200, bundle)
}

// matching finds what searches may see now.
func (s *Server) matching(q url.Values) (found []*visit) {
	for _, v := range s.visits {
		a := v.now()
		if s.Clock.Now().Before(v.seenFrom) {
			continue
		}
		if want := q.Get("identifier"); want != "" && !s.Mode.NoSearch && !slices.Contains(identifiers(a), want) {
			continue
		}
		if p := q.Get("patient"); p != "" && !slices.Contains(actors(a, "Patient"), strings.TrimPrefix(p, "Patient/")) {
			continue
		}
		if p := q.Get("practitioner"); p != "" && !slices.Contains(actors(a, "Practitioner"), p) {
			continue
		}
		if !slices.ContainsFunc(q["date"], func(d string) bool { return !within(instant(a, "start"), d) }) {
			found = append(found, v)
		}
	}
	return found
}

func within(t time.Time, bound string) bool {
	day := t.UTC().Format(time.DateOnly)
	switch {
	case strings.HasPrefix(bound, "ge"):
		return day >= bound[2:]
	case strings.HasPrefix(bound, "le"):
		return day <= bound[2:]
	}
	return day == bound
}

// identifiers lists those of an appointment as system|value.
func identifiers(a map[string]any) (all []string) {
	list, _ := a["identifier"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		all = append(all, fmt.Sprint(m["system"], "|", m["value"]))
	}
	return all
}

// Entry is what is true of one appointment.
type Entry struct {
	ID, Status, Patient, Practitioner, Location string
	Start, End                                  time.Time
	Version                                     int
}

func entry(v *visit) Entry {
	a := v.now()
	status, _ := a["status"].(string)
	first := func(kind string) string {
		if all := actors(a, kind); len(all) > 0 {
			return all[0]
		}
		return ""
	}
	return Entry{v.id, status, first("Patient"), first("Practitioner"), first("Location"), instant(a, "start"), instant(a, "end"), len(v.versions)}
}

// Live is the ledger of one operation: what stands in the EHR under its mark and is not cancelled.
func (s *Server) Live(operation string) (all []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.visits {
		a := v.now()
		comment, _ := a["comment"].(string)
		ours := slices.ContainsFunc(identifiers(a), func(i string) bool { return strings.HasSuffix(i, "|"+operation) }) || strings.Contains(comment, operation)
		if ours && live(a) {
			all = append(all, entry(v))
		}
	}
	return all
}

// All is the whole ledger, in the order of making.
func (s *Server) All() (all []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.visits {
		all = append(all, entry(v))
	}
	return all
}

// Visit stores an appointment that was there before, and gives its id.
func (s *Server) Visit(patient, practitioner, location string, start, end time.Time) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part := func(ref string) any {
		return map[string]any{"actor": map[string]any{"reference": ref}, "status": "accepted"}
	}
	return s.add(map[string]any{"resourceType": "Appointment", "status": "booked", "start": start.UTC().Format(time.RFC3339), "end": end.UTC().Format(time.RFC3339),
		"participant": []any{part("Patient/" + patient), part("Practitioner/" + practitioner), part("Location/" + location)}}).id
}

// Edit changes an appointment behind everybody's back: a new version.
func (s *Server) Edit(id string, change func(a map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.visits {
		if v.id == id {
			a := copied(v.now())
			change(a)
			s.keep(v, a)
		}
	}
}

// Resolve ends all that is pending, as booked or as cancelled.
func (s *Server) Resolve(status string) {
	for _, e := range s.All() {
		if e.Status == "pending" {
			s.Edit(e.ID, func(a map[string]any) { a["status"] = status })
		}
	}
}

// Slot stores a slot.
func (s *Server) Slot(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots[id] = map[string]any{"resourceType": "Slot", "id": id, "status": status, "schedule": map[string]any{"reference": "Schedule/s"}}
}

// Merge says that another patient's record stands for this one.
func (s *Server) Merge(patient, into string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[patient] = map[string]any{"resourceType": "Patient", "id": patient, "active": false,
		"link": []any{map[string]any{"other": map[string]any{"reference": "Patient/" + into}, "type": "replaced-by"}}}
}

var _ http.Handler = (*Server)(nil)
