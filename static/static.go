// Package static holds what browsers load: our css and js, and htmx. Everything is embedded and has a name that
// changes with its content, so that it may be cached for ever.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed countersign.css countersign.js icon.svg vendor/htmx-4.0.1.min.js
var files embed.FS

// Names of the embedded files, for URL.
const (
	CSS  = "countersign.css"
	JS   = "countersign.js"
	Icon = "icon.svg"
	HTMX = "vendor/htmx-4.0.1.min.js"
)

var versions = func() map[string]string {
	v := map[string]string{}
	for _, name := range []string{CSS, JS, Icon, HTMX} {
		content, err := files.ReadFile(name)
		if err != nil {
			panic("static: " + err.Error()) // the embed directive above names it
		}
		sum := sha256.Sum256(content)
		v[name] = hex.EncodeToString(sum[:6])
	}
	return v
}()

// URL is the path of an embedded file with its content's version.
func URL(name string) string { return "/static/" + name + "?v=" + versions[name] }

// Handler serves /static/: the files, and hours.css with its parameters. Only a request for the current version may be
// cached for ever.
func Handler() http.Handler {
	return http.StripPrefix("/static/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Path == "hours.css" {
			serveHours(w, r)
			return
		}
		version, known := versions[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		content, err := fs.ReadFile(files, r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", types[path.Ext(r.URL.Path)])
		cache := "no-cache"
		if r.URL.Query().Get("v") == version {
			cache = "public, max-age=31536000, immutable"
		}
		w.Header().Set("Cache-Control", cache)
		w.Header().Set("ETag", `"`+version+`"`)
		if strings.Contains(r.Header.Get("If-None-Match"), `"`+version+`"`) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(content) // a reader that went away is no error of ours
	}))
}

var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
