package architecture

import (
	"strings"
	"testing"
)

// A rule that finds nothing wrong is believed only because it finds what is planted here.
func TestTheRulesFindWhatIsPlanted(t *testing.T) {
	body := func(imports string, rest ...string) string {
		return "package x\n\nimport (\n" + imports + ")\n" + strings.Join(rest, "\n") + "\n"
	}
	for _, c := range []struct {
		rule, path, text string
		wrong            int
	}{
		{"arrows", "internal/proposal/x.go", body(`"github.com/labstack/echo/v4"` + "\n" + `"database/sql"` + "\n" + `"net/http"` + "\n" + `"countersign/db"` + "\n" + `"countersign/views"` + "\n"), 5},
		{"arrows", "internal/ehr/x.go", body(`"net/http"` + "\n" + `"countersign/internal/outbox"` + "\n"), 0},
		{"arrows", "internal/ehr/x.go", body(`"github.com/lib/pq"` + "\n"), 1},
		{"arrows", "internal/clinic/x.go", body(`"countersign/internal/proposal"` + "\n"), 1},
		{"arrows", "internal/outbox/x.go", body(`"net/smtp"` + "\n" + `"countersign/internal/proposal"` + "\n" + `"countersign/internal/ehr"` + "\n" + `"countersign/internal/clinic"` + "\n"), 2},
		{"arrows", "handlers/x.go", body(`"github.com/jmoiron/sqlx"` + "\n" + `"countersign/db"` + "\n" + `"countersign/migrations"` + "\n"), 2},
		{"arrows", "views/x.go", body(`"countersign/db"` + "\n" + `"countersign/handlers"` + "\n" + `"countersign/internal/clinic"` + "\n"), 2},
		{"arrows", "db/x.go", body(`"countersign/handlers"` + "\n" + `"countersign/migrations"` + "\n" + `"github.com/jmoiron/sqlx"` + "\n"), 1},
		{"arrows", "cmd/countersign/x.go", body(`"countersign/db"` + "\n" + `"countersign/handlers"` + "\n"), 0},
		{"arrows", "pkg/x.go", body(`"fmt"` + "\n"), 1},
		{"arrows", "internal/proposal/x_test.go", body(`"countersign/db/desktest"` + "\n"), 0},
		{"long", "db/x.go", body("", strings.Repeat("//\n", 400)), 1},
		{"long", "views/x_templ.go", body("", strings.Repeat("//\n", 400)), 0},
		{"long", "views/x.templ", strings.Repeat("x\n", 400), 1},
		{"names", "internal/utils/x.go", body(""), 1},
		{"names", "handlers/helpers.go", body(""), 1},
		{"names", "handlers/common_test.go", body(""), 1},
		{"init", "db/x.go", body("", "func init() {}"), 1},
		{"init", "db/x.go", body("", "type t int", "func (t) init() {}"), 0},
		{"raw", "views/x.templ", "@templ.Raw(note)\n<a href={ templ.SafeURL(u) }>", 2},
		{"raw", "views/x.go", body("", "var x = templ.JSUnsafeFuncCall(y)"), 1},
		{"sql", "handlers/x.go", body("", "var q = `\n  SELECT id FROM patients`", `var w = "INSERT INTO audit VALUES (1)"`), 2},
		{"sql", "internal/proposal/x.go", body("", `var q = "UPDATE slots SET version = 1"`), 1},
		{"sql", "handlers/x.go", body("", `var words = "Select a time. Update the form."`), 0},
		{"sql", "db/x.go", body("", `var q = "SELECT id FROM patients"`), 0},
		{"star", "db/x.go", body("", "var q = `SELECT p.* FROM patients p`", `var n = "SELECT count(*) FROM slots"`), 1},
		{"star", "migrations/9.sql", "CREATE VIEW v AS select * FROM t;", 1},
		{"err", "db/x.go", body("", "func f(r rows) { for r.Next() {} }", "func g(r rows) error { for r.Next() {}; return r.Err() }"), 1},
		{"skip", "db/x_test.go", body("", "func TestX(t *testing.T) { t.Run(x, func(t *testing.T) { t.SkipNow() }); func() { t.Skip() }() }"), 2},
		{"skip", "db/x_test.go", body("", "func TestX(t *testing.T) { rapid.Check(t, func(t *rapid.T) { t.Skip() }) }"), 0},
	} {
		f, err := parsed(c.path, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		if got := rules[c.rule](f); len(got) != c.wrong {
			t.Errorf("%s on %s: %d found, %d planted: %v\n%s", c.rule, c.path, len(got), c.wrong, got, c.text)
		}
	}
}
