#!/bin/sh
# check.sh looks at the code without running it. It runs every check, then fails if one has.
set -u
cd "$(dirname "$0")/.."
failed=

# check NAME COMMAND... passes when the command does and says nothing worth reading.
check() {
    name=$1
    shift
    if out=$("$@" 2>&1); then
        echo "ok      $name"
    else
        printf 'FAILED  %s\n%s\n' "$name" "$out"
        failed=yes
    fi
}

# git status sees new files too, which git diff does not.
generated() {
    go tool templ generate || return 1
    changed=$(git status --porcelain -- '*_templ.go')
    [ -z "$changed" ] || { printf 'commit these, generated from the templ files:\n%s\n' "$changed"; return 1; }
}

formatted() {
    untidy=$(git ls-files -z -- '*.go' | xargs -0 gofmt -l) || return 1
    [ -z "$untidy" ] || { printf 'gofmt -w these:\n%s\n' "$untidy"; return 1; }
}

check 'templ generate' generated
check 'gofmt' formatted
check 'go vet' go vet ./...
check 'staticcheck' go tool staticcheck ./...

# Its database is fetched at each run: without a network the check has not been made, which is no failure of the code.
out=$(go tool govulncheck ./... 2>&1)
status=$?
case "$status $out" in
0*) echo 'ok      govulncheck' ;;
*'fetching vulnerabilities'*) echo 'NOT RUN govulncheck: its database cannot be reached from here' ;;
*)
    printf 'FAILED  govulncheck\n%s\n' "$out"
    failed=yes
    ;;
esac

[ -z "$failed" ]
