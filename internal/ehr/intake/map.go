package intake

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"countersign/internal/clinic"
	"countersign/internal/ehr"
	"countersign/internal/ehr/fhir"
)

// most characters of a name, an address and other texts of one line.
const (
	mostName = 200
	mostText = 500
)

var (
	looseShape = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) // FHIR R4 id, and the underscore that ours have and many servers take
	dateShape  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	zoneShape  = regexp.MustCompile(`^[A-Za-z_]+(/[A-Za-z0-9_+-]+)+$`)
)

const (
	zoneExtension = "http://hl7.org/fhir/StructureDefinition/timezone"
	urn           = "urn:uuid:"
)

// ValidRemote reports whether an id of the EHR is one: of FHIR's letters, and no name of a folder. Nothing else is kept, or
// made part of an address.
func ValidRemote(id string) bool { return looseShape.MatchString(id) && strings.Trim(id, ".") != "" }

// invalid is the problem of a reference whose id is none; nil for one that is, and for no reference.
func invalid(kind, id string) *Problem {
	if id == "" || ValidRemote(id) {
		return nil
	}
	return Unknown(kind, id)
}

// shownID is an id of a file as an answer may show it: anything that has not the shape of an id could be anything.
func shownID(id string) string {
	if ValidRemote(id) {
		return id
	}
	return "(no valid id)"
}

// Map reads one resource. fullURL is its entry's in a bundle, "" elsewhere. Exactly one of row and problem is nil. notes
// are what was left out of a row that is taken.
func Map(raw []byte, fullURL string) (row Row, notes []string, p *Problem) {
	switch kind := fhir.TypeOf(raw); kind {
	case KindLocation:
		var r fhir.Location
		row, p = mapped(raw, kind, &r, func() (Row, *Problem) { return location(&r, fullURL) })
	case KindPractitioner:
		var r fhir.Practitioner
		row, p = mapped(raw, kind, &r, func() (Row, *Problem) { return practitioner(&r, fullURL) })
	case KindPatient:
		var r fhir.Patient
		row, p = mapped(raw, kind, &r, func() (_ Row, p *Problem) { row, notes, p = patient(&r, fullURL); return row, p })
	case KindSchedule:
		var r fhir.Schedule
		row, p = mapped(raw, kind, &r, func() (Row, *Problem) { return schedule(&r, fullURL) })
	case KindSlot:
		var r fhir.Slot
		row, p = mapped(raw, kind, &r, func() (Row, *Problem) { return slot(&r, fullURL) })
	case KindAppointment:
		var r fhir.Appointment
		row, p = mapped(raw, kind, &r, func() (Row, *Problem) { return appointment(&r, fullURL) })
	case "":
		var any struct{}
		if err := fhir.Decode(raw, "", &any); err != nil && !strings.Contains(err.Error(), "not a resource") {
			return nil, nil, problem(CodeMalformed, words(err))
		}
		return nil, nil, problem(CodeMalformed, "it is no FHIR resource")
	default:
		return nil, nil, &Problem{CodeUnsupported, "resources of its type are not taken", true}
	}
	return row, notes, p
}

func mapped(raw []byte, kind string, into any, read func() (Row, *Problem)) (Row, *Problem) {
	if err := fhir.Decode(raw, kind, into); err != nil {
		if errors.Is(err, fhir.ErrNoOffset) {
			return nil, problem(CodeNoOffset, "a time without its offset from UTC")
		}
		return nil, problem(CodeMalformed, words(err))
	}
	row, p := read()
	if p != nil {
		return nil, p
	}
	return hashed(row), nil
}

func words(err error) string { return strings.TrimPrefix(err.Error(), "fhir: ") }

// head reads the id and the meta. A resource of a transaction may have its id in the entry's address alone.
func head(id string, meta *fhir.Meta, fullURL string) (Head, *Problem) {
	h := Head{Remote: id}
	if h.Remote == "" {
		h.Remote, _ = strings.CutPrefix(fullURL, urn)
	}
	if !ValidRemote(h.Remote) {
		return h, problem(CodeBadID, "it has no valid id")
	}
	if meta != nil {
		if strings.ContainsFunc(meta.VersionID, unicode.IsControl) {
			return h, problem(CodeBadID, "the id of its version is none")
		}
		if len(meta.VersionID) <= 200 {
			h.Version = meta.VersionID
		}
		if meta.LastUpdated != nil {
			h.Updated = meta.LastUpdated.UTC()
		}
	}
	return h, nil
}

