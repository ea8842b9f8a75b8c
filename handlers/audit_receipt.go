package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/db"
	"countersign/internal/audit"
	"countersign/internal/refusal"
)

func auditForm(echo.Context) string { return auditPath }

// takeCheckpoint is POST /audit/checkpoint, for admins: the trail so far, signed, as a file to keep elsewhere.
func (s *Server) takeCheckpoint(c echo.Context) error {
	by, ctx := actor(c), c.Request().Context()
	if err := mayExport(by); err != nil {
		return err
	}
	key, err := s.AuditKey()
	if err != nil {
		return err
	}
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		return t.Audit(ctx, s.readEvent(t, by, audit.TakeCheckpoint, "", "", 0, ""))
	})
	if err != nil {
		return err
	}
	note, upTo, _, err := s.DB.ExportStart(ctx, by.Clinic, key)
	if err != nil {
		return err
	}
	return text(c, fmt.Sprintf("checkpoint-%s-%d.txt", by.Clinic, upTo), note)
}

// entryReceipt is GET /audit/{id}/receipt, for admins: proof on paper that an entry is in the trail.
func (s *Server) entryReceipt(c echo.Context) error {
	return s.receipts(c, func(id string) (entry, proposal string) { return id, "" })
}

// proposalReceipt is GET /proposals/{id}/receipt: the receipts of all that happened to a proposal.
func (s *Server) proposalReceipt(c echo.Context) error {
	return s.receipts(c, func(id string) (entry, proposal string) { return "", id })
}

func (s *Server) receipts(c echo.Context, which func(id string) (entry, proposal string)) error {
	by, ctx := actor(c), c.Request().Context()
	id, err := pathID(c)
	if err != nil {
		return err
	}
	if err := mayExport(by); err != nil {
		return err
	}
	key, err := s.AuditKey()
	if err != nil {
		return err
	}
	if _, err := s.DB.Seal(ctx, by.Clinic); err != nil {
		return err
	}
	var texts []string
	entry, proposal := which(id)
	err = s.DB.InClinic(ctx, by.Clinic, func(t *db.Tx) error {
		texts = nil
		all, err := t.Receipts(ctx, key, entry, proposal)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return refusal.New(refusal.NotFound)
		}
		for _, r := range all {
			texts = append(texts, r.Text())
		}
		e := s.readEvent(t, by, audit.TakeReceipt, "entry", entry, 0, "")
		if proposal != "" {
			e.ObjectKind, e.Object, e.Proposal = "proposal", proposal, proposal
		}
		return t.Audit(ctx, e)
	})
	if err != nil {
		return err
	}
	return text(c, "receipt-"+id+".txt", strings.Join(texts, "\n\n"))
}

// text answers with a file of plain text.
func text(c echo.Context, name, body string) error {
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(body))
}

func isUnsupported(err error) bool { return errors.Is(err, http.ErrNotSupported) }
