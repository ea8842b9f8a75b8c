package smtp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"math/big"
	"mime/quotedprintable"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	receiver "github.com/emersion/go-smtp"
)

// server is a real SMTP server (github.com/emersion/go-smtp) that keeps what it is given, and errs where it is told to.
type server struct {
	addr  string
	roots *x509.CertPool

	refuseFrom, refuseTo, refuseData error
	dropAfterData                    bool          // reads the whole message and hangs up without an answer
	hang                             chan struct{} // closed = go on; nil = never hang

	mu    sync.Mutex
	mails []received
}

type received struct {
	from, to, user string
	tls            bool
	bytes          []byte
}

func (s *server) got() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.mails...)
}

// start serves until the test ends. TLS: none, starttls or implicit.
func (s *server) start(t *testing.T, encryption string, needsSignIn bool) {
	t.Helper()
	srv := receiver.NewServer(receiver.BackendFunc(func(c *receiver.Conn) (receiver.Session, error) {
		return &session{s: s, c: c}, nil
	}))
	srv.Domain, srv.AllowInsecureAuth, srv.ErrorLog = "mail.test", encryption == "none", log.New(io.Discard, "", 0)
	srv.ReadTimeout, srv.WriteTimeout = 10*time.Second, 10*time.Second
	if !needsSignIn {
		srv.AllowInsecureAuth = true
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	if encryption != "none" {
		config, roots := certificate(t)
		s.roots = roots
		if encryption == "implicit" {
			l = tls.NewListener(l, config)
		} else {
			srv.TLSConfig = config
		}
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

type session struct {
	s              *server
	c              *receiver.Conn
	from, to, user string
}

func (x *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (x *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		if user != "clinic" || pass != "a p@ss/word" {
			return errors.New("wrong")
		}
		x.user = user
		return nil
	}), nil
}

func (x *session) Mail(from string, _ *receiver.MailOptions) error {
	x.from = from
	return x.s.refuseFrom
}

func (x *session) Rcpt(to string, _ *receiver.RcptOptions) error {
	x.to = to
	return x.s.refuseTo
}

func (x *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if x.s.hang != nil {
		<-x.s.hang
	}
	if x.s.refuseData != nil {
		return x.s.refuseData
	}
	_, encrypted := x.c.TLSConnectionState()
	x.s.mu.Lock()
	x.s.mails = append(x.s.mails, received{x.from, x.to, x.user, encrypted, b})
	x.s.mu.Unlock()
	if x.s.dropAfterData {
		x.c.Conn().Close()
	}
	return nil
}

func (x *session) Reset()        {}
func (x *session) Logout() error { return nil }

// certificate is one for 127.0.0.1 that only the given pool trusts.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, roots
}

func decoder(r io.Reader) io.Reader { return base64.NewDecoder(base64.StdEncoding, r) }

func unquoted(r io.Reader) io.Reader { return quotedprintable.NewReader(r) }
