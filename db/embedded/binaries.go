//go:build unix

package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the oldest major version the migrations are meant for.
const oldestMajor = 14

// extensions are what the migrations create; Debian calls their package contrib.
var extensions = []string{"btree_gist", "pg_trgm"}

// installedIn are the folders packages put the binaries in, none of them on PATH.
var installedIn = []string{
	"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
	"/usr/pgsql-*/bin",          // Red Hat, from postgresql.org
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// binaries is a folder that holds initdb and postgres, of one major version.
type binaries struct {
	dir   string
	major int
}

func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }

// canEnter tells whether the account can make dir its working folder, by doing it: mode bits are not the whole truth.
func (b binaries) canEnter(acct account, dir string) bool {
	return acct.command(dir, b.program("postgres"), "--version").Run() == nil
}

// findBinaries looks in PG_BIN (then nowhere else), on PATH, where packages install, and in the npm package, and
// takes the first place that fits; among installed packages the highest version. major 0 takes any version.
func findBinaries(ctx context.Context, acct account, major int, log *slog.Logger) (binaries, error) {
	var refused []string
	try := func(dirs ...string) (binaries, bool) {
		var fitting []binaries
		for _, dir := range dirs {
			b, err := inspect(dir, acct)
			switch {
			case err != nil:
				refused = append(refused, fmt.Sprintf("%s: %v", dir, err))
			case major != 0 && b.major != major:
				refused = append(refused, fmt.Sprintf("%s: version %d", dir, b.major))
			default:
				fitting = append(fitting, b)
			}
		}
		if len(fitting) == 0 {
			return binaries{}, false
		}
		return slices.MaxFunc(fitting, func(a, b binaries) int { return cmp.Compare(a.major, b.major) }), true
	}

	if dir := os.Getenv("PG_BIN"); dir != "" {
		if b, ok := try(dir); ok {
			return b, nil
		}
		return binaries{}, fmt.Errorf("PG_BIN does not serve: %w", notFound(major, refused))
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if b, ok := try(besideProgram(initdb)); ok {
			return b, nil
		}
	}
	var installed []string
	for _, pattern := range installedIn {
		found, _ := filepath.Glob(pattern) // errs only on a bad pattern
		installed = append(installed, found...)
	}
	if b, ok := try(installed...); ok {
		return b, nil
	}
	if major == 0 || major == npmMajor {
		dir, err := npmBinaries(ctx, log)
		if err != nil {
			refused = append(refused, "npm: "+err.Error())
		} else if b, ok := try(dir); ok {
			return b, nil
		}
	}
	return binaries{}, notFound(major, refused)
}

// besideProgram is the folder that initdb really lies in: on PATH there may be a link to it alone.
func besideProgram(initdb string) string {
	if real, err := filepath.EvalSymlinks(initdb); err == nil {
		if _, err := os.Stat(filepath.Join(filepath.Dir(real), "postgres")); err == nil {
			return filepath.Dir(real)
		}
	}
	return filepath.Dir(initdb)
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect runs the binaries in dir as the account that will, and looks for the extensions.
func inspect(dir string, acct account) (binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return binaries{}, err
	}
	b := binaries{dir: dir}
	for _, program := range []string{"initdb", "postgres"} {
		out, err := acct.command("/", b.program(program), "--version").Output()
		if err != nil {
			return binaries{}, fmt.Errorf("the account %s cannot run %s: %w", acct.name, program, err)
		}
		m := versionText.FindSubmatch(out)
		if m == nil {
			return binaries{}, fmt.Errorf("%s --version says %q", program, strings.TrimSpace(string(out)))
		}
		if b.major, err = strconv.Atoi(string(m[1])); err != nil {
			return binaries{}, err
		}
	}
	if b.major < oldestMajor {
		return binaries{}, fmt.Errorf("version %d is older than %d", b.major, oldestMajor)
	}
	if missing := b.missingExtensions(acct); len(missing) > 0 {
		return binaries{}, fmt.Errorf("the extensions %s are not installed (package postgresql-contrib)", strings.Join(missing, ", "))
	}
	return b, nil
}

// missingExtensions is empty also when the folder of extensions is not known: then CREATE EXTENSION will tell.
func (b binaries) missingExtensions(acct account) []string {
	shares := []string{filepath.Join(b.dir, "../share/postgresql"), filepath.Join(b.dir, "../share")}
	if out, err := acct.command("/", b.program("pg_config"), "--sharedir").Output(); err == nil {
		shares = []string{strings.TrimSpace(string(out))}
	}
	for _, share := range shares {
		folder := filepath.Join(share, "extension")
		if _, err := os.Stat(folder); err != nil {
			continue
		}
		var missing []string
		for _, name := range extensions {
			if _, err := os.Stat(filepath.Join(folder, name+".control")); err != nil {
				missing = append(missing, name)
			}
		}
		return missing
	}
	return nil
}

// ErrNoBinaries means that no usable PostgreSQL is installed; the text around it says what to install.
var ErrNoBinaries = errors.New("no usable PostgreSQL found")

func notFound(major int, refused []string) error {
	want := fmt.Sprintf("initdb and postgres, version %d or later, with %s", oldestMajor, strings.Join(extensions, " and "))
	version := ""
	if major != 0 {
		want = fmt.Sprintf("version %d, which made this data directory; it is left as it is", major)
		version = "-" + strconv.Itoa(major)
	}
	text := "wanted: " + want
	if len(refused) > 0 {
		text += "; looked at " + strings.Join(refused, "; ")
	}
	return fmt.Errorf("%w (%s). Install it with `%s`, or set PG_BIN to the folder that holds initdb", ErrNoBinaries, text, installCommand(version))
}

// installCommand is what a person would type here. version is "" or "-15".
func installCommand(version string) string {
	commands := []string{
		"apt-get install postgresql" + version + " postgresql-contrib",
		"dnf install postgresql-server postgresql-contrib",
		"apk add postgresql postgresql-contrib",
		"brew install postgresql@" + cmp.Or(strings.TrimPrefix(version, "-"), "17"),
	}
	for _, command := range commands {
		manager, _, _ := strings.Cut(command, " ")
		if _, err := exec.LookPath(manager); err == nil {
			return command
		}
	}
	return commands[0]
}
