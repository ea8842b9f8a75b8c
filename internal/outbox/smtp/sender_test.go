package smtp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	receiver "github.com/emersion/go-smtp"

	"countersign/internal/outbox"
)

const from = "desk@havnegade.test"

var (
	text     = "Kære Søren Łukasz Groß\nDu har tid onsdag den 13. maj 2026 kl. 10.00 (dansk tid) hos Dr Anna Holm, Havnegade 12, 1058 København.\n\n.\nFrom here on = nothing.\nPasser tiden dig ikke, så ring til os på +45 00 33 10 10 " + strings.Repeat("langt ", 30) + "\nHavnegade 12"
	calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:CANCEL\r\nBEGIN:VEVENT\r\nLOCATION:Havnegade 12\\, 1058 København\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)

func letter() outbox.Message {
	return outbox.Message{Clinic: "hav", ID: "msg_1", Kind: outbox.Cancellation, Channel: outbox.Email, Recipient: "soren@example.test", Subject: "Din tid er aflyst ✓",
		Text: text, Calendar: calendar, QueuedAt: time.Date(2026, 5, 12, 8, 0, 0, 0, time.UTC)}
}

func sender(t *testing.T, scheme, user string, s *server) *Sender {
	t.Helper()
	out, err := New(scheme+"://"+user+s.addr, from)
	if err != nil {
		t.Fatal(err)
	}
	if s.roots != nil {
		out.TLS = &tls.Config{RootCAs: s.roots}
	}
	return out
}

// parts are the leaves of a mail: media type to decoded bytes.
func parts(t *testing.T, header map[string][]string, body io.Reader, into map[string][]byte) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(mail.Header(header).Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		if mail.Header(header).Get("Content-Transfer-Encoding") == "base64" {
			body = decoder(body)
		}
		b, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if m := params["method"]; m != "" {
			kind += " " + m
		}
		into[kind] = b
		return
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextPart() // decodes quoted-printable
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		parts(t, p.Header, p, into)
	}
}

// The bytes that arrive are the bytes of the plan; only line ends are those of mail.
func TestWhatArrivesIsWhatStandsInThePlan(t *testing.T) {
	var s server
	s.start(t, "none", false)
	out := sender(t, "smtp", "", &s)
	for range 2 { // a repeated mail is the same mail
		if id, err := out.Send(context.Background(), letter()); err != nil || id != "" {
			t.Fatal(id, err)
		}
	}
	got := s.got()
	if len(got) != 2 || got[0].from != from || got[0].to != "soren@example.test" {
		t.Fatalf("%+v", got)
	}
	m, err := mail.ReadMessage(bytes.NewReader(got[0].bytes))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Message-Id": "<msg_1.hav@havnegade.test>", "Auto-Submitted": "auto-generated", "From": "<" + from + ">", "To": "<soren@example.test>",
		"Date": "Tue, 12 May 2026 08:00:00 +0000", "Mime-Version": "1.0"} {
		if h := m.Header.Get(name); h != want {
			t.Errorf("%s: %q, want %q", name, h, want)
		}
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); subject != letter().Subject || err != nil {
		t.Errorf("subject %q: %v", subject, err)
	}
	leaves := map[string][]byte{}
	parts(t, m.Header, m.Body, leaves)
	plain := bytes.ReplaceAll(leaves["text/plain"], []byte("\r\n"), []byte("\n"))
	if sha256.Sum256(plain) != sha256.Sum256([]byte(text)) {
		t.Errorf("the text: %q", plain)
	}
	for _, kind := range []string{"text/calendar CANCEL", "application/ics"} {
		if sha256.Sum256(leaves[kind]) != sha256.Sum256([]byte(calendar)) {
			t.Errorf("%s: %q", kind, leaves[kind])
		}
	}
	if again, err := mail.ReadMessage(bytes.NewReader(got[1].bytes)); err != nil || again.Header.Get("Message-Id") != m.Header.Get("Message-Id") || again.Header.Get("Date") != m.Header.Get("Date") {
		t.Error("the repeated mail is another one")
	}
	if bytes.Contains(got[0].bytes, []byte("http")) {
		t.Error("a mail holds a link")
	}
}

