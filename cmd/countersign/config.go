package main

import (
	"flag"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/internal/account"
	"countersign/internal/proposal"
)

// config is every setting there is. Each is a flag and a COUNTERSIGN_* variable of the same name.
type config struct {
	databaseURL, dataDir string

	addr           string
	demo           bool
	metricsAddr    string
	sessionIdle    time.Duration
	proposalTTL    time.Duration // 0 = the product's deadlines
	proposalLimits proposal.Limits
	trustedProxies []netip.Prefix

	llmURL, llmModel, llmKey string // "" = words are read by the built-in grammar alone

	url, token string // of mcp

	smtpURL, mailFrom               string
	smsWebhookURL, smsWebhookSecret string

	ehrURL, ehrConnections string // "" = this desk's book is the only one
	ehrTimeout, ehrSettle  time.Duration
}

func (c *config) databaseFlags(f *flag.FlagSet) {
	f.StringVar(&c.databaseURL, "database-url", "", "PostgreSQL `URL`; without one a private server is run in the data directory")
	f.StringVar(&c.dataDir, "data-dir", "./.data", "`directory` of the private PostgreSQL")
}

func (c *config) serveFlags(f *flag.FlagSet) {
	f.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 picks a free one")
	f.BoolVar(&c.demo, "demo", false, "fill an empty database and let the demo's accounts and tokens work; only on a loopback address")
	f.StringVar(&c.metricsAddr, "metrics-addr", "", "`address` of the Prometheus listener; none without it")
	c.sessionIdle = account.DefaultRules.Idle
	f.Var((*duration)(&c.sessionIdle), "session-idle", "a session ends when unused for this `time`")
	f.Func("trusted-proxies", "address `ranges` (CIDR, comma between) of proxies that may say whose request it is", c.setProxies)
	c.workFlags(f)
}

// workFlags are of serve and work: both run the background workers.
func (c *config) workFlags(f *flag.FlagSet) {
	f.Var((*duration)(&c.proposalTTL), "proposal-ttl", "`time` to decide a proposal (default 15m, 4h for high and critical risk)")
	c.proposalLimits = proposal.DefaultLimits
	f.Var((*limits)(&c.proposalLimits), "proposal-limits", "most proposals in ten minutes by one `agent,person,clinic`; 0 is no limit")

	f.StringVar(&c.smtpURL, "smtp-url", "", "`URL` of the mail server, smtp://user:password@host:587 or smtps://; e-mails wait without one")
	f.StringVar(&c.mailFrom, "mail-from", proposal.MailFrom, "`address` that e-mails come from, also in their calendar entries")
	f.StringVar(&c.smsWebhookURL, "sms-webhook-url", "", "`URL` of the gateway that sends SMS; they wait without one")
	f.StringVar(&c.smsWebhookSecret, "sms-webhook-secret", "", "`secret` that signs what goes to and comes from the gateway; without one a file sms-webhook-secret is made in the data directory")

	c.ehrFlags(f)
	f.StringVar(&c.llmURL, "llm-url", "", "base `URL` of an OpenAI-compatible chat API that helps the assistant to understand; none without it")
	f.StringVar(&c.llmModel, "llm-model", "", "`name` of the language model")
	f.StringVar(&c.llmKey, "llm-key", "", "`key` of that API; better given as a variable")
}

// ehrFlags say which clinic's visits are kept in an EHR too, and how it is reached.
func (c *config) ehrFlags(f *flag.FlagSet) {
	f.StringVar(&c.ehrURL, "ehr-url", "", "FHIR R4 base `URL` of the clinics' EHR; without one this desk's book is the only one")
	f.StringVar(&c.ehrConnections, "ehr-connections", "", "`file` that names the EHR of single clinics (JSON; see docs/ehr.md)")
	f.Var((*duration)(&c.ehrTimeout), "ehr-timeout", "`time` that the EHR has to begin an answer (default 20s)")
	f.Var((*duration)(&c.ehrSettle), "ehr-settle", "`time` in which finding nothing in the EHR proves nothing (default 2m)")
}

func (c *config) mcpFlags(f *flag.FlagSet) {
	f.StringVar(&c.url, "url", "http://127.0.0.1:8080", "`address` of the running server")
	f.StringVar(&c.token, "token", "", "the agent's `token`; as COUNTERSIGN_TOKEN it stands in no list of processes")
}

func (c *config) setProxies(list string) error {
	for _, one := range strings.Split(list, ",") {
		p, err := netip.ParsePrefix(strings.TrimSpace(one))
		if err != nil {
			return fmt.Errorf("not an address range")
		}
		c.trustedProxies = append(c.trustedProxies, p)
	}
	return nil
}

// duration is Go's ("90s", "4h"), or a number of seconds; more than zero.
type duration time.Duration

func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if n, bad := strconv.Atoi(s); bad == nil {
		v, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || v <= 0 {
		return fmt.Errorf("not a time such as 90s or 4h")
	}
	*d = duration(v)
	return nil
}

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// limits are three numbers: by one agent, for one person, in one clinic.
type limits proposal.Limits

func (l *limits) Set(s string) error {
	parts := strings.Split(s, ",")
	if len(parts) != 3 {
		return fmt.Errorf("not three numbers such as 30,1000,5000")
	}
	for i, to := range []*int{&l.Agent, &l.Person, &l.Clinic} {
		n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil || n < 0 {
			return fmt.Errorf("not three numbers such as 30,1000,5000")
		}
		*to = n
	}
	return nil
}

func (l *limits) String() string { return fmt.Sprintf("%d,%d,%d", l.Agent, l.Person, l.Clinic) }

const envPrefix = "COUNTERSIGN_"

func envName(flagName string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// parse reads the flags and, where a flag was not given, its variable. It says itself what is wrong: errUsage, or
// flag.ErrHelp.
func (p *program) parse(f *flag.FlagSet, args []string) error {
	words, err := p.parseWithFiles(f, args)
	if err == nil && len(words) > 0 {
		return p.wrong("%s takes no further words, and got %q", f.Name(), words[0])
	}
	return err
}

// parseWithFiles is parse for a command that takes further words, and gives them.
func (p *program) parseWithFiles(f *flag.FlagSet, args []string) (words []string, err error) {
	f.SetOutput(p.stderr)
	known := map[string]string{} // variable to flag, of all commands
	all := flag.NewFlagSet("", flag.ContinueOnError)
	var unused config
	unused.databaseFlags(all)
	unused.serveFlags(all)
	unused.mcpFlags(all)
	all.VisitAll(func(fl *flag.Flag) { known[envName(fl.Name)] = fl.Name })

	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil, err
		}
		return nil, errUsage
	}
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	for _, entry := range p.environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		flagName, ok := known[name]
		if !ok {
			return nil, p.wrong("unknown variable %s; known are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if value == "" || given[flagName] || f.Lookup(flagName) == nil {
			continue
		}
		given[flagName] = true
		if err := f.Set(flagName, value); err != nil {
			return nil, p.wrong("%s: %v", name, err) // its value may be a secret
		}
	}
	if url := p.getenv("DATABASE_URL"); url != "" && f.Lookup("database-url") != nil && !given["database-url"] {
		return f.Args(), f.Set("database-url", url)
	}
	return f.Args(), nil
}

func (p *program) getenv(name string) string {
	for _, entry := range p.environ {
		if n, value, _ := strings.Cut(entry, "="); n == name {
			return value
		}
	}
	return ""
}

func (p *program) wrong(format string, args ...any) error {
	fmt.Fprintf(p.stderr, "countersign: "+format+"\n", args...)
	return errUsage
}

// isLoopback reports whether only this machine can reach the address.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
