package fhir

// Patient is a person who is treated. BirthDate may be a year or a month alone. A merged record has a link of type
// replaced-by to the one that stands for it.
type Patient struct {
	ResourceType     string          `json:"resourceType"`
	ID               string          `json:"id,omitzero"`
	Meta             *Meta           `json:"meta,omitzero"`
	Identifier       []Identifier    `json:"identifier,omitempty"`
	Active           *bool           `json:"active,omitzero"`
	Name             []HumanName     `json:"name,omitempty"`
	Telecom          []ContactPoint  `json:"telecom,omitempty"`
	BirthDate        string          `json:"birthDate,omitzero"`
	DeceasedBoolean  bool            `json:"deceasedBoolean,omitzero"`
	DeceasedDateTime string          `json:"deceasedDateTime,omitzero"`
	Communication    []Communication `json:"communication,omitempty"`
	Link             []PatientLink   `json:"link,omitempty"`
	Extension        []Extension     `json:"extension,omitempty"`
}

// PatientLink leads to another record of the same person.
type PatientLink struct {
	Other Reference `json:"other"`
	Type  string    `json:"type"` // replaced-by, replaces, refer, seealso
}

// Communication is a language one can be spoken to in.
type Communication struct {
	Language  CodeableConcept `json:"language"`
	Preferred bool            `json:"preferred,omitzero"`
}

// HumanName is one of a person's names.
type HumanName struct {
	Use    string   `json:"use,omitzero"` // usual, official, old, maiden…
	Text   string   `json:"text,omitzero"`
	Family string   `json:"family,omitzero"`
	Given  []string `json:"given,omitempty"`
	Prefix []string `json:"prefix,omitempty"`
}

// ContactPoint is a number or an address. Rank 1 is preferred most; 0 is none given.
type ContactPoint struct {
	System string `json:"system,omitzero"` // phone, email, sms…
	Value  string `json:"value,omitzero"`
	Use    string `json:"use,omitzero"` // home, work, mobile, old…
	Rank   int    `json:"rank,omitzero"`
}

// Practitioner is a person who treats.
type Practitioner struct {
	ResourceType string       `json:"resourceType"`
	ID           string       `json:"id,omitzero"`
	Meta         *Meta        `json:"meta,omitzero"`
	Identifier   []Identifier `json:"identifier,omitempty"`
	Active       *bool        `json:"active,omitzero"`
	Name         []HumanName  `json:"name,omitempty"`
}
