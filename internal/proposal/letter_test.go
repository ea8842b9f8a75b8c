package proposal

import (
	"strings"
	"testing"
	"time"
)

// A place whose number and address nobody knows, as an EHR's file may have it, is still to be reached: no sentence has a
// hole in it.
func TestALetterOfAPlaceWithoutANumber(t *testing.T) {
	visit := func(place, phone string) *Facts {
		f := &Facts{StartsAt: time.Date(2026, 12, 7, 9, 0, 0, 0, time.UTC), Zone: "Europe/Copenhagen", Location: PlaceFacts{ID: place, Name: place, Phone: phone}}
		f.Practitioner.Name = "Dr Ada Lind"
		return f
	}
	texts := 0
	for _, in := range languages {
		for _, texter := range []map[string]func(letter) string{in.emails, in.sms} {
			for kind, text := range texter {
				with := text(letter{given: "Liv", name: "Liv Berg", in: in, visit: visit("b", "+45 00 20 03 00"), was: visit("a", "")})
				without := text(letter{given: "Liv", name: "Liv Berg", in: in, visit: visit("b", ""), was: visit("a", "+45 00 20 03 00")})
				if !strings.Contains(with, "+45 00 20 03 00") || strings.Contains(with, "%") {
					t.Errorf("%s %s: %s", in.code, kind, with)
				}
				us := map[string]string{"en": "contact us", "da": "ontakt os"}[in.code]
				for _, hole := range []string{" .", " ,", "  ", "is .", "er .", ", .", "\n\n", "%", "+45"} {
					if strings.Contains(without, hole) || !strings.Contains(without, us) {
						t.Errorf("%s %s: %q", in.code, kind, without)
					}
				}
				texts++
			}
		}
	}
	if texts != 16 {
		t.Error(texts, "texts")
	}
}
