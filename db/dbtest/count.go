//go:build unix

package dbtest

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Counting is a URL for the same database, by way of a relay that counts the statements sent over it; count gives the
// number since it was last asked. For tests that a page asks no more of a long list than of a short one.
func Counting(t testing.TB, databaseURL string) (counting string, count func() int) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	name := ".s.PGSQL." + q.Get("port")
	server := filepath.Join(q.Get("host"), name)
	dir, err := os.MkdirTemp("", "relay") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
	var n atomic.Int64
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go relay(client, server, &n)
		}
	}()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return u.String(), func() int { return int(n.Swap(0)) }
}

// relay passes both directions on and counts the messages Query (Q) and Execute (E).
func relay(client net.Conn, server string, n *atomic.Int64) {
	defer client.Close()
	up, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	defer up.Close()
	go func() {
		io.Copy(client, up)
		client.Close()
	}()
	for startup := true; ; startup = false { // the first message has no type
		var head [5]byte
		h := head[:]
		if startup {
			h = head[1:]
		}
		if _, err := io.ReadFull(client, h); err != nil {
			return
		}
		if !startup && (head[0] == 'Q' || head[0] == 'E') {
			n.Add(1)
		}
		if _, err := up.Write(h); err != nil {
			return
		}
		if _, err := io.CopyN(up, client, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
	}
}