// A reminder has no calendar entry and is one plain text.
func TestAPlainMail(t *testing.T) {
	var s server
	s.start(t, "none", false)
	m := letter()
	at := time.Date(2026, 5, 13, 8, 0, 0, 0, time.UTC)
	m.Calendar, m.SendAt = "", &at
	if _, err := sender(t, "smtp", "", &s).Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	got, err := mail.ReadMessage(bytes.NewReader(s.got()[0].bytes))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil || kind != "text/plain" || !strings.EqualFold(params["charset"], "utf-8") || got.Header.Get("Date") != "Wed, 13 May 2026 08:00:00 +0000" {
		t.Error(kind, params, err, got.Header.Get("Date"))
	}
	body, err := io.ReadAll(unquoted(got.Body))
	if plain := strings.TrimSuffix(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n"); err != nil || plain != text {
		t.Errorf("%q %v", plain, err)
	}
}

func answers(code int) error {
	return &receiver.SMTPError{Code: code, EnhancedCode: receiver.EnhancedCode{code / 100, 1, 1}, Message: "no mail for soren@example.test here"}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*server)
		code string
		temp bool
	}{
		"450 sender":     {func(s *server) { s.refuseFrom = answers(450) }, "smtp_from_450", true},
		"550 sender":     {func(s *server) { s.refuseFrom = answers(550) }, "smtp_from_550", false},
		"530 sender":     {func(s *server) { s.refuseFrom = answers(530) }, "smtp_from_530", true},
		"450 recipient":  {func(s *server) { s.refuseTo = answers(450) }, "smtp_recipient_450", true},
		"550 recipient":  {func(s *server) { s.refuseTo = answers(550) }, "smtp_recipient_550", false},
		"450 at the end": {func(s *server) { s.refuseData = answers(450) }, "smtp_message_450", true},
		"550 at the end": {func(s *server) { s.refuseData = answers(550) }, "smtp_message_550", false},
	} {
		t.Run(name, func(t *testing.T) {
			var s server
			c.set(&s)
			s.start(t, "none", false)
			_, err := sender(t, "smtp", "", &s).Send(context.Background(), letter())
			var no *outbox.Refused
			if !errors.As(err, &no) || no.Code != c.code || no.Temporary != c.temp {
				t.Errorf("%v", err)
			}
			discreet(t, err)
			if len(s.got()) != 0 {
				t.Error("it was taken")
			}
		})
	}
}

// discreet: an error names nobody and repeats nothing of a message, not even what the server said of it.
func discreet(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"soren", "example.test", "aflyst", "Holm", "password", "p@ss"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error says %q: %v", secret, err)
		}
	}
}

// The message has left and no answer came: it may have been taken.
func TestAnAnswerThatDoesNotCome(t *testing.T) {
	t.Run("the server hangs up", func(t *testing.T) {
		s := server{dropAfterData: true}
		s.start(t, "none", false)
		ambiguous(t, context.Background(), &s)
		if len(s.got()) != 1 {
			t.Error("the server did not have it after all")
		}
	})
	t.Run("the server is slow", func(t *testing.T) {
		s := server{hang: make(chan struct{})}
		s.start(t, "none", false)
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		ambiguous(t, ctx, &s)
		close(s.hang)
	})
}

func ambiguous(t *testing.T, ctx context.Context, s *server) {
	t.Helper()
	_, err := sender(t, "smtp", "", s).Send(ctx, letter())
	var perhaps *outbox.Ambiguous
	if !errors.As(err, &perhaps) || perhaps.Code != "smtp_no_answer" {
		t.Errorf("%v", err)
	}
	discreet(t, err)
}

// What goes wrong before is no sending, and may be tried again.
func TestNothingLeft(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, addr := range map[string]string{"nobody listens": gone.Addr().String(), "nobody greets": silent.Addr().String()} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		_, err := sender(t, "smtp", "", &server{addr: addr}).Send(ctx, letter())
		cancel()
		var no *outbox.Refused
		var perhaps *outbox.Ambiguous
		if err == nil || errors.As(err, &no) || errors.As(err, &perhaps) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		discreet(t, err)
	}
}

