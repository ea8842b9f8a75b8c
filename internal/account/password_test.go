package account

import (
	"crypto/rand"
	"strings"
	"testing"
)

func TestPasswords(t *testing.T) {
	hash, err := DefaultHasher.Hash("correct horse é", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=47104,t=1,p=1$") {
		t.Errorf("not a PHC string of 46 MiB: %s", hash)
	}
	other, _ := DefaultHasher.Hash("correct horse é", rand.Reader)
	if other == hash {
		t.Error("two hashes have one salt")
	}
	for password, want := range map[string]bool{
		"correct horse é":         true,
		"correct horse e\u0301":   true, // as another keyboard sends it
		"correct horse e":         false,
		"Correct horse é":         false,
		"correct horse é ":        false,
		"":                        false,
		strings.Repeat("x", 2000): false,
	} {
		if got, err := Verify(hash, password); err != nil || got != want {
			t.Errorf("%.20q: %v %v", password, got, err)
		}
	}
	long := strings.Repeat("x", maxPassword)
	if hash, err = DefaultHasher.Hash(long, rand.Reader); err != nil {
		t.Fatal(err)
	}
	if ok, _ := Verify(hash, long); !ok {
		t.Error("the longest password does not work")
	}
	if ok, _ := Verify(hash, long+"x"); ok {
		t.Error("a longer one is cut and accepted")
	}
	for _, bad := range []string{"", "x", "$argon2id$v=19$m=1$x$y", "$argon2i$v=19$m=47104,t=1,p=1$c2FsdA$a2V5", "$argon2id$v=19$m=47104,t=0,p=1$c2FsdA$a2V5",
		"$argon2id$v=19$m=47104,t=1,p=1$c2FsdA$", "$argon2id$v=19$m=99999999,t=1,p=1$c2FsdA$a2V5"} {
		if ok, err := Verify(bad, ""); ok || err == nil {
			t.Errorf("%q: %v %v", bad, ok, err)
		}
	}
}
