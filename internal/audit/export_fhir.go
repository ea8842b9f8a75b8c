package audit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// fhirFile is FHIR R4 AuditEvent, one a line, in the shape of IHE BALP: agents with who asked, entities with what it was
// about. The entry itself, as sealed, is a last entity. The manifest is a Binary.
type fhirFile struct{}

const (
	dcm         = "http://dicom.nema.org/resources/ontology/DCM"
	entityType  = "http://terminology.hl7.org/CodeSystem/audit-entity-type"
	objectRole  = "http://terminology.hl7.org/CodeSystem/object-role"
	balpEntity  = "https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType"
	actionURN   = "urn:countersign:action"
	behalfURN   = "urn:countersign:on-behalf-of"
	entryURN    = "urn:countersign:entry"
	proposalURN = "urn:countersign:proposal"
)

type coding struct {
	System  string `json:"system"`
	Code    string `json:"code"`
	Display string `json:"display,omitempty"`
}

type concept struct {
	Coding []coding `json:"coding"`
}

type reference struct {
	Reference  string      `json:"reference,omitempty"`
	Identifier *identifier `json:"identifier,omitempty"`
	Display    string      `json:"display,omitempty"`
}

type identifier struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value"`
}

type extension struct {
	URL   string    `json:"url"`
	Value reference `json:"valueReference"`
}

type auditAgent struct {
	Extension []extension `json:"extension,omitempty"`
	Type      concept     `json:"type"`
	Role      []concept   `json:"role,omitempty"`
	Who       reference   `json:"who"`
	Name      string      `json:"name,omitempty"`
	Requestor bool        `json:"requestor"`
}

type detail struct {
	Type   string `json:"type"`
	Text   string `json:"valueString,omitempty"`
	Base64 string `json:"valueBase64Binary,omitempty"`
}

type auditEntity struct {
	What   reference `json:"what"`
	Type   coding    `json:"type"`
	Role   *coding   `json:"role,omitempty"`
	Detail []detail  `json:"detail,omitempty"`
}

type auditSource struct {
	Site     string    `json:"site"`
	Observer reference `json:"observer"`
	Type     []coding  `json:"type"`
}

// auditEvent is an AuditEvent, or, for a manifest, a Binary.
type auditEvent struct {
	ResourceType string        `json:"resourceType"`
	ContentType  string        `json:"contentType,omitempty"`
	Data         string        `json:"data,omitempty"`
	ID           string        `json:"id,omitempty"`
	Type         *coding       `json:"type,omitempty"`
	Subtype      []coding      `json:"subtype,omitempty"`
	Action       string        `json:"action,omitempty"`
	Recorded     string        `json:"recorded,omitempty"`
	Outcome      string        `json:"outcome,omitempty"`
	OutcomeDesc  string        `json:"outcomeDesc,omitempty"`
	Agent        []auditAgent  `json:"agent,omitempty"`
	Source       *auditSource  `json:"source,omitempty"`
	Entity       []auditEntity `json:"entity,omitempty"`
}

func (fhirFile) quoted() bool    { return false }
func (fhirFile) opening() []byte { return nil }

func (fhirFile) manifest(note string) []byte {
	return append(jsonText(auditEvent{ResourceType: "Binary", ContentType: "text/plain; charset=utf-8", Data: base64.StdEncoding.EncodeToString([]byte(note))}), '\n')
}

func (fhirFile) row(x Exported) []byte {
	f := x.fields()
	action, interaction := crude(f.Action)
	e := auditEvent{ResourceType: "AuditEvent", ID: x.Entry, Action: action, Recorded: f.At,
		Outcome: map[string]string{Success: "0", Denied: "4", Partial: "4"}[f.Outcome], OutcomeDesc: f.Code,
		Type:    &coding{"http://terminology.hl7.org/CodeSystem/audit-event-type", "rest", "RESTful Operation"},
		Subtype: []coding{{"http://hl7.org/fhir/restful-interaction", interaction, interaction}, {actionURN, f.Action, ""}},
		Agent:   x.agents(f),
		Source: &auditSource{f.Clinic, reference{Display: "Countersign"},
			[]coding{{"http://terminology.hl7.org/CodeSystem/security-source-type", "4", "Application Server"}}}}
	if e.Outcome == "" {
		e.Outcome = "8" // failed, or nobody knows yet
	}
	switch f.Action {
	case SignIn:
		e.Type, e.Subtype[0] = &coding{dcm, "110114", "User Authentication"}, coding{dcm, "110122", "Login"}
	case SignOut:
		e.Type, e.Subtype[0] = &coding{dcm, "110114", "User Authentication"}, coding{dcm, "110123", "Logout"}
	}
	e.Entity = x.entities(f)
	return append(jsonText(e), '\n')
}

