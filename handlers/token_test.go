package handlers

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"countersign/internal/account"
)

func TestWhomATokenActsFor(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	for token, want := range map[string]map[string]any{
		"demo-staff":     {"id": "acc_staff-demo-test", "kind": "user", "decides": true, "for": "", "clinic": "Havnegade", "role": "staff"},
		"demo-reviewer2": {"id": "acc_reviewer2-demo-test", "kind": "user", "decides": true, "for": "", "clinic": "Havnegade", "role": "reviewer"},
		"demo-admin":     {"id": "acc_admin-demo-test", "kind": "user", "decides": true, "for": "", "clinic": "Havnegade", "role": "admin"},
		"demo-lakeview":  {"id": "acc_staff-lakeview-test", "kind": "user", "decides": true, "for": "", "clinic": "Lakeview", "role": "staff"},
	} {
		a := s.browser().get("/api/v1/test/who", "Authorization", "Bearer "+token)
		var got map[string]any
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d %s", token, a.status, a.body)
		}
	}
	a := s.browser().get("/api/v1/test/who", "Authorization", "bearer demo-agent")
	var agent map[string]any
	if err := json.Unmarshal([]byte(a.body), &agent); err != nil {
		t.Fatal(err)
	}
	if agent["kind"] != "agent" || agent["decides"] != false || agent["for"] != "acc_staff-demo-test" || !strings.HasPrefix(agent["id"].(string), "tok_") {
		t.Errorf("the agent: %s", a.body)
	}
}

func TestTokensThatDoNotWork(t *testing.T) {
	s := newSite(t, siteOptions{routes: desk})
	cookie := plainCookie + "=" + s.signedIn("staff@demo.test").cookie()
	undecided, err := s.deps.Accounts.AddToken(t.Context(), "staff@demo.test", account.Token{Kind: "user"})
	if err != nil {
		t.Fatal(err)
	}
	for name, headers := range map[string][]string{
		"none":           nil,
		"a cookie":       {"Cookie", cookie},
		"unknown":        {"Authorization", "Bearer demo-nobody"},
		"empty":          {"Authorization", "Bearer "},
		"another scheme": {"Authorization", "Basic demo-staff"},
		"too long":       {"Authorization", "Bearer " + strings.Repeat("x", 5000)},
		"in the query":   {"X-Token", "demo-staff"},
	} {
		a := s.browser().get("/api/v1/test/who?token=demo-staff", headers...)
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" || !strings.Contains(a.body, `"retry":"same-key"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := s.browser().get("/api/v1/test/who", "Authorization", "Bearer "+undecided); !strings.Contains(a.body, `"decides":false`) {
		t.Errorf("a token without --decide: %s", a.body)
	}
	s.sql(`UPDATE tokens SET revoked_at = now() WHERE name = 'demo-staff2'`)
	if a := s.browser().get("/api/v1/test/who", "Authorization", "Bearer demo-staff2"); a.status != http.StatusUnauthorized {
		t.Errorf("revoked: %d", a.status)
	}
	if a := s.browser().get("/test/desk", "Authorization", "Bearer demo-staff"); a.status != http.StatusSeeOther {
		t.Errorf("a token on a page: %d", a.status)
	}
}
