package account

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

const (
	// MinPassword is the fewest characters of a password.
	MinPassword = 15
	maxPassword = 1024 // bytes; longer ones are wrong
	saltLen     = 16
	keyLen      = 32
)

// Hasher makes argon2id hashes. Stored hashes carry their own parameters.
type Hasher struct {
	Memory uint32 // KiB
	Time   uint32
	Lanes  uint8
}

// DefaultHasher is OWASP's first choice: 46 MiB, one pass, one lane.
var DefaultHasher = Hasher{Memory: 46 * 1024, Time: 1, Lanes: 1}

// Hash is the PHC string of the password with a new salt.
func (h Hasher) Hash(password string, random io.Reader) (string, error) {
	salt := make([]byte, saltLen)
	if _, err := io.ReadFull(random, salt); err != nil {
		return "", err
	}
	key := argon2.IDKey(norm.NFC.Bytes([]byte(password)), salt, h.Time, h.Memory, h.Lanes, keyLen)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.Memory, h.Time, h.Lanes,
		b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

var errHash = errors.New("account: not an argon2id hash of ours")

// Verify reports whether the password is the one that was hashed. The error says that the hash cannot be read.
func Verify(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, errHash
	}
	var h Hasher
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.Memory, &h.Time, &h.Lanes); n != 3 || err != nil {
		return false, errHash
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, errHash
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(want) == 0 || h.Time == 0 || h.Lanes == 0 || h.Memory > 1<<20 {
		return false, errHash
	}
	typed := []byte(password)
	fits := len(typed) <= maxPassword
	if !fits {
		typed = typed[:maxPassword] // the same work, then wrong
	}
	got := argon2.IDKey(norm.NFC.Bytes(typed), salt, h.Time, h.Memory, h.Lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1 && fits, nil
}
