package smtp

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"countersign/internal/outbox"
)

// compose writes the mail: the text of the plan and, where there is one, its calendar entry, as a part of its own and as
// the file invite.ics. A repeated message has the same Message-ID and date, so that two copies are one mail.
func (s *Sender) compose(m outbox.Message) ([]byte, error) {
	wrong := &outbox.Refused{Code: "smtp_bad_header"}
	if strings.ContainsFunc(m.Subject+m.Recipient+m.ID+m.Clinic, unicode.IsControl) {
		return nil, wrong
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(gomail.EncodingQP))
	if msg.From(s.From) != nil || msg.To(m.Recipient) != nil || len(msg.GetTo()) != 1 || msg.GetTo()[0].Address != m.Recipient {
		return nil, wrong
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID + "." + m.Clinic + "@" + domainOf(s.From))
	at := m.QueuedAt
	if m.SendAt != nil {
		at = *m.SendAt
	}
	msg.SetDateWithValue(at)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no holiday reply
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.Calendar != "" {
		method := gomail.ContentType("text/calendar; method=" + methodOf(m.Calendar))
		msg.AddAlternativeWriter(method, writes(m.Calendar), gomail.WithPartEncoding(gomail.EncodingB64))
		if err := msg.AttachReader("invite.ics", strings.NewReader(m.Calendar), gomail.WithFileContentType("application/ics"), gomail.WithFileEncoding(gomail.EncodingB64)); err != nil {
			return nil, wrong
		}
	}
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, wrong
	}
	return b.Bytes(), nil
}

// writes gives bytes as they are; what go-mail takes as a string it gives other line ends.
func writes(s string) func(io.Writer) (int64, error) {
	return func(w io.Writer) (int64, error) {
		n, err := io.WriteString(w, s)
		return int64(n), err
	}
}

// methodOf is the METHOD of a calendar document of ours; the part's header must say the same (RFC 6047).
func methodOf(calendar string) string {
	if strings.Contains(calendar, "\r\nMETHOD:CANCEL\r\n") {
		return "CANCEL"
	}
	return "REQUEST"
}
