package main

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"
	"time"
)

// said runs the command without a database and gives its exit status and what it wrote.
func said(t *testing.T, environ []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	status = run(ctx, args, environ, &out, &log)
	return status, out.String(), log.String()
}

func TestCallsThatCannotBeUnderstood(t *testing.T) {
	for _, c := range []struct {
		environ, args []string
		says          string
	}{
		{nil, nil, "usage:"},
		{nil, []string{"conquer"}, "usage:"},
		{nil, []string{"migrate"}, "usage:"},
		{nil, []string{"migrate", "down"}, "usage:"},
		{nil, []string{"serve", "--port", "1"}, "not defined"},
		{nil, []string{"serve", "now"}, "no further words"},
		{nil, []string{"serve", "--demo", "--addr", "0.0.0.0:0"}, "loopback"},
		{nil, []string{"serve", "--demo", "--addr", ":0"}, "loopback"},
		{nil, []string{"serve", "--demo", "--addr", "192.0.2.1:80"}, "loopback"},
		{[]string{"COUNTERSIGN_DEMO=true", "COUNTERSIGN_ADDR=[::]:0"}, []string{"serve"}, "loopback"},
		{[]string{"COUNTERSIGN_PROPOSAL_TTTL=5m"}, []string{"serve"}, "unknown variable COUNTERSIGN_PROPOSAL_TTTL; known are COUNTERSIGN_ADDR"},
		{[]string{"COUNTERSIGN_SIZE=small"}, []string{"seed"}, "unknown variable COUNTERSIGN_SIZE"},
		{[]string{"COUNTERSIGN_PROPOSAL_TTL=soon"}, []string{"serve"}, "COUNTERSIGN_PROPOSAL_TTL"},
		{[]string{"COUNTERSIGN_PROPOSAL_LIMITS=30"}, []string{"serve"}, "three numbers"},
		{nil, []string{"serve", "--proposal-limits", "30,-1,5"}, "three numbers"},
		{[]string{"COUNTERSIGN_SESSION_IDLE=-1s"}, []string{"serve"}, "COUNTERSIGN_SESSION_IDLE"},
		{[]string{"COUNTERSIGN_TRUSTED_PROXIES=everybody"}, []string{"serve"}, "COUNTERSIGN_TRUSTED_PROXIES"},
		{nil, []string{"seed", "--size", "huge"}, "small, medium or large"},
		{nil, []string{"import", "file"}, "needs --clinic"},
		{nil, []string{"import", "--clinic", "x"}, "at least one file"},
		{nil, []string{"import", "--clinic", "x", "--zone", "CET", "file"}, "no time zone"},
		{nil, []string{"audit", "look"}, "usage:"},
		{nil, []string{"audit", "retain", "--years", "0"}, "at least 1"},
		{nil, []string{"receipt", "verify"}, "needs a file"},
	} {
		status, stdout, stderr := said(t, c.environ, c.args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v %v: status %d, %q", c.environ, c.args, status, stderr)
		}
	}
	if _, _, stderr := said(t, []string{"COUNTERSIGN_SMTP_URL=smtp://user:secret@host:1", "COUNTERSIGN_DEMO=secret"}, "serve"); strings.Contains(stderr, "secret") {
		t.Errorf("a value is repeated: %q", stderr)
	}
	for _, help := range [][]string{{"help"}, {"version"}, {"serve", "-h"}} {
		if status, _, _ := said(t, nil, help...); status != 0 {
			t.Errorf("%v: status %d", help, status)
		}
	}
}

// The names of contract section 1, typed from it.
func TestEveryVariableOfTheContractIsKnown(t *testing.T) {
	environ := []string{"HOME=/x", "COUNTERSIGN_PROPOSAL_TTL=2s", "COUNTERSIGN_SMTP_URL=smtp://u:p@h:25", "COUNTERSIGN_SMS_WEBHOOK_URL=http://h/",
		"COUNTERSIGN_EHR_URL=http://h/", "COUNTERSIGN_EHR_TIMEOUT=5s", "COUNTERSIGN_EHR_SETTLE=30", "COUNTERSIGN_LLM_URL=http://h/",
		"COUNTERSIGN_LLM_MODEL=m", "COUNTERSIGN_LLM_KEY=k", "COUNTERSIGN_METRICS_ADDR=127.0.0.1:0", "COUNTERSIGN_TOKEN=t", "COUNTERSIGN_URL=http://h/", "COUNTERSIGN_SESSION_IDLE=20m", "DATABASE_URL=postgres://x"}
	c, err := parsed(environ, "--addr", "127.0.0.1:0", "--session-idle", "10m")
	if err != nil {
		t.Fatal(err)
	}
	if c.proposalTTL != 2*time.Second || c.smtpURL == "" || c.smsWebhookURL == "" || c.ehrURL == "" || c.ehrTimeout != 5*time.Second ||
		c.ehrSettle != 30*time.Second || c.llmURL == "" || c.llmModel == "" || c.llmKey == "" || c.metricsAddr == "" || c.databaseURL != "postgres://x" {
		t.Errorf("%+v", c)
	}
	if c.sessionIdle != 10*time.Minute {
		t.Error("a variable wins over a flag")
	}
	if c, err = parsed(append(environ, "COUNTERSIGN_DATABASE_URL=postgres://y")); err != nil || c.databaseURL != "postgres://y" {
		t.Errorf("%v %v", c.databaseURL, err)
	}
	if c, err = parsed(environ, "--database-url", "postgres://z"); err != nil || c.databaseURL != "postgres://z" {
		t.Errorf("%v %v", c.databaseURL, err)
	}
}

func parsed(environ []string, args ...string) (config, error) {
	var c config
	p := &program{environ: environ, stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	c.databaseFlags(f)
	c.serveFlags(f)
	err := p.parse(f, args)
	return c, err
}
