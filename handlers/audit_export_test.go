package handlers

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/internal/audit"
)

func (s *deskSite) fileFindings(t *testing.T, file string) (out audit.FileReport, found []string) {
	t.Helper()
	key, err := s.deps.AuditKey()
	if err != nil {
		t.Fatal(err)
	}
	out, err = audit.VerifyFile(bytes.NewReader([]byte(file)), []string{key.Public}, nil, func(f audit.Finding) { found = append(found, f.Words) })
	if err != nil {
		found = append(found, err.Error())
	}
	return out, found
}

// An admin takes the trail out, whole or filtered, in each format, and the file proves itself; that it left is written
// down. Nobody else takes it.
func TestTheTrailIsExported(t *testing.T) {
	s := newDeskSite(t)
	card := s.confirmedMove(t).ID
	ada := s.as("ada")
	for _, format := range []string{"csv", "ndjson", "fhir"} {
		before := s.looked(audit.ExportAudit)
		whole := ada.get("/audit/export?format=" + format)
		out, found := s.fileFindings(t, whole.body)
		if whole.status != http.StatusOK || len(found) > 0 || !out.Whole || out.Seen < 4 {
			t.Errorf("%s: %d, %d entries, %v", format, whole.status, out.Seen, found)
		}
		if h := whole.header; h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Content-Disposition"), "attachment; filename=\"audit-hav-") {
			t.Errorf("%s: %v", format, h)
		}
		part := ada.get("/audit/export?action=proposal.confirm&outcome=success&format=" + format)
		if out, found := s.fileFindings(t, part.body); len(found) > 0 || out.Whole || out.Seen != 1 || out.Filter != "action=proposal.confirm&outcome=success" {
			t.Errorf("%s, a part: %+v %v", format, out, found)
		}
		if after := s.looked(audit.ExportAudit); after != plus(before, 4) {
			t.Errorf("%s: written down %s, then %s", format, before, after)
		}
		if strings.Contains(whole.body, "Jensen") {
			t.Error(format, "names the patient")
		}
	}
	if got := s.Text(`SELECT count(*) FROM audit WHERE action = 'audit.export' AND code = 'ended' AND version = 1 AND object = 'csv'`); got != "1" {
		t.Error("the number of entries that left:", got)
	}
	for _, person := range []string{"ana", "ben"} {
		b := s.as(person)
		for _, path := range []string{"/audit/export?format=csv", "/proposals/" + card + "/receipt"} {
			if a := b.get(path); a.status != http.StatusForbidden || strings.Contains(a.body, "countersign.chain") {
				t.Errorf("%s %s: %d", person, path, a.status)
			}
		}
		if a := b.post("/audit/checkpoint", url.Values{}); a.status != http.StatusForbidden {
			t.Errorf("%s takes a checkpoint: %d", person, a.status)
		}
		if strings.Contains(b.get("/audit").body, "/audit/export") {
			t.Error(person, "is offered what is refused")
		}
	}
	for _, bad := range []string{"", "?format=xlsx", "?format=csv&cursor=x", "?format=csv&nonsense=1", "?format=csv&from=soon"} {
		if a := ada.get("/audit/export" + bad); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", bad, a.status)
		}
	}
	page := ada.get("/audit?action=proposal.confirm")
	page.says(t, "Take a checkpoint", "countersign+")
	if !strings.Contains(page.body, "/audit/export?format=csv&amp;action=proposal.confirm") {
		t.Error("the export does not keep the filters")
	}
}

// A checkpoint and receipts leave as text, and check without this server.
func TestCheckpointAndReceiptsLeaveAsText(t *testing.T) {
	s := newDeskSite(t)
	card := s.confirmedMove(t).ID
	key, err := s.deps.AuditKey()
	if err != nil {
		t.Fatal(err)
	}
	ada := s.as("ada")
	a := ada.post("/audit/checkpoint", url.Values{})
	point, err := audit.OpenCheckpoint(a.body, key.Public)
	if a.status != http.StatusOK || err != nil || point.Clinic != "hav" || !strings.Contains(a.header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v %q", a.status, err, a.body)
	}
	a = ada.get("/proposals/" + card + "/receipt")
	all, err := audit.VerifyReceipts(a.body, key.Public)
	if a.status != http.StatusOK || err != nil || len(all) < 3 || !strings.Contains(a.body, "proposal.confirm") {
		t.Fatalf("%d %v %d receipts", a.status, err, len(all))
	}
	id := s.Text(`SELECT id FROM audit WHERE action = 'proposal.confirm' AND outcome = 'success'`)
	a = ada.get("/audit/" + id + "/receipt")
	if all, err = audit.VerifyReceipts(a.body, key.Public); err != nil || len(all) != 1 {
		t.Fatal(a.status, err, len(all))
	}
	for _, path := range []string{"/audit/aud_nothing/receipt", "/proposals/p_nothing/receipt"} {
		if a := ada.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}
