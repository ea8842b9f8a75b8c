package db_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/ehr"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

func sawAs(verdict, remote string) ehr.Look {
	one := 1
	return ehr.Look{How: "identifier", Matches: &one, Verdict: verdict, RemoteID: remote}
}

// What the program saw in the EHR and what a person says of it are held against each other, on the card that the second
// reviewer decides by.
func TestAResolutionAgainstWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		code, resolution, remote string
		looks                    []ehr.Look
		want                     []string
	}{
		"seen as approved":        {"not_confirmed", proposal.Booked, "r7", []ehr.Look{sawAs("equal", "r7")}, nil},
		"another one was seen":    {"not_confirmed", proposal.Booked, "r8", []ehr.Look{sawAs("equal", "r7")}, []string{proposal.WarnNotSeen}},
		"nothing was seen":        {"not_confirmed", proposal.Booked, "r7", []ehr.Look{desktest.Saw(0, "none")}, []string{proposal.WarnNotSeen}},
		"no look at all":          {"not_confirmed", proposal.Booked, "r7", nil, []string{proposal.WarnNotSeen}},
		"it differs":              {"different", proposal.Booked, "r7", []ehr.Look{sawAs("different", "r7")}, []string{proposal.WarnDiffers}},
		"several":                 {"several", proposal.Booked, "r7", []ehr.Look{desktest.Saw(2, "several")}, []string{proposal.WarnDiffers}},
		"a merged patient":        {"patient_merged", proposal.Booked, "r7", []ehr.Look{sawAs("wrong_patient", "r7")}, []string{proposal.WarnMerged}},
		"not there, as seen":      {"not_confirmed", proposal.NotBooked, "", []ehr.Look{desktest.Saw(0, "none")}, nil},
		"not there, but was seen": {"different", proposal.NotBooked, "", []ehr.Look{sawAs("different", "r7")}, []string{proposal.WarnSeenThere}},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, _ := withEHR(t)
			_, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, c.code, c.looks...)
			p := resolving(op.ID, c.resolution)
			if c.remote != "" {
				p = resolving(op.ID, c.resolution, "remote_id", c.remote)
			}
			r := d.Propose(d.Actor("ben"), p)
			if !slices.Equal(r.Warnings, c.want) && len(r.Warnings)+len(c.want) > 0 {
				t.Errorf("warnings %v", r.Warnings)
			}
		})
	}
}

// An appointment that the EHR gave to another patient is nobody's to call booked until a look shows the right one.
func TestAnotherPatientIsNotBooked(t *testing.T) {
	d, _, _ := withEHR(t)
	_, op := d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, "wrong_patient")
	_, err := d.Desk.Propose(context.Background(), d.Actor("ben"), resolving(op.ID, proposal.Booked, "remote_id", "r7"))
	if x := refusedWith(t, err, refusal.ValidationFailed); x.Fields[0].Name != "resolution" || !strings.Contains(x.Fields[0].Message, "another patient") {
		t.Errorf("%+v", x.Fields)
	}
	r := d.Propose(d.Actor("ben"), resolving(op.ID, proposal.NotBooked))
	if known := *r.Summary.Fields[0].Old; !strings.Contains(known, "another patient") {
		t.Errorf("the card says %q", known)
	}
}
