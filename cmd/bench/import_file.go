package main

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// A file of an EHR is three tenths patients, half slots and two tenths appointments, of so many practitioners with a
// schedule each.
const (
	importPractitioners = 20
	slotsADay           = 16 // of half an hour, from eight
)

// importFirst is the day of a file's first slots; nothing of it has passed.
func importFirst() time.Time {
	return time.Date(time.Now().Year()+1, 1, 4, 8, 0, 0, 0, time.UTC)
}

// importSlot is the practitioner and start of a file's i-th slot: round the practitioners, then on in time.
func importSlot(i int) (practitioner int, start time.Time) {
	of := i / importPractitioners
	return i % importPractitioners, importFirst().AddDate(0, 0, of/slotsADay).Add(time.Duration(of%slotsADay) * 30 * time.Minute)
}

// writeImport writes about so many lines of NDJSON. The first of the slots are busy with the appointments.
func writeImport(to io.Writer, lines int) error {
	w := bufio.NewWriter(to)
	patients, slots, visits := max(1, lines*3/10), lines/2, lines/5
	for i := range visits {
		p, start := importSlot(i)
		fmt.Fprintf(w, `{"resourceType":"Appointment","id":"a%d","status":"booked","serviceType":[{"coding":[{"system":"urn:bench","code":"std","display":"Control"}]}],"start":%q,"end":%q,`+
			`"slot":[{"reference":"Slot/s%d"}],"participant":[{"status":"accepted","actor":{"reference":"Patient/p%d"}},{"status":"accepted","actor":{"reference":"Practitioner/d%d"}},{"status":"accepted","actor":{"reference":"Location/l0"}}]}`+"\n",
			i, start.Format(time.RFC3339), start.Add(30*time.Minute).Format(time.RFC3339), i, i%patients, p)
	}
	for i := range slots {
		p, start := importSlot(i)
		status := "free"
		if i < visits {
			status = "busy"
		}
		fmt.Fprintf(w, `{"resourceType":"Slot","id":"s%d","schedule":{"reference":"Schedule/c%d"},"status":%q,"start":%q,"end":%q}`+"\n",
			i, p, status, start.Format(time.RFC3339), start.Add(30*time.Minute).Format(time.RFC3339))
	}
	for i := range patients {
		fmt.Fprintf(w, `{"resourceType":"Patient","id":"p%d","identifier":[{"type":{"coding":[{"code":"MR"}]},"value":"N%06d"}],"name":[{"family":"Jensen %d","given":["Maria"]}],"birthDate":"19%02d-%02d-11",`+
			`"telecom":[{"system":"phone","value":"+45 20 %06d","use":"mobile"},{"system":"email","value":"p%d@example.test"}],"communication":[{"language":{"coding":[{"code":"da"}]}}]}`+"\n",
			i, i, i, i%100, i%12+1, i, i)
	}
	for i := range importPractitioners {
		fmt.Fprintf(w, `{"resourceType":"Schedule","id":"c%d","serviceType":[{"coding":[{"system":"urn:bench","code":"std","display":"Control"}]}],"actor":[{"reference":"Practitioner/d%d"},{"reference":"Location/l0"}]}`+"\n", i, i)
		fmt.Fprintf(w, `{"resourceType":"Practitioner","id":"d%d","name":[{"prefix":["Dr"],"given":["Anna"],"family":"Holm %d"}]}`+"\n", i, i)
	}
	fmt.Fprintln(w, `{"resourceType":"Location","id":"l0","name":"Havnegade 12","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/timezone","valueCode":"Europe/Copenhagen"}]}`)
	return w.Flush()
}