func TestEncryptionAndSignIn(t *testing.T) {
	const user = "clinic:a%20p%40ss%2Fword@"
	for name, c := range map[string]struct{ scheme, user, server, code string }{
		"STARTTLS":                       {"smtp", user, "starttls", ""},
		"TLS at once":                    {"smtps", user, "implicit", ""},
		"plain on this machine":          {"smtp", user, "none", ""},
		"plain where that was asked for": {"smtp+insecure", user, "none", ""},
		"a wrong password":               {"smtp", "clinic:guess@", "starttls", "smtp_sign_in"},
	} {
		t.Run(name, func(t *testing.T) {
			var s server
			s.start(t, c.server, true)
			_, err := sender(t, c.scheme, c.user, &s).Send(context.Background(), letter())
			if c.code != "" {
				var no *outbox.Refused
				if !errors.As(err, &no) || no.Code != c.code || !no.Temporary || len(s.got()) != 0 {
					t.Errorf("%v", err)
				}
				discreet(t, err)
				return
			}
			got := s.got()
			if err != nil || len(got) != 1 || got[0].user != "clinic" || got[0].tls != (c.server == "starttls") && c.server != "implicit" {
				t.Errorf("%v %d", err, len(got))
			}
		})
	}
	// A server elsewhere: as if it were, for none can be reached here.
	elsewhere := func(s *server) *Sender {
		out := sender(t, "smtp", "", s)
		out.mayBeOpen = false
		return out
	}
	t.Run("no STARTTLS elsewhere", func(t *testing.T) {
		var s server
		s.start(t, "none", false)
		_, err := elsewhere(&s).Send(context.Background(), letter())
		var no *outbox.Refused
		if !errors.As(err, &no) || no.Code != "smtp_no_tls" || !no.Temporary || len(s.got()) != 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("a strange certificate elsewhere", func(t *testing.T) {
		var s server
		s.start(t, "starttls", false)
		out := elsewhere(&s)
		out.TLS = nil
		if _, err := out.Send(context.Background(), letter()); err == nil || len(s.got()) != 0 {
			t.Errorf("%v", err)
		}
		out.TLS = &tls.Config{RootCAs: s.roots}
		if _, err := out.Send(context.Background(), letter()); err != nil || len(s.got()) != 1 || !s.got()[0].tls {
			t.Errorf("%v", err)
		}
	})
}

// Nothing in a message can add a header, a recipient or a command.
func TestNoHeaderIsAdded(t *testing.T) {
	var s server
	s.start(t, "none", false)
	out := sender(t, "smtp", "", &s)
	for _, m := range []outbox.Message{
		{Subject: "Hello\r\nBcc: eve@example.test"}, {Recipient: "soren@example.test\r\nRCPT TO:<eve@example.test>"}, {Recipient: "soren@example.test, eve@example.test"},
		{Recipient: "Soren <soren@example.test>"}, {ID: "x\r\nX-Evil: 1"}, {Recipient: ""},
	} {
		full := letter()
		if m.Subject != "" {
			full.Subject = m.Subject
		} else if m.ID != "" {
			full.ID = m.ID
		} else {
			full.Recipient = m.Recipient
		}
		_, err := out.Send(context.Background(), full)
		var no *outbox.Refused
		if !errors.As(err, &no) || no.Temporary {
			t.Errorf("%q: %v", full.Subject+full.Recipient+full.ID, err)
		}
	}
	m := letter()
	m.Text = "Hello\r\n.\r\nMAIL FROM:<eve@example.test>\nBcc: eve@example.test"
	if _, err := out.Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	got := s.got()
	read, err := mail.ReadMessage(bytes.NewReader(got[0].bytes))
	if len(got) != 1 || err != nil || read.Header.Get("Bcc") != "" {
		t.Errorf("%d mails, %v", len(got), err)
	}
}

func TestAddressesOfServers(t *testing.T) {
	for _, bad := range []string{"", "h:25", "http://h", "smtp://", "smtp://u:secret@h:x", "smtp://h/box", "smtp://h?x=1", "smtp://u:se%cret@h"} {
		if _, err := New(bad, from); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for address, want := range map[string]string{"smtp://h": "h:587", "smtps://h": "h:465", "smtp+insecure://h": "h:25", "smtp://u:p@[::1]:2525": "[::1]:2525"} {
		if s, err := New(address, from); err != nil || s.addr != want {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, bad := range []string{"", "desk", "Desk <desk@h.test>", "a@b.test\r\nX: 1", "a@b.test, c@d.test"} {
		if _, err := New("smtp://h", bad); err == nil {
			t.Errorf("from %q", bad)
		}
	}
}
