//go:build unix

package prooftest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// cable lies between the app and PostgreSQL. It can be unplugged, and it can break at a COMMIT.
type cable struct {
	t        testing.TB
	listener net.Listener
	socket   atomic.Pointer[string] // of the server
	atCommit atomic.Int32           // what happens to the next COMMIT
	cut      chan struct{}          // told when it was cut

	mu   sync.Mutex
	ends map[net.Conn]bool
}

const (
	passes         int32 = iota
	neverArrives         // the server never sees the COMMIT
	answerIsLost         // the server commits, its answer is lost
	cutWhileItRuns       // the client is gone while the server still commits
)

// newCable gives a cable to the server of a superuser's URL, and the URL of its near end.
func newCable(t testing.TB, server string) (*cable, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cable{t: t, listener: listener, cut: make(chan struct{}, 100), ends: map[net.Conn]bool{}}
	u := c.plugInto(server)
	t.Cleanup(func() { listener.Close(); c.pull() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go c.carry(near)
		}
	}()
	host, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return c, "postgres://" + u.User.Username() + "@/" + u.Path[1:] + "?host=" + host + "&port=" + port + "&sslmode=disable"
}

// plugInto connects the far end to another server; new connections go there.
func (c *cable) plugInto(server string) *url.URL {
	u, err := url.Parse(server)
	must(c.t, err)
	socket := u.Query().Get("host") + "/.s.PGSQL." + u.Query().Get("port")
	c.socket.Store(&socket)
	return u
}

// pull breaks every connection.
func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := range c.ends {
		end.Close()
	}
	clear(c.ends)
}

func (c *cable) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("unix", *c.socket.Load())
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	c.ends[near], c.ends[far] = true, true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.ends, near)
		delete(c.ends, far)
		c.mu.Unlock()
	}()
	var deaf atomic.Bool // what the server says now is lost
	go func() {
		defer near.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := far.Read(buf)
			if deaf.Load() {
				c.cut <- struct{}{}
				return
			}
			if n > 0 {
				if _, err := near.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	for typed := false; ; typed = true {
		message, err := readMessage(near, typed)
		if err != nil {
			return
		}
		if typed && bytes.Equal(message[5:], []byte("COMMIT\x00")) {
			switch c.atCommit.Swap(passes) {
			case neverArrives:
				c.cut <- struct{}{}
				return
			case answerIsLost:
				deaf.Store(true)
			case cutWhileItRuns:
				_, _ = far.Write(message)
				c.cut <- struct{}{}
				return
			}
		}
		if _, err := far.Write(message); err != nil {
			return
		}
	}
}

// readMessage reads one message of PostgreSQL's protocol; the first of a connection has no type.
func readMessage(r io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 512)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	rest := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
	_, err := io.ReadFull(r, rest)
	return append(head, rest...), err
}
