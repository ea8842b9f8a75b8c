package proposal

import (
	"context"
	"slices"
	"strings"
	"time"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// action is a registered, versioned kind of change. Nothing else can be proposed. A new action is one file with a value
// of this type, and its line in actions.
type action struct {
	name       string // reschedule_appointment@1
	parameters []parameter
	subject    string // the parameter that stays through all revisions, "" = none
	// check finds what is wrong between the parameters, each of which is right; nil = nothing can be.
	check func(params map[string]any) []refusal.Field
	// draft makes the effects from today's facts. Refusals come in the order of contract section 6.
	draft func(ctx context.Context, d *drafting) error
	title func(p Plan) string
	audit string // action of the audit trail when it has run
}

var actions = []action{reschedule, book, cancel, register, updateContact, sendMessage, bulk, changePolicy, resolveOperation}

// Actions lists the names that can be proposed.
func Actions() []string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = a.name
	}
	return names
}

// read checks the parameters of the action, all at once.
func (a action) read(given map[string]any) (map[string]any, []refusal.Field) {
	params, wrong := readParameters(a.parameters, given)
	if len(wrong) == 0 && a.check != nil {
		wrong = a.check(params)
	}
	return params, wrong
}

func actionNamed(name string) (action, error) {
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
	if i < 0 {
		return action{}, refusal.New(refusal.UnknownAction).With("actions", Actions())
	}
	return actions[i], nil
}

// drafting is what an action works on: today's facts to read, and the plan to fill.
type drafting struct {
	tx       Tx
	now      time.Time
	ids      func(prefix string) string
	mailFrom string
	params   map[string]any
	last     *Plan // the revision before, nil for the first
	plan     *Plan
	rows     pinSet
	wrong    []refusal.Field
	why      []string        // what makes the risk what it is, beyond what assess sees in the plan
	ehr      bool            // the clinic's visits are kept in an EHR too
	freed    map[string]bool // slots that an earlier item of the same bulk gives back
}

// unknown notes a field that names nothing of this clinic. Other errors pass.
func (d *drafting) unknown(name string, err error) error {
	if err == nil {
		return nil
	}
	if r := refusal.Of(err); r != nil && r.Code == refusal.NotFound {
		d.wrong = append(d.wrong, refusal.Field{Name: name, Message: unknownWords(name)})
		return nil
	}
	return err
}

func (d *drafting) invalid(name, message string) error {
	return refusal.Invalid(refusal.Field{Name: name, Message: message})
}

// idsKnown refuses with every unknown id at once.
func (d *drafting) idsKnown() error {
	if len(d.wrong) > 0 {
		return refusal.Invalid(d.wrong...)
	}
	return nil
}

// pinSet collects the rows that a plan or card shows.
type pinSet map[Pin]bool

func (s pinSet) add(kind, id string, version int64) { s[Pin{kind, id, version}] = true }

func (s pinSet) visit(v clinic.Visit) {
	s.add(PinAppointment, v.ID, v.Version)
	s.add(PinPatient, v.Patient.ID, v.Patient.Version)
	s.add(PinPractitioner, v.Practitioner.ID, v.Practitioner.Version)
	s.add(PinLocation, v.Location.ID, v.Location.Version)
	s.add(PinType, v.Type.ID, v.Type.Version)
	s.slots(v.Slots)
}

func (s pinSet) slots(rows []clinic.Slot) {
	for _, r := range rows {
		s.add(PinSlot, r.ID, r.Version)
	}
}

// sorted is by kind, then id, as the plan holds them.
func (s pinSet) sorted() []Pin {
	out := make([]Pin, 0, len(s))
	for p := range s {
		out = append(out, p)
	}
	slices.SortFunc(out, comparePins)
	return out
}

func comparePins(a, b Pin) int {
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
