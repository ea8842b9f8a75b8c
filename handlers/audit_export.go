package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// exportTypes are the formats of an export and what they are called on the wire.
var exportTypes = map[string]string{audit.FormatCSV: "text/csv; charset=utf-8", audit.FormatNDJSON: "application/x-ndjson",
	audit.FormatFHIR: "application/fhir+ndjson"}

// exportAudit is GET /audit/export and GET /api/v1/audit/export, for admins: every sealed entry that the filters let
// through, in the order of the chain, streamed, with a signed manifest at its end. Without that end the file is known to
// be broken off. It is written down before the first byte leaves, and again with the number of entries.
func (s *Server) exportAudit(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	if err := mayExport(by); err != nil {
		return err
	}
	format := c.QueryParam("format")
	kind, ok := exportTypes[format]
	if !ok {
		return refusal.Invalid(refusal.Field{Name: "format", Message: "Say csv, ndjson or fhir."})
	}
	key, err := s.AuditKey()
	if err != nil {
		return err
	}
	var filter db.AuditFilter
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		locations, err := t.Locations(ctx)
		if err != nil {
			return err
		}
		if filter, err = trailFilter(c, locations, "format"); err != nil {
			return err
		}
		return t.Audit(ctx, s.exportEvent(t, by, format, "begun", audit.Success, 0))
	})
	if err != nil {
		return err
	}
	note, upTo, cut, err := s.DB.ExportStart(ctx, by.Clinic, key)
	if err != nil {
		return err
	}
	asked := filterText(c.QueryParams())
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, kind)
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf(`attachment; filename="audit-%s-%s.%s"`, by.Clinic, s.Now().UTC().Format("20060102T150405Z"), fileEnd(format)))
	c.Response().WriteHeader(http.StatusOK)
	out := &slowReader{c.Response(), http.NewResponseController(c.Response())}
	e, err := audit.NewExporter(out, audit.Manifest{Format: format, Clinic: by.Clinic, Filter: asked, Whole: asked == ""}, cut)
	if err != nil {
		return err
	}
	err = s.DB.EachSealed(ctx, by.Clinic, filter, cut.Size, upTo, e.Row)
	if err == nil {
		err = e.End(key, note)
	}
	outcome, code := audit.Success, "ended"
	if err != nil {
		outcome, code = audit.Failed, "broken_off"
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // whoever asked may be gone
	defer cancel()
	noted := s.DB.InClinic(late, by.Clinic, func(t *db.Tx) error {
		return t.Audit(late, s.exportEvent(t, by, format, code, outcome, e.Rows()))
	})
	if err == nil {
		err = noted
	}
	return err
}

// exportEvent tells of an export: its object is the format, its version the number of entries that left.
func (s *Server) exportEvent(t *db.Tx, by clinic.Actor, format, code, outcome string, rows int64) audit.Event {
	e := s.readEvent(t, by, audit.ExportAudit, "export", format, rows, "")
	e.Code, e.Outcome = code, outcome
	return e
}

// mayExport: a person who is admin; never an agent, whatever its owner may.
func mayExport(by clinic.Actor) error {
	if by.Role != clinic.RoleAdmin || by.Kind != clinic.KindUser {
		return &refusal.Error{Code: refusal.PermissionDenied, Message: "Only an admin takes the trail, its checkpoints and receipts out of the clinic."}
	}
	return nil
}

func fileEnd(format string) string {
	if format == audit.FormatFHIR {
		return "fhir.ndjson"
	}
	return format
}

// filterText is what narrows an export, as asked for.
func filterText(query url.Values) string {
	q := url.Values{}
	for name, values := range query {
		if name != "format" && name != "cursor" && name != "limit" && values[0] != "" {
			q[name] = values
		}
	}
	return q.Encode()
}

// slowReader is an answer that may take as long as it needs, so long as somebody reads.
type slowReader struct {
	echo *echo.Response
	ctl  *http.ResponseController
}

func (p *slowReader) Write(b []byte) (int, error) {
	if err := p.ctl.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil && !isUnsupported(err) {
		return 0, err
	}
	return p.echo.Write(b)
}
