package clinic

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseClock(t *testing.T) {
	cases := loadWallCases(t).ClockTexts
	cases = append(cases, [][2]string{
		{"16:00", "16:00"}, {" 08.05 ", "08:05"}, {"00:00", "00:00"}, {"0:30", "00:30"}, {"23:59", "23:59"},
		{"12pm", "12:00"}, {"12 am", "00:00"}, {"5 PM", "17:00"}, {"11:59 pm", "23:59"},
		{"", "refused"}, {"8", "refused"}, {"0830", "refused"}, {"8:5", "refused"}, {"8:60", "refused"}, {"24:01", "refused"},
		{"25:00", "refused"}, {"-1:00", "refused"}, {"8:00:00", "refused"}, {"838:59:59", "refused"}, {"8:00 am pm", "refused"},
		{"10:00 CEST", "refused"}, {"10:00Z", "refused"}, {"10:00+02:00", "refused"}, {"kl. 8.00", "refused"}, {"noon", "refused"}, {"٨:٠٠", "refused"},
	}...)
	for _, c := range cases {
		got, err := ParseClock(c[0])
		if strings.HasPrefix(c[1], "refused") {
			if err == nil || err.Error() == "" {
				t.Errorf("%q was read as minute %d", c[0], got)
			}
		} else if text := fmt.Sprintf("%02d:%02d", got/60, got%60); err != nil || text != c[1] {
			t.Errorf("%q: got %s %v, want %s", c[0], text, err, c[1])
		}
	}
	if _, err := ParseClock("10:00 EST"); !strings.Contains(err.Error(), "time zone") {
		t.Errorf("the reason does not speak of zones: %v", err)
	}
}

func TestParseClosing(t *testing.T) {
	if got, err := ParseClosing("24:00"); err != nil || got != 1440 {
		t.Error(got, err)
	}
	if got, err := ParseClosing("16.00"); err != nil || got != 960 {
		t.Error(got, err)
	}
	if _, err := ParseClosing("24:01"); err == nil {
		t.Error("24:01 was read")
	}
}
