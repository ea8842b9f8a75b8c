package intake

import (
	"strings"

	"countersign/internal/ehr/fhir"
)

func location(r *fhir.Location, fullURL string) (Row, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, p
	}
	l := &Location{Head: h, Name: text(r.Name, mostName)}
	if l.Name == "" {
		return nil, problem(CodeIncomplete, "it has no name, or one that is too long")
	}
	if a := r.Address; a != nil {
		parts := append([]string{}, a.Line...)
		parts = append(parts, strings.TrimSpace(a.PostalCode+" "+a.City), a.State, a.Country)
		if l.Address = text(a.Text, mostText); l.Address == "" {
			l.Address = text(joined(parts, ", "), mostText)
		}
	}
	for _, t := range r.Telecom {
		if t.System == "phone" && t.Use != "old" && l.Phone == "" {
			l.Phone = text(t.Value, mostName)
		}
	}
	var ok bool
	if l.Zone, ok = zoneOf(r.Extension); !ok {
		return nil, problem(CodeNoZone, "its time zone is not known (an IANA name such as Europe/Copenhagen)")
	}
	return l, nil
}

func joined(parts []string, with string) string {
	var full []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			full = append(full, p)
		}
	}
	return strings.Join(full, with)
}

func schedule(r *fhir.Schedule, fullURL string) (Row, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, p
	}
	s := &Schedule{Head: h, Active: r.Active == nil || *r.Active, Types: typesOf(r.ServiceType, nil)}
	for _, actor := range r.Actor {
		for kind, to := range map[string]*string{KindPractitioner: &s.Practitioner, KindLocation: &s.Location} {
			id := ""
			if k, i := actor.Target(); k == kind {
				id = i
			}
			if id != "" && *to != "" {
				return nil, problem(CodeUnsupported, "it is of several practitioners or several locations")
			}
			if id != "" {
				*to = id
			}
		}
	}
	for kind, id := range map[string]string{KindPractitioner: s.Practitioner, KindLocation: s.Location} {
		if p := invalid(kind, id); p != nil {
			return nil, p
		}
	}
	if s.Practitioner == "" {
		return nil, Unknown(KindPractitioner, "")
	}
	if h := r.PlanningHorizon; h != nil {
		s.From, s.To = date(h.Start), date(h.End)
		if s.To != "" && s.To < s.From {
			return nil, problem(CodeEndsTooEarly, "its planning horizon ends before its start")
		}
	}
	return s, nil
}

func slot(r *fhir.Slot, fullURL string) (Row, *Problem) {
	h, p := head(r.ID, r.Meta, fullURL)
	if p != nil {
		return nil, p
	}
	s := &Slot{Head: h, Schedule: target(r.Schedule, KindSchedule), Status: r.Status, Types: typesOf(r.ServiceType, r.AppointmentType)}
	switch r.Status {
	case fhir.SlotFree, fhir.SlotBusy, fhir.SlotUnavailable, fhir.SlotTentative, fhir.SlotInError:
	default:
		return nil, problem(CodeIncomplete, "its status is none of FHIR's")
	}
	if s.StartsAt, s.EndsAt, p = times(r.Start, r.End); p != nil {
		return nil, p
	}
	if s.Schedule == "" || !ValidRemote(s.Schedule) {
		return nil, Unknown(KindSchedule, s.Schedule)
	}
	return s, nil
}
