// Package sms hands text messages of the outbox to a gateway, by a signed webhook in the manner of Standard Webhooks
// (headers webhook-id, webhook-timestamp, webhook-signature), and knows the same signature on what comes back.
package sms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Secret signs what goes to the gateway and proves what comes from it.
type Secret []byte

// leastSecret is how many bytes a secret must have.
const leastSecret = 16

// tolerance is how far a signed timestamp may be from now: what is older may be a recording.
const tolerance = 5 * time.Minute

// ReadSecret reads a secret as it is written down: whsec_ and base64, or as it stands. The error does not hold it.
func ReadSecret(s string) (Secret, error) {
	secret := Secret(s)
	if coded, ok := strings.CutPrefix(s, "whsec_"); ok {
		b, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return nil, errors.New("what follows whsec_ is not base64")
		}
		secret = b
	}
	if len(secret) < leastSecret {
		return nil, errors.New("the secret is shorter than 16 bytes")
	}
	return secret, nil
}

// Sign gives the signature of a message's bytes: v1 and the HMAC of id, timestamp and body.
func (s Secret) Sign(id string, at time.Time, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(s.mac(id, strconv.FormatInt(at.Unix(), 10), body))
}

func (s Secret) mac(id, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, s)
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return h.Sum(nil)
}

// ErrForged: the bytes were not signed with this secret, or not lately.
var ErrForged = errors.New("sms: not signed by the gateway")

// Verify checks the three headers of a message: one of its signatures is right, compared in constant time, and its
// timestamp is within five minutes of now. The error is ErrForged.
func (s Secret) Verify(id, timestamp, signatures string, body []byte, now time.Time) error {
	if len(s) < leastSecret || id == "" {
		return ErrForged
	}
	want := s.mac(id, timestamp, body)
	right := false
	for _, one := range strings.Fields(signatures) {
		version, coded, _ := strings.Cut(one, ",")
		got, err := base64.StdEncoding.DecodeString(coded)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			right = true
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if !right || err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return ErrForged
	}
	return nil
}
