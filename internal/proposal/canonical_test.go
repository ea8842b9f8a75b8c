package proposal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

type canonicalCases struct {
	RFC8785 []struct {
		Name, Input, Output, SHA256 string
		Inside                      bool `json:"inside_plan_profile"`
	}
	Plans []struct {
		Name, Canonical, SHA256 string
		PlanHash                string `json:"plan_hash"`
	}
	Refuse []struct{ Name, Input string }
	Hex    []struct{ Name, Hex string } `json:"refuse_bytes_hex"`
}

func loadCanonicalCases(t testing.TB) canonicalCases {
	t.Helper()
	b, err := os.ReadFile("testdata/canonical.json")
	if err != nil {
		t.Fatal(err)
	}
	var c canonicalCases
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.RFC8785) == 0 || len(c.Plans) == 0 || len(c.Refuse) == 0 || len(c.Hex) == 0 {
		t.Fatal("testdata/canonical.json lost a section")
	}
	return c
}

func TestCanonicalVectors(t *testing.T) {
	for _, c := range loadCanonicalCases(t).RFC8785 {
		v, err := DecodeStrict([]byte(c.Input))
		if !c.Inside {
			if err == nil {
				t.Errorf("%s: outside the profile, but accepted", c.Name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		got, err := Canonical(v)
		if err != nil || string(got) != c.Output || Digest(got) != c.SHA256 {
			t.Errorf("%s: got %s %v, want %s", c.Name, got, err, c.Output)
		}
	}
}

func TestPlanVectors(t *testing.T) {
	for _, c := range loadCanonicalCases(t).Plans {
		v, err := DecodeStrict([]byte(c.Canonical))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got, err := Canonical(v)
		if err != nil || string(got) != c.Canonical {
			t.Errorf("%s: got %s %v", c.Name, got, err)
		}
		if Digest(got) != c.SHA256 || HashPlan(got) != c.PlanHash {
			t.Errorf("%s: digest %s, plan hash %s", c.Name, Digest(got), HashPlan(got))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	cases := loadCanonicalCases(t)
	for _, c := range cases.Hex {
		b, err := hex.DecodeString(c.Hex)
		if err != nil {
			t.Fatal(err)
		}
		cases.Refuse = append(cases.Refuse, struct{ Name, Input string }{c.Name, string(b)})
	}
	for _, c := range cases.Refuse {
		_, err := DecodeStrict([]byte(c.Input))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Reason == "" || syntax.Offset < 0 || syntax.Offset > len(c.Input) {
			t.Errorf("%s: want a SyntaxError with position and reason, got %v", c.Name, err)
		}
	}
}

func TestDecodeRefusalPositions(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
		reason string
	}{
		{`{"a":1,"a":2}`, 7, "duplicate member"},
		{`{"a":1,"\u0061":2}`, 7, "duplicate member"},
		{`{"s":[{"k":null,"k":null}]}`, 16, "duplicate member"},
		{`{"d":1.5}`, 5, "not an integer"},
		{`{"d":-12E0}`, 5, "not an integer"},
		{`{"d":9007199254740992}`, 5, "integer beyond ±(2^53-1)"},
		{`{"d":-9007199254740992}`, 5, "integer beyond ±(2^53-1)"},
		{`{"d":99999999999999999999999999}`, 5, "integer beyond ±(2^53-1)"},
		{`{"d":-0}`, 5, "minus zero"},
		{`{"d":-01}`, 5, "leading zero"},
		{`{"d":00}`, 5, "leading zero"},
		{`{"d":-}`, 6, "expected a digit"},
		{`{"d":+1}`, 5, "expected a value"},
		{`{"s":"\ud800\u0041"}`, 6, "lone surrogate"},
		{`{"s":"\udc00\ud800"}`, 6, "lone surrogate"},
		{`{"s":"\ud800` + "\U0001F600" + `"}`, 6, "lone surrogate"},
		{`{"s":"\x41"}`, 7, "unknown escape"},
		{`{"s":"\u00g0"}`, 10, "expected four hexadecimal digits"},
		{"{\"s\":\"\t\"}", 6, "raw control character in a string"},
		{"{\"s\":\"\\n\x00\"}", 8, "raw control character in a string"},
		{"{\"s\":\"é\xc3\"}", 8, "invalid UTF-8"},
		{"{\"s\":\"\xed\xa0\x80\"}", 6, "invalid UTF-8"},
		{"{\"\x7f\":1}", 1, "member name is not printable ASCII"},
		{`{"\n":1}`, 1, "member name is not printable ASCII"},
		{`{"a":1}}`, 7, "bytes after the object"},
		{"{\"a\":1}\x00", 7, "bytes after the object"},
		{`{"a":1`, 6, "unexpected end: expected ',' or '}'"},
		{`{"a":"x`, 7, "unexpected end: unterminated string"},
		{`{"a":tru}`, 5, "expected a value"},
		{`{"a":nullx}`, 9, "expected ',' or '}'"},
		{`{a:1}`, 1, "expected a member name"},
		{`{"a" 1}`, 5, "expected ':'"},
		{`{"a":[1 2]}`, 8, "expected ',' or ']'"},
		{`{"a":[1,]}`, 8, "expected a value"},
		{"{\"a\":\u00a01}", 5, "expected a value"},
		{`"a"`, 0, "expected an object"},
	} {
		_, err := DecodeStrict([]byte(c.in))
		var got *SyntaxError
		if !errors.As(err, &got) || got.Offset != c.offset || got.Reason != c.reason {
			t.Errorf("%q: got %v, want byte %d: %s", c.in, err, c.offset, c.reason)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	for in, want := range map[string]map[string]any{
		" \t\r\n{ } \n": {},
		`{"A":1,"a":2}`: {"A": int64(1), "a": int64(2)}, // names are matched exactly
		`{"n":[9007199254740991,-9007199254740991,0,10]}`:              {"n": []any{int64(MaxInt), int64(-MaxInt), int64(0), int64(10)}},
		`{"s":"\ud83d\ude02\u00e9\"\\\/\b\f\n\r\t\u007f\uFFFD\u0000"}`: {"s": "😂é\"\\/\b\f\n\r\t\x7f\ufffd\x00"},
		`{"":null,"x":[true,false,[],{}]}`:                             {"": nil, "x": []any{true, false, []any{}, map[string]any{}}},
	} {
		got, err := DecodeStrict([]byte(in))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v %v", in, got, err)
		}
	}
}

func TestDepthLimit(t *testing.T) {
	nested := func(levels int) string { // the outer object is level 1
		return `{"a":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + `}`
	}
	v, err := DecodeStrict([]byte(nested(MaxDepth)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Canonical(v); err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeStrict([]byte(nested(MaxDepth + 1))); err == nil {
		t.Error("one level too many was decoded")
	}
	if _, err := Canonical(map[string]any{"b": []any{v}}); err == nil {
		t.Error("one level too many was encoded")
	}
}

func TestCanonicalRefusesWithPath(t *testing.T) {
	for want, v := range map[string]any{
		"plan: before.slots[1].at: a float64 has no canonical form":          map[string]any{"before": map[string]any{"slots": []any{nil, map[string]any{"at": 1.0}}}},
		"plan: n[0]: integer beyond ±(2^53-1)":                               map[string]any{"n": []any{int64(MaxInt + 1)}},
		"plan: m[0][0]: text is not valid UTF-8":                             map[string]any{"m": []any{[]any{"\xff"}}},
		"plan: steps[0]: a member name is not printable ASCII":               map[string]any{"steps": []any{map[string]any{"é": nil}}},
		"plan: a proposal.SyntaxError has no canonical form":                 SyntaxError{},
		"plan: resources: a []map[string]interface {} has no canonical form": map[string]any{"resources": []map[string]any{}},
	} {
		b, err := Canonical(v)
		if err == nil || err.Error() != want || b != nil {
			t.Errorf("got %v %q, want %s", err, b, want)
		}
	}
}

func values(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64Range(-MaxInt, MaxInt), func(n int64) any { return n }),
		rapid.Map(rapid.String(), func(s string) any { return strings.ToValidUTF8(s, "?") }),
	)
	if depth == 0 {
		return leaf
	}
	inner := values(depth - 1)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(s []any) any { return append([]any{}, s...) }),
		rapid.Map(objects(inner), func(m map[string]any) any { return m }))
}

func objects(inner *rapid.Generator[any]) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.StringMatching(`[ -~]{0,8}`), inner, 0, 6)
}

func TestCanonicalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := objects(values(3)).Draw(t, "v")
		first, err := Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeStrict(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if !reflect.DeepEqual(back, v) {
			t.Fatalf("decode(canonical(x)) = %#v, x = %#v", back, v)
		}
		// The order of members and white space of the input must not matter.
		loose, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		checkAgainstJCS(t, loose, first)
	})
}

// checkAgainstJCS reads in, which must be accepted, and compares the canonical
// bytes with want (when given) and with an independent RFC 8785 implementation.
func checkAgainstJCS(t interface{ Fatalf(string, ...any) }, in, want []byte) {
	v, err := DecodeStrict(in)
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	got, err := Canonical(v)
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	other, err := jcs.Transform(in)
	if err != nil || !bytes.Equal(got, other) {
		t.Fatalf("%q: ours %q, jcs %q %v", in, got, other, err)
	}
	if want != nil && !bytes.Equal(got, want) {
		t.Fatalf("%q: got %q, want %q", in, got, want)
	}
}

func FuzzDecodeStrict(f *testing.F) {
	cases := loadCanonicalCases(f)
	for _, c := range cases.RFC8785 {
		f.Add([]byte(c.Input))
	}
	for _, c := range cases.Plans {
		f.Add([]byte(c.Canonical))
	}
	for _, c := range cases.Refuse {
		f.Add([]byte(c.Input))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := DecodeStrict(in)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(in) {
				t.Fatalf("%q: %v", in, err)
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("%q is not JSON, but was accepted", in)
		}
		checkAgainstJCS(t, in, nil)
		canonical, _ := Canonical(v)
		checkAgainstJCS(t, canonical, canonical)
	})
}

// plan2K is about the size and shape of a real plan.
func plan2K(b testing.TB) map[string]any {
	text := strings.Repeat("Dear Søren, your visit was moved. ", 4)
	facts := func() map[string]any {
		return map[string]any{"starts_at": "2026-10-25T00:30:00Z", "ends_at": "2026-10-25T01:00:00Z", "zone": "Europe/Copenhagen",
			"offset_minutes": int64(120), "practitioner": "Dr Anna Holm", "location": "Havnegade 12", "patient": "Maria Jensen, b. 1984-03-11, MRN 100234"}
	}
	var resources []any
	for range 8 {
		resources = append(resources, map[string]any{"kind": "slot", "id": "slt_0123456789abcdef", "version": int64(12)})
	}
	return map[string]any{"v": int64(1), "clinic": "clinic-7", "proposal": "prp_01", "revision": int64(3), "action": "reschedule_appointment@1",
		"parameters": map[string]any{"appointment": "apt_42", "starts_at": "2026-10-25T00:30:00Z", "practitioner": nil, "location": nil, "notify": true, "message": nil},
		"before":     facts(), "after": facts(), "resources": resources,
		"steps":    []any{map[string]any{"kind": "move_appointment", "appointment": "apt_42", "version": int64(12), "starts_at": "2026-10-25T00:30:00Z"}},
		"messages": []any{map[string]any{"kind": "changed", "channel": "email", "recipient": "a@example.test", "subject": "Your visit", "text": text, "calendar": nil, "send_at": nil}},
		"risk":     "low", "risk_reasons": []any{}, "warnings": []any{}, "expires_at": "2026-10-24T12:00:00Z"}
}

func BenchmarkCanonicalAndHash(b *testing.B) {
	v := plan2K(b)
	b.ReportAllocs()
	for b.Loop() {
		c, err := Canonical(v)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(c)))
		HashPlan(c)
	}
}

func BenchmarkDecodeStrict(b *testing.B) {
	c, err := Canonical(plan2K(b))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(c)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeStrict(c); err != nil {
			b.Fatal(err)
		}
	}
}
