package fhir

// Location is a place. R4 has no member for its time zone; Extension may hold one.
type Location struct {
	ResourceType string         `json:"resourceType"`
	ID           string         `json:"id,omitzero"`
	Meta         *Meta          `json:"meta,omitzero"`
	Identifier   []Identifier   `json:"identifier,omitempty"`
	Status       string         `json:"status,omitzero"` // active, suspended, inactive
	Name         string         `json:"name,omitzero"`
	Telecom      []ContactPoint `json:"telecom,omitempty"`
	Address      *Address       `json:"address,omitzero"`
	Extension    []Extension    `json:"extension,omitempty"`
}

// Extension is a member that R4 does not have. Only values of these kinds are read.
type Extension struct {
	URL         string `json:"url"`
	ValueString string `json:"valueString,omitzero"`
	ValueCode   string `json:"valueCode,omitzero"`
}

// Address is a postal address. Text is the whole of it.
type Address struct {
	Text       string   `json:"text,omitzero"`
	Line       []string `json:"line,omitempty"`
	City       string   `json:"city,omitzero"`
	District   string   `json:"district,omitzero"`
	State      string   `json:"state,omitzero"`
	PostalCode string   `json:"postalCode,omitzero"`
	Country    string   `json:"country,omitzero"`
}

// Schedule is who offers what where; its actors are the practitioner and the location.
type Schedule struct {
	ResourceType    string            `json:"resourceType"`
	ID              string            `json:"id,omitzero"`
	Meta            *Meta             `json:"meta,omitzero"`
	Identifier      []Identifier      `json:"identifier,omitempty"`
	Active          *bool             `json:"active,omitzero"`
	ServiceType     []CodeableConcept `json:"serviceType,omitempty"`
	Actor           []Reference       `json:"actor"`
	PlanningHorizon *Period           `json:"planningHorizon,omitzero"`
}

// Period is from Start to End, dates or dateTimes as they were written.
type Period struct {
	Start string `json:"start,omitzero"`
	End   string `json:"end,omitzero"`
}

// Slot statuses.
const (
	SlotFree        = "free"
	SlotBusy        = "busy"
	SlotUnavailable = "busy-unavailable"
	SlotTentative   = "busy-tentative"
	SlotInError     = "entered-in-error"
)

// Slot is a stretch of a schedule.
type Slot struct {
	ResourceType    string            `json:"resourceType"`
	ID              string            `json:"id,omitzero"`
	Meta            *Meta             `json:"meta,omitzero"`
	Identifier      []Identifier      `json:"identifier,omitempty"`
	ServiceType     []CodeableConcept `json:"serviceType,omitempty"`
	AppointmentType *CodeableConcept  `json:"appointmentType,omitzero"`
	Schedule        Reference         `json:"schedule"`
	Status          string            `json:"status"`
	Start           *Instant          `json:"start,omitzero"`
	End             *Instant          `json:"end,omitzero"`
	Overbooked      bool              `json:"overbooked,omitzero"`
	Comment         string            `json:"comment,omitzero"`
}
