package handlers

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/internal/clinic"
	"countersign/internal/outbox"
	"countersign/internal/refusal"
)

// receiptsPath is where the SMS gateway says what became of messages. No session and no token opens it: each call is
// signed with the secret that is shared with the gateway.
const receiptsPath = "/webhooks/sms"

var eventShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,200}$`)

// receiveReceipt is POST /webhooks/sms: {event_id, message, status, at}. It is written down as it came, once for each
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
	var said struct {
		Event   string     `json:"event_id"`
		Message string     `json:"message"`
		Status  string     `json:"status"`
		At      *time.Time `json:"at"`
	}
	if json.Unmarshal(body, &said) != nil {
		return refusal.New(refusal.MalformedRequest)
	}
	var wrong []refusal.Field
	for name, ok := range map[string]bool{"event_id": eventShape.MatchString(said.Event), "message": clinic.ValidID(said.Message),
		"status": slices.Contains(outbox.ReceiptStatuses, said.Status), "at": said.At == nil || said.At.Year() >= 2000 && said.At.Year() < 9999} {
		if !ok {
			wrong = append(wrong, refusal.Field{Name: name, Message: "This cannot be read."})
		}
	}
	if wrong != nil {
		slices.SortFunc(wrong, func(a, b refusal.Field) int { return cmp.Compare(a.Name, b.Name) })
		return refusal.Invalid(wrong...)
	}
	at := s.Now()
	if said.At != nil {
		at = *said.At
	}
	if err := s.DB.StoreReceipt(r.Context(), outbox.Receipt{Event: said.Event, Message: said.Message, Status: said.Status, At: at.UTC()}); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
