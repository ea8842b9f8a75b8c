package views

import (
	"testing"

	"countersign/internal/audit"
)

func TestEveryActionOfTheTrailHasWords(t *testing.T) {
	for _, action := range audit.Actions() {
		if AuditWord(action) == action {
			t.Errorf("%s is shown as a code", action)
		}
	}
}
