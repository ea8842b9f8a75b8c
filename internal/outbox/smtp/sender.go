// Package smtp hands e-mails of the outbox to a mail server (RFC 5321), one connection for each.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"countersign/internal/outbox"
)

const (
	dialWithin = 5 * time.Second
	sendWithin = 20 * time.Second
)

// Sender is an outbox.Sender for one mail server.
type Sender struct {
	From      string // the address that messages come from
	addr      string // host:port
	host      string
	user      string // "" = no sign-in
	pass      string
	implicit  bool // TLS from the first byte
	mayBeOpen bool // plain text will do, and so will any certificate
	TLS       *tls.Config
}

// New reads the address of a mail server. smtp://user:pass@host:port needs STARTTLS, except on this machine; smtps:// is
// TLS from the first byte; smtp+insecure:// takes STARTTLS where it is offered and any certificate. Ports are 587, 465 and
// 25 where none is given. Errors hold nothing of the address, which may have a password.
func New(address, from string) (*Sender, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("not an address such as smtp://user:password@host:587")
	}
	ports := map[string]string{"smtp": "587", "smtps": "465", "smtp+insecure": "25"}
	port, known := ports[u.Scheme]
	if !known {
		return nil, errors.New("its scheme is none of smtp, smtps and smtp+insecure")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	a, err := mail.ParseAddress(from)
	if err != nil || a.Name != "" || a.Address != from {
		return nil, errors.New("the address that messages come from is not one plain e-mail address")
	}
	s := &Sender{From: from, host: u.Hostname(), addr: net.JoinHostPort(u.Hostname(), port), implicit: u.Scheme == "smtps",
		mayBeOpen: u.Scheme == "smtp+insecure" || u.Scheme == "smtp" && isLoopback(u.Hostname())}
	s.user = u.User.Username()
	s.pass, _ = u.User.Password()
	return s, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Send implements outbox.Sender. Until the message itself has left, whatever goes wrong is no sending, and the server's
// no to sender, recipient or message is a refusal; what leaves without an answer is ambiguous.
func (s *Sender) Send(ctx context.Context, m outbox.Message) (string, error) {
	letter, err := s.compose(m)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	c, hangUp, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	defer hangUp()
	if err := c.Mail(s.From); err != nil {
		return "", refused("from", err)
	}
	if err := c.Rcpt(m.Recipient); err != nil {
		return "", refused("recipient", err)
	}
	w, err := c.Data()
	if err != nil {
		return "", refused("data", err)
	}
	if _, err := w.Write(letter); err != nil {
		return "", &outbox.Ambiguous{Code: "smtp_cut_off"}
	}
	if err := w.Close(); err != nil {
		var answer *textproto.Error
		if errors.As(err, &answer) && answer.Code >= 400 {
			return "", refused("message", err)
		}
		return "", &outbox.Ambiguous{Code: "smtp_no_answer"}
	}
	_ = c.Quit() // taken all the same
	return "", nil
}

// notSent is what went wrong before anything of a message left. It holds nothing that a server said.
func notSent(what string) error { return errors.New("smtp: not sent: " + what) }

// refused judges an answer to a command. 421 closes the connection and 530 asks for a sign-in: neither is about the message.
func refused(what string, err error) error {
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		return notSent("the connection broke")
	}
	return &outbox.Refused{Code: fmt.Sprintf("smtp_%s_%d", what, answer.Code), Temporary: answer.Code < 500 || answer.Code == 530}
}

// connect opens a connection, encrypts it and signs in. All of it ends with ctx.
func (s *Sender) connect(ctx context.Context) (_ *smtp.Client, hangUp func(), err error) {
	conn, err := (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, nil, notSent("the server cannot be reached")
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	letGo := func() {
		stop()
		_ = conn.Close()
	}
	defer func() {
		if err != nil {
			letGo()
		}
	}()
	config := &tls.Config{}
	if s.TLS != nil {
		config = s.TLS.Clone()
	}
	config.ServerName, config.MinVersion = s.host, tls.VersionTLS12
	config.InsecureSkipVerify = s.mayBeOpen // plain text would do: a certificate can only be better than none
	stream := conn
	if s.implicit {
		stream = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(stream, s.host)
	if err != nil {
		return nil, nil, notSent("the server does not greet")
	}
	if err = c.Hello(domainOf(s.From)); err != nil {
		return nil, nil, notSent("the server does not answer EHLO")
	}
	if offered, _ := c.Extension("STARTTLS"); offered && !s.implicit {
		if err = c.StartTLS(config); err != nil {
			return nil, nil, notSent("TLS failed")
		}
	} else if !s.implicit && !s.mayBeOpen {
		return nil, nil, &outbox.Refused{Code: "smtp_no_tls", Temporary: true}
	}
	if s.user != "" {
		if err = s.signIn(c); err != nil {
			return nil, nil, err
		}
	}
	return c, letGo, nil
}

// signIn uses the best way the server offers. That it fails is the operator's matter and not the message's.
func (s *Sender) signIn(c *smtp.Client) error {
	_, offered := c.Extension("AUTH")
	var how smtp.Auth
	switch ways := strings.Fields(strings.ToUpper(offered)); {
	case slices.Contains(ways, "SCRAM-SHA-256"):
		how = smtp.ScramSHA256Auth(s.user, s.pass)
	case slices.Contains(ways, "PLAIN"):
		how = smtp.PlainAuth("", s.user, s.pass, s.host, s.mayBeOpen)
	case slices.Contains(ways, "LOGIN"):
		how = smtp.LoginAuth(s.user, s.pass, s.host, s.mayBeOpen)
	default:
		return &outbox.Refused{Code: "smtp_no_sign_in", Temporary: true}
	}
	if err := c.Auth(how); err != nil {
		return &outbox.Refused{Code: "smtp_sign_in", Temporary: true}
	}
	return nil
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
