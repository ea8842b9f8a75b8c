package account

import (
	"net/netip"
	"testing"
)

func TestOneSubscriberIsOneAddress(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:aaaa::1": "2001:db8:1:2::/64",
		"2001:db8:1:2:bbbb::9": "2001:db8:1:2::/64",
		"2001:db8:1:3::1":      "2001:db8:1:3::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		if got := attemptNetwork(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s counts as %s, want %s", in, got, want)
		}
	}
}