// target is the id that a reference leads to, "" when it leads to no resource of that kind.
func target(r fhir.Reference, kind string) string {
	if id, ok := strings.CutPrefix(r.Reference, urn); ok {
		return id
	}
	if k, id := r.Target(); k == kind {
		return id
	}
	return ""
}

func text(s string, most int) string {
	clean, err := clinic.CleanText(s, most)
	if err != nil {
		return ""
	}
	return clean
}

// zoneOf gives the zone of the extension; ok is false for one that does not exist.
func zoneOf(list []fhir.Extension) (zone string, ok bool) {
	for _, x := range list {
		if x.URL != zoneExtension {
			continue
		}
		zone = x.ValueCode + x.ValueString
		if _, err := time.LoadLocation(zone); err != nil || !zoneShape.MatchString(zone) {
			return "", false
		}
	}
	return zone, true
}

// date is the day of a FHIR date or dateTime, "" for less than a day or what is none.
func date(s string) string {
	if len(s) > 10 && s[10] == 'T' {
		s = s[:10]
	}
	if !dateShape.MatchString(s) {
		return ""
	}
	if _, err := clinic.ParseDate(s); err != nil {
		return ""
	}
	return s
}

// times reads a start and an end, in whole seconds.
func times(start, end *fhir.Instant) (from, to time.Time, p *Problem) {
	if start == nil || end == nil {
		return from, to, problem(CodeIncomplete, "it has no start or no end")
	}
	from, to = start.UTC().Truncate(time.Second), end.UTC().Truncate(time.Second)
	if !to.After(from) {
		return from, to, problem(CodeEndsTooEarly, "it ends at or before its start")
	}
	if from.Year() < 1900 || to.Year() > 2200 || to.Sub(from) > longest {
		return from, to, problem(CodeIncomplete, "its times are not those of a visit")
	}
	return from, to, nil
}

// longest stretch of a slot or a visit (the schema's limit for slots).
const longest = 24 * time.Hour

// typesOf reads what a visit or slot is of: the type that we wrote there, else the service, else the kind of appointment.
// First codings count.
func typesOf(service []fhir.CodeableConcept, kind *fhir.CodeableConcept) (list []TypeCode) {
	all := service
	if kind != nil {
		all = append(slices.Clone(service), *kind)
	}
	for _, c := range all {
		for _, coding := range c.Coding {
			if coding.System == ehr.TypeSystem && clinic.ValidID(coding.Code) && text(coding.Display, mostName) != "" {
				return []TypeCode{{coding.System, coding.Code, text(coding.Display, mostName)}}
			}
		}
	}
	add := func(c fhir.CodeableConcept) {
		var t TypeCode
		for _, coding := range c.Coding {
			if coding.Code != "" {
				t = TypeCode{text(coding.System, mostText), text(coding.Code, mostName), text(coding.Display, mostName)}
				break
			}
		}
		if t.Code == "" {
			t = TypeCode{Code: text(c.Text, mostName)}
		}
		if t.Name == "" {
			t.Name = text(c.Text, mostName)
		}
		if t.Name == "" {
			t.Name = t.Code
		}
		if t.Code != "" {
			list = append(list, t)
		}
	}
	for _, c := range service {
		add(c)
	}
	if len(list) == 0 && kind != nil {
		add(*kind)
	}
	return list
}

// MapOf is Map for a resource of the EHR that must be of a kind. remote is its id, also when it cannot be taken; where that
// is none, a stand-in of it with the problem bad_id; "" for what is no such resource.
func MapOf(kind string, raw []byte) (row Row, remote string, p *Problem) {
	is, id := fhir.Sketch(raw)
	if is != kind {
		return nil, "", problem(CodeMalformed, "it is no "+kind)
	}
	if !ValidRemote(id) {
		return nil, derived("bad", kind+"/"+id), problem(CodeBadID, "it has no valid id")
	}
	row, _, p = Map(raw, "")
	return row, id, p
}
