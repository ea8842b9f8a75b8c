// Command countersign is the desk where appointment changes are proposed, reviewed and executed exactly as reviewed.
// This package reads flags, wires the parts and stops them again; no rule lives here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // a clinic's zone must not depend on the machine

	"countersign/internal/refusal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// program is one call of the command.
type program struct {
	environ        []string
	stdout, stderr io.Writer
}

// errUsage is a call that cannot be understood: exit status 2. What is wrong has been said already.
var errUsage = errors.New("usage")

// run gives the exit status: 0 done, 1 failed, 2 the call or the configuration is wrong or not in this release.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdout: stdout, stderr: stderr}
	err := p.dispatch(ctx, args)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, errNotWhole), errors.Is(err, errNotTaken), errors.Is(err, errNotRead):
		return 1
	default:
		fmt.Fprintln(stderr, "countersign: "+inWords(err))
		return 1
	}
}

func (p *program) dispatch(ctx context.Context, args []string) error {
	var name, sub string
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "serve":
		return p.serve(ctx, args)
	case "work":
		return p.work(ctx, args)
	case "seed":
		return p.seed(ctx, args)
	case "mcp":
		return p.mcp(ctx, args)
	case "import":
		return p.importFiles(ctx, args)
	case "sync":
		return p.sync(ctx, args)
	case "version":
		return p.version()
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.stdout, usage)
		return nil
	}
	if len(args) > 0 {
		sub, args = args[0], args[1:]
	}
	switch name + " " + sub {
	case "migrate up":
		return p.migrateUp(ctx, args)
	case "migrate status":
		return p.migrateStatus(ctx, args)
	case "user add":
		return p.userAdd(ctx, args)
	case "user disable":
		return p.userDisable(ctx, args)
	case "token add":
		return p.tokenAdd(ctx, args)
	case "audit verify":
		return p.auditVerify(ctx, args)
	case "audit checkpoint":
		return p.auditCheckpoint(ctx, args)
	case "audit key":
		return p.auditKeyCommand(args)
	case "audit retain":
		return p.auditRetain(ctx, args)
	case "audit cut":
		return p.auditCut(ctx, args)
	case "receipt verify":
		return p.receiptVerify(args)
	}
	fmt.Fprint(p.stderr, usage)
	return errUsage
}

const usage = `usage: countersign COMMAND [flags]     (countersign COMMAND -h lists the flags)

  serve           the web app, the API and the background workers; --demo for a demo on this machine
  work            the background workers alone, beside any number of servers
  mcp             let an agent on this machine speak to a running server (Model Context Protocol on stdio)
  migrate up      bring the database to this version; migrate status lists what is applied
  seed            fill an empty database with the demo's world
  user add        add a person; prints their password once
  user disable    end a person's sessions and tokens, at once
  token add       add an API token; prints it once
  import          take FHIR bundles or NDJSON into a clinic, each file whole or not at all
  sync            read what changed in a clinic's EHR, once, and list where it and we differ
  audit verify    check the trail, or an exported file without a database; status 0 only when it is whole
  audit checkpoint  sign what the trail is now, to keep elsewhere;  audit key  prints the public key
  audit retain    set for how many years a clinic's trail is kept;  audit cut  removes what is older
  receipt verify  check a receipt from its text alone
  version

Every setting is a flag, or a COUNTERSIGN_* variable of the same name; DATABASE_URL is read too.
`

// inWords is an error for the operator.
func inWords(err error) string {
	r := refusal.Of(err)
	switch {
	case r == nil:
		return err.Error()
	case len(r.Fields) > 0:
		text := ""
		for _, f := range r.Fields {
			text += "\n  " + f.Name + ": " + f.Message
		}
		return "nothing was done" + text
	default:
		return err.Error()
	}
}