// agents: a person by themselves; or the person who asked, and the software that did it for them.
func (x Exported) agents(f Fields) []auditAgent {
	person := func(id, name string) auditAgent {
		a := auditAgent{Type: concept{[]coding{{"http://terminology.hl7.org/CodeSystem/v3-ParticipationType", "IRCP", "information recipient"}}},
			Who: reference{Identifier: &identifier{Value: id}}, Name: name, Requestor: true}
		if f.Role != "" {
			a.Role = []concept{{[]coding{{"urn:countersign:role", f.Role, ""}}}}
		}
		return a
	}
	if f.ActorKind == "user" {
		return []auditAgent{person(f.Actor, x.ActorName)}
	}
	software := auditAgent{Type: concept{[]coding{{dcm, "110150", "Application"}}}, Who: reference{Identifier: &identifier{Value: f.Actor}}, Name: x.ActorName}
	if f.OnBehalfOf == "" {
		software.Requestor = true
		return []auditAgent{software}
	}
	software.Extension = []extension{{behalfURN, reference{Identifier: &identifier{Value: f.OnBehalfOf}}}}
	return []auditAgent{person(f.OnBehalfOf, x.OnBehalfOfName), software}
}

func (x Exported) entities(f Fields) (all []auditEntity) {
	object := coding{entityType, "2", "System Object"}
	if f.Patient != "" {
		all = append(all, auditEntity{What: reference{Reference: "Patient/" + f.Patient}, Type: coding{entityType, "1", "Person"}, Role: &coding{objectRole, "1", "Patient"}})
	}
	if f.Object != "" && f.ObjectKind != "patient" && f.ObjectKind != "proposal" {
		what := reference{Identifier: &identifier{"urn:countersign:" + f.ObjectKind, f.Object}}
		if f.ObjectKind == "appointment" {
			what = reference{Reference: "Appointment/" + f.Object}
			if f.Version > 0 {
				what.Reference += "/_history/" + strconv.FormatInt(f.Version, 10)
			}
		}
		all = append(all, auditEntity{What: what, Type: object, Role: &coding{objectRole, "4", "Domain Resource"}})
	}
	if f.Proposal != "" {
		p := auditEntity{What: reference{Identifier: &identifier{proposalURN, f.Proposal}}, Type: object, Role: &coding{objectRole, "20", "Job"}}
		for _, d := range []detail{{Type: "revision", Text: strconv.Itoa(f.Revision)}, {Type: "plan_hash", Text: f.PlanHash}, {Type: "risk", Text: f.Risk}} {
			if d.Text != "" && d.Text != "0" {
				p.Detail = append(p.Detail, d)
			}
		}
		all = append(all, p)
	}
	if f.Request != "" {
		all = append(all, auditEntity{What: reference{Identifier: &identifier{Value: f.Request}}, Type: coding{balpEntity, "XrequestId", ""}})
	}
	entry := auditEntity{What: reference{Identifier: &identifier{entryURN, x.Entry}}, Type: object, Detail: []detail{{Type: "number", Text: strconv.FormatInt(x.Seq, 10)}}}
	if x.Row.Content != nil {
		entry.Detail = append(entry.Detail, detail{Type: "content", Base64: base64.StdEncoding.EncodeToString(x.Row.Content)})
	}
	entry.Detail = append(entry.Detail, detail{Type: "content_hash", Text: x.Link.Content.String()}, detail{Type: "prev_hash", Text: x.Prev.String()},
		detail{Type: "chain_hash", Text: x.Chain.String()})
	return append(all, entry)
}

func (fhirFile) read(record []byte) (x Exported, note string, err error) {
	var e auditEvent
	bad := errors.New("this is not one of its records")
	if json.Unmarshal(record, &e) != nil {
		return x, "", bad
	}
	if e.ResourceType == "Binary" {
		b, err := base64.StdEncoding.DecodeString(e.Data)
		return x, string(b), err
	}
	if e.ResourceType != "AuditEvent" || len(e.Entity) == 0 || len(e.Agent) == 0 {
		return x, "", bad
	}
	value := map[string]string{}
	for _, d := range e.Entity[len(e.Entity)-1].Detail {
		value[d.Type] = d.Text + d.Base64
	}
	var ok [3]bool
	x.Entry = e.ID
	x.Seq, err = strconv.ParseInt(value["number"], 10, 64)
	x.Link.Content, ok[0] = ParseHash(value["content_hash"])
	x.Prev, ok[1] = ParseHash(value["prev_hash"])
	x.Chain, ok[2] = ParseHash(value["chain_hash"])
	if content, there := value["content"]; there {
		if x.Row.Content, err = base64.StdEncoding.DecodeString(content); err != nil {
			return x, "", err
		}
	}
	x.ActorName = e.Agent[len(e.Agent)-1].Name
	if len(e.Agent) == 2 {
		x.OnBehalfOfName = e.Agent[0].Name
	}
	if ok != [3]bool{true, true, true} {
		err = bad
	}
	return x, "", err
}

// crude gives FHIR's action (C, R, U, D, E) and interaction for one of the trail's.
func crude(action string) (letter, interaction string) {
	_, verb, _ := strings.Cut(action, ".")
	switch verb {
	case "read", "receipt":
		return "R", "read"
	case "search", "list", "export":
		return "R", "search-type"
	case "propose", "book", "register", "send", "save", "add", "grant", "checkpoint":
		return "C", "create"
	case "revise", "move", "cancel", "status", "contact", "retain", "end", "close":
		return "U", "update"
	case "cut":
		return "D", "delete"
	default:
		return "E", "operation"
	}
}
