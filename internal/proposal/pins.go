package proposal

// moved compares a plan's pins with the versions now, and names what moved in words from the plan. Nil when nothing did.
func moved(p Plan, now map[Pin]int64) []Change {
	var out []Change
	for _, pin := range p.Resources {
		if v := now[pin]; v != pin.Version {
			out = append(out, Change{Kind: pin.Kind, ID: pin.ID, Expected: pin.Version, Current: v, Label: pinLabel(p, pin)})
		}
	}
	return out
}

// pinLabel names a pinned row for a receptionist.
func pinLabel(p Plan, pin Pin) string {
	for _, f := range p.shown() {
		switch {
		case pin.Kind == PinAppointment && f.Appointment == pin.ID:
			return "The visit itself"
		case pin.Kind == PinPatient && f.Patient.ID == pin.ID:
			return "The patient’s record"
		case pin.Kind == PinPractitioner && f.Practitioner.ID == pin.ID:
			return "Practitioner " + f.Practitioner.Name
		case pin.Kind == PinLocation && f.Location.ID == pin.ID:
			return "Location " + f.Location.Name
		case pin.Kind == PinType && f.Type.ID == pin.ID:
			return "Appointment type " + f.Type.Name
		case pin.Kind == PinOperation:
			return "What is known of the operation"
		case pin.Kind == PinAppointment && f.Operation != nil:
			return "The visit itself"
		case pin.Kind == PinPolicy:
			return "The clinic’s policy"
		case pin.Kind == PinSlot:
			for _, s := range f.Slots {
				if s.ID == pin.ID {
					return "Slot " + f.local(s.StartsAt).Format("Mon 2 Jan 2006, 15:04") + " of " + f.Practitioner.Name
				}
			}
		}
	}
	if pin.Kind == PinPatient {
		return "The record of the patient who may be the same"
	}
	return pin.Kind
}
