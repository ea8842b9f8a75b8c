// Package gallery draws every page in every state from fixtures, for the eye, for screenshots and for the tests that
// look at real HTML. Names and numbers in it are invented.
package gallery

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"countersign/static"
	"countersign/views"
)

// Item is one page in one state. Fragment items are drawn inside a page only for looking at.
type Item struct {
	Name      string
	Component templ.Component
	Fragment  bool
	// Refused is true for states that answer 403, 409 or 410: none of them may hold a live Confirm.
	Refused bool
}

// Items gives all of them, in a fixed order.
func Items() []Item {
	var out []Item
	for _, part := range [][]Item{signIns(), days(), people(), patientForms(), proposes(), cards(), patientCards(), talks(), lists(), operations(), evidences(), bulks(), errors()} {
		out = append(out, part...)
	}
	return out
}

// policy is the content security policy that the pages are made for.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves the gallery for developers: / lists, /NAME draws, under the policy of the real pages.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-store")
		name := strings.TrimPrefix(r.URL.Path, "/")
		for _, item := range Items() {
			if item.Name == name {
				templ.Handler(item.Component).ServeHTTP(w, r)
				return
			}
		}
		if name != "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_ = index(Items()).Render(context.Background(), w) // a reader that went away is no error of ours
	})
	return mux
}

const (
	copenhagen = "Europe/Copenhagen"
	newYork    = "America/New_York"
	kona       = "Pacific/Honolulu"
)

// now is Wednesday 21 October 2026, 11:16 in Copenhagen: four days before the clocks go back.
var now = time.Date(2026, 10, 21, 9, 16, 20, 0, time.UTC)

// at is a wall time of these days in Copenhagen, which is UTC+2 until 25 October.
func at(day, hour, minute int) time.Time { return wall(copenhagen, 2026, 10, day, hour, minute) }

func wall(zone string, year int, month time.Month, day, hour, minute int) time.Time {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic("gallery: " + err.Error())
	}
	return time.Date(year, month, day, hour, minute, 0, 0, loc).UTC()
}

func shell(nav string) views.Shell {
	return views.Shell{Clinic: "Havnegade clinic", Person: "Ida Skov", Role: "staff", Nav: nav, Waiting: 19, Now: now, Zone: copenhagen}
}

func reviewer(nav string) views.Shell {
	s := shell(nav)
	s.Person, s.Role = "Jonas Friis", "reviewer"
	return s
}

func fragment(s views.Shell) views.Shell {
	s.HTMX = true
	return s
}

func flashed(s views.Shell, kind, text string) views.Shell {
	s.Flash = views.Flash{Kind: kind, Text: text}
	return s
}

func ptr[T any](v T) *T { return &v }

// People of the gallery.
var (
	maria91 = views.Person{ID: "p100871", Name: "Maria Jensen", BirthDate: "1991-07-02", MRN: "100871"}
	maria84 = views.Person{ID: "p100234", Name: "Maria Jensen", BirthDate: "1984-03-11", MRN: "100234"}
	soren   = views.Person{ID: "p100300", Name: "Søren Łukasz Groß", BirthDate: "1970-02-28", MRN: "100300"}
	aoife   = views.Person{ID: "p100411", Name: "Aoife O'Brien-Núñez", BirthDate: "2008-02-29", MRN: "100411"}
	anna1   = views.Person{ID: "p200001", Name: "Anna Nielsen", BirthDate: "1990-01-01", MRN: "200001"}
	anna2   = views.Person{ID: "p200002", Name: "Anna Nielsen", BirthDate: "1990-01-01", MRN: "200002"}
	longest = views.Person{ID: "p777001", Name: "Maximiliane-Henriette Freifrau von Württemberg-Hohenlohe-Langenburg Świętopełk-Czetwertyńska", BirthDate: "1948-12-31", MRN: "777001"}
)

func named(id, name string) views.Person {
	return views.Person{ID: id, Name: name, BirthDate: "1975-05-17", MRN: strings.TrimPrefix(id, "p")}
}
