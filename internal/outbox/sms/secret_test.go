package sms

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestSignatures(t *testing.T) {
	// The example of the Standard Webhooks specification's reference libraries.
	example, err := ReadSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1614265330, 0)
	if got := example.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`)); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
	body, stamp := []byte(`{"event_id":"e1"}`), "1800000000"
	right := secret.Sign("e1", now, body)
	for name, c := range map[string]struct {
		id, stamp, signatures string
		body                  []byte
		after                 time.Duration
		ok                    bool
	}{
		"right":                   {"e1", stamp, right, body, 0, true},
		"one of several":          {"e1", stamp, "v1a,x v1,AAAA " + right, body, 0, true},
		"within five minutes":     {"e1", stamp, right, body, 5 * time.Minute, true},
		"replayed later":          {"e1", stamp, right, body, 5*time.Minute + time.Second, false},
		"from the future":         {"e1", stamp, right, body, -5*time.Minute - time.Second, false},
		"another body":            {"e1", stamp, right, []byte(`{"event_id":"e2"}`), 0, false},
		"another id":              {"e2", stamp, right, body, 0, false},
		"another time":            {"e1", "1800000001", right, body, 0, false},
		"another secret":          {"e1", stamp, Secret("not the secret of the test").Sign("e1", now, body), body, 0, false},
		"none":                    {"e1", stamp, "", body, 0, false},
		"another version":         {"e1", stamp, "v2" + strings.TrimPrefix(right, "v1"), body, 0, false},
		"no base64":               {"e1", stamp, "v1,###", body, 0, false},
		"a timestamp in words":    {"e1", "now", secret.signWords("e1", "now", body), body, 0, false},
		"no id":                   {"", stamp, secret.Sign("", now, body), body, 0, false},
		"a signature for no body": {"e1", stamp, secret.Sign("e1", now, nil), body, 0, false},
	} {
		err := secret.Verify(c.id, c.stamp, c.signatures, c.body, now.Add(c.after))
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Secret(nil).Verify("e1", stamp, Secret(nil).Sign("e1", now, body), body, now); !errors.Is(err, ErrForged) {
		t.Error("no secret at all proves something")
	}
	for _, bad := range []string{"", "short", "whsec_", "whsec_###", "whsec_" + base64.StdEncoding.EncodeToString([]byte("short"))} {
		if _, err := ReadSecret(bad); err == nil {
			t.Errorf("%q", bad)
		}
	}
}

func (s Secret) signWords(id, stamp string, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(s.mac(id, stamp, body))
}
