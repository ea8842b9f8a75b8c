package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"countersign/db/desktest"
	"countersign/internal/ehr"
)

func TestWhatIsLateIsAnAlarm(t *testing.T) {
	d := desktest.New(t).KeptInEHR()
	d.Strand(d.Move("apt_maria", d.At(0, 11, 0)), ehr.Manual, "several", desktest.Saw(2, "several"))
	var out strings.Builder
	alarm := lateAlarm(d.DB, slog.New(slog.NewJSONHandler(&out, nil)))
	for _, late := range []bool{false, true} {
		if late {
			d.Exec(`UPDATE ehr_operations SET deadline = app_now() - interval '1 minute'`)
		}
		if err := alarm(context.Background(), "hav"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), `"ALARM`) && strings.Contains(out.String(), `"changes":1`); got != late {
			t.Errorf("late %v, and the log says %q", late, out.String())
		}
	}
	if strings.Contains(out.String(), "Maria") {
		t.Error("the log names the patient")
	}
}
