package handlers

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/refusal"
)

// receiptsPath is where the SMS gateway says what became of messages. No session and no token opens it: each call is
// signed with the secret that is shared with the gateway.
const receiptsPath = "/webhooks/sms"

var eventShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,200}$`)

// receiveReceipt is POST /webhooks/sms: {event_id, message, status, at, clinic}, the last two if they are known. It is written down as it came, once for each
// event, and answered at once; a worker finds the message.
func (s *Server) receiveReceipt(c echo.Context) error {
	if s.SMSSecret == nil {
		return refusal.New(refusal.NotFound)
	}
	r := c.Request()
	if !mediaType(r, "application/json") {
		return refusal.New(refusal.UnsupportedMediaType)
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	h := r.Header
	if s.SMSSecret.Verify(h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), h.Get("Webhook-Signature"), body, s.Now()) != nil {
		return refusal.New(refusal.Unauthenticated)
	}
	said, err := readReceipt(body, s.Now())
	if err != nil {
		return err
	}
	if err := s.DB.StoreReceipt(r.Context(), said); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// readReceipt knows members by their exact names; others are the gateway's own affair, and may hold any numbers. Errors:
// malformed_request for what is not one JSON object with one meaning, validation_failed with the members that are wrong.
func readReceipt(body []byte, now time.Time) (outbox.Receipt, error) {
	var said map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &said) != nil || said == nil || twice(body) {
		return outbox.Receipt{}, refusal.New(refusal.MalformedRequest)
	}
	r := outbox.Receipt{At: now}
	var wrong []refusal.Field
	read := func(name string, to any, ok func() bool) {
		if raw := said[name]; raw != nil && json.Unmarshal(raw, to) != nil || !ok() {
			wrong = append(wrong, refusal.Field{Name: name, Message: "This cannot be read."})
		}
	}
	read("at", &r.At, func() bool { return r.At.Year() >= 2000 && r.At.Year() < 9999 })
	read("clinic", &r.Clinic, func() bool { return r.Clinic == "" || clinic.ValidID(r.Clinic) })
	read("event_id", &r.Event, func() bool { return eventShape.MatchString(r.Event) })
	read("message", &r.Message, func() bool { return clinic.ValidID(r.Message) })
	read("status", &r.Status, func() bool { return slices.Contains(outbox.ReceiptStatuses, r.Status) })
	if wrong != nil {
		return outbox.Receipt{}, refusal.Invalid(wrong...)
	}
	r.At = r.At.UTC()
	return r, nil
}
