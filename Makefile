# The front door. `make help` lists what there is.
#
# ADDR      where `make run` listens (127.0.0.1:8080; :0 picks a free port)
# DATA_DIR  where `make run` keeps its PostgreSQL (./.data)
# TESTFLAGS further flags of go test, such as TESTFLAGS='-run Confirm -v'
# PKG       the packages that test looks at (./...)
# BENCH     flags of cmd/bench, such as BENCH='-only confirm -clients 8'

ADDR     ?= 127.0.0.1:8080
DATA_DIR ?= ./.data
PKG      ?= ./...
BENCH    ?=

.PHONY: help run build test check bench gallery clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## start the demo: installs PostgreSQL where it can, builds, prints the address
	@sh scripts/need.sh go postgres
	@$(MAKE) --no-print-directory build
	@exec bin/countersign serve --demo --addr $(ADDR) --data-dir $(DATA_DIR)

build: ## build bin/countersign
	@sh scripts/need.sh go
	@[ -x bin/countersign ] || echo 'building; the first time takes a minute or two'
	go build -o bin/countersign ./cmd/countersign

test: ## run every test: installs PostgreSQL, Chromium and Node where it can
	@sh scripts/need.sh go postgres chromium node
	go test -count=1 -timeout 12m $(TESTFLAGS) $(PKG)

check: ## generated code is current, gofmt, go vet, staticcheck, govulncheck
	@sh scripts/need.sh go
	@sh scripts/check.sh

bench: ## measure confirms beside their bare SQL, pages and conversation on seeded data (BENCH='-only confirm'; some 15 minutes)
	@sh scripts/need.sh go postgres
	go run ./cmd/bench $(BENCH)

gallery: ## draw every view in every state into .cache/gallery
	@sh scripts/need.sh go chromium
	go run ./views/gallery/shots

clean: ## remove what was built; the data directory stays
	rm -rf bin .cache
