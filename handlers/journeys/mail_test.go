package journeys

import (
	"io"
	"log"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"

	receiver "github.com/emersion/go-smtp"

	"countersign/internal/outbox"
	"countersign/internal/outbox/smtp"
)

// mailServer is a real SMTP server that answers as it is told and keeps what it takes.
type mailServer struct {
	mu     sync.Mutex
	answer error // to a recipient; nil = takes the mail
	hangUp bool  // after the mail, without an answer
	mails  []string
}

func (s *mailServer) set(answer error, hangUp bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.hangUp = answer, hangUp
}

// ids are the Message-IDs of what it took.
func (s *mailServer) ids(t *testing.T) (ids []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		letter, err := mail.ReadMessage(strings.NewReader(m))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, letter.Header.Get("Message-ID"))
	}
	return ids
}

// withMail lets the world's e-mails leave by a real mail server.
func (w *world) withMail() *mailServer {
	w.t.Helper()
	s := &mailServer{}
	srv := receiver.NewServer(receiver.BackendFunc(func(c *receiver.Conn) (receiver.Session, error) { return &mailSession{s: s, c: c}, nil }))
	srv.Domain, srv.ErrorLog = "mail.test", log.New(io.Discard, "", 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	go srv.Serve(l)
	w.t.Cleanup(func() { srv.Close() })
	sender, err := smtp.New("smtp://"+l.Addr().String(), "desk@clinic.test")
	w.must(err)
	w.relay.Senders = map[string]outbox.Sender{outbox.Email: sender}
	return s
}

type mailSession struct {
	s *mailServer
	c *receiver.Conn
}

func (x *mailSession) Mail(string, *receiver.MailOptions) error { return nil }

func (x *mailSession) Rcpt(string, *receiver.RcptOptions) error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.s.answer
}

func (x *mailSession) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.mails = append(x.s.mails, string(b))
	if x.s.hangUp {
		x.c.Conn().Close()
	}
	return err
}

func (x *mailSession) Reset()        {}
func (x *mailSession) Logout() error { return nil }

// Retry a failed notification without repeating the booking: the mail server says not now, then no, then yes. The visit
// keeps the version of its one confirmation, its message is one row, and one mail arrives.
func TestAMailThatWasRefusedIsSentAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, scripts bool) {
		w := newWorld(t)
		server := w.withMail()
		server.set(&receiver.SMTPError{Code: 451, EnhancedCode: receiver.EnhancedCode{4, 7, 1}, Message: "later, Maria Jensen"}, false)
		p := w.person("staff@demo.test", scripts)
		id, at := p.asked("appt_maria84", 1)
		p.swap("#confirm")
		p.says("Completed: Maria Jensen’s visit is moved")
		w.deliver()
		row := `SELECT state, attempts, version, (SELECT count(*) FROM outbox WHERE appointment = 'appt_maria84' AND kind = 'change') FROM outbox WHERE proposal = $1 AND kind = 'change'`
		w.stored("queued 1 2 1", row, id)
		p.open("/outbox")
		p.says("Waiting", "1 attempt", "last answer", "tried again")
		p.saysNot("later, Maria")
		p.look()

		server.set(&receiver.SMTPError{Code: 550, EnhancedCode: receiver.EnhancedCode{5, 1, 1}, Message: "no such mailbox maria.jensen.84"}, false)
		p.swap(`[id^="retry-"]`)
		w.deliver()
		w.stored("failed 1 2 1", row, id)
		p.open("/proposals/" + id)
		p.says("Completed", "could not be sent", "the patient may not know of it")
		p.look()
		p.open("/outbox?state=attention")
		p.says("Failed", "last answer")
		p.look()
		p.picture("outbox-refused")

		server.set(nil, false)
		p.swap(`[id^="retry-"]`)
		w.deliver()
		w.deliver()
		p.open("/outbox")
		p.says("Sent")
		p.saysNot("Try sending again")
		w.stored("sent 1 2 1", row, id)
		if ids := server.ids(t); len(ids) != 1 || ids[0] == "" {
			t.Errorf("mails that arrived: %q", ids)
		}
		if got, stands := w.visit("appt_maria84"), "booked prac_holm "+at+" 2"; got != stands {
			t.Errorf("the visit is %s, want %s", got, stands)
		}
		w.stored("1 1 2", `SELECT count(*) FILTER (WHERE action = 'proposal.confirm'), count(*) FILTER (WHERE action = 'appointment.move'), count(*) FILTER (WHERE action = 'message.retry')
			FROM audit WHERE proposal = $1 OR action = 'message.retry'`, id)
		w.stored("2", `SELECT count(*) FROM appointment_history WHERE appointment = 'appt_maria84'`)
		if l := w.log.String(); strings.Contains(l, "Maria") || strings.Contains(l, "maria.jensen") {
			t.Error("the log names the patient")
		}
	})
}

// A mail that the server took without saying so is not hidden: who sends it again knows that it may come twice, and it is
// the same mail.
func TestAMailWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.withMail()
	server.set(nil, true)
	p := w.person("staff@demo.test", true)
	id, _ := p.asked("appt_maria84", 1)
	p.swap("#confirm")
	p.says("Completed: Maria Jensen’s visit is moved")
	w.deliver()
	w.stored("queued 1 1", `SELECT state, attempts, unanswered FROM outbox WHERE proposal = $1 AND kind = 'change'`, id)
	p.open("/outbox")
	p.says("the patient may have got it", "Send again: the patient may get it twice")
	p.look()
	server.set(nil, false)
	p.swap(`[id^="retry-"]`)
	w.deliver()
	w.stored("sent 1 1", `SELECT state, attempts, unanswered FROM outbox WHERE proposal = $1 AND kind = 'change'`, id)
	if ids := server.ids(t); len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
		t.Errorf("not the same mail twice: %q", ids)
	}
	w.stored("2", `SELECT version FROM inspect.appointments WHERE id = 'appt_maria84'`)
}
