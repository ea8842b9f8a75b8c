package faulttest

import (
	"net/http"
	"testing"

	"countersign/internal/ehr"
	"countersign/internal/ehr/ehrtest"
)

// Nothing goes wrong: each kind of change, in each manner of EHR.
func TestAnEHRThatWorks(t *testing.T) {
	t.Parallel()
	all := newWorlds(t)
	for name, mode := range map[string]ehrtest.Mode{
		"plain":               {},
		"without a statement": {NoMetadata: true},
		"no move":             {NoUpdate: true},
		"minimal answers":     {Minimal: true, Informs: true},
		"no identifiers":      {NoIdentifiers: true},
		"ignores identifier":  {NoSearch: true, PageSize: 1},
		"needs a date":        {NeedDate: true, NeedIfMatch: true},
		"conditional":         {Conditional: true, Token: "t0ken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := all.take(t, mode, func(_ *world, c *ehr.Connection, _ *http.RoundTripper) {
				yes, no := true, false
				if mode.NoIdentifiers {
					c.Settings.IdentifierWritable = &no
				}
				if mode.NeedDate {
					c.Settings.RequiresDateInSearch = &yes
				}
			})
			b := w.confirm(w.booking(1, 13))
			w.run(b)
			w.common(b, ehr.Applied)
			m := w.confirm(w.Move(w.visit, w.At(0, 14, 0)))
			w.run(m)
			w.common(m, ehr.Applied)
			if mode.NoUpdate {
				if e := w.ehr.All()[0]; e.Status != "cancelled" {
					t.Errorf("the old visit is %s", e.Status)
				}
			}
			c := w.confirm(w.cancelling())
			w.run(c)
			w.common(c, ehr.Applied)
			live := 0
			for _, e := range w.ehr.All() {
				if e.Status == "booked" {
					live++
				}
			}
			if live != 1 {
				t.Errorf("%d visits stand in the EHR: %+v", live, w.ehr.All())
			}
		})
	}
}
