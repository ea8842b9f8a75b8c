package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"

	"countersign/db"
	"countersign/internal/account"
)

// userAdd adds a person and prints their password: the only line on standard output.
func (p *program) userAdd(ctx context.Context, args []string) error {
	var clinicName string
	var a account.Account
	return p.withAccounts(ctx, "user add", args, func(f *flag.FlagSet) {
		f.StringVar(&clinicName, "clinic", "", "the clinic's `name`")
		f.StringVar(&a.Email, "email", "", "`address` to sign in with")
		f.StringVar(&a.Name, "name", "", "the person's `name`")
		f.StringVar(&a.Role, "role", "", "staff, reviewer or admin")
	}, func(d *db.DB, accounts *account.Service) (err error) {
		if a.Clinic, err = d.ClinicByName(ctx, clinicName); err != nil {
			return fmt.Errorf("no clinic %q: %w", clinicName, err)
		}
		password, err := accounts.Add(ctx, a)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, password)
		fmt.Fprintln(p.stderr, "added; the password above is shown once")
		return nil
	})
}

// userDisable ends a person's access.
func (p *program) userDisable(ctx context.Context, args []string) error {
	var email string
	return p.withAccounts(ctx, "user disable", args, func(f *flag.FlagSet) {
		f.StringVar(&email, "email", "", "`address` of the account")
	}, func(_ *db.DB, accounts *account.Service) error {
		if err := accounts.Disable(ctx, email); err != nil {
			return fmt.Errorf("no account %q: %w", email, err)
		}
		fmt.Fprintln(p.stderr, "disabled; sessions and tokens stop at their next request")
		return nil
	})
}

// tokenAdd adds a token and prints it: the only line on standard output.
func (p *program) tokenAdd(ctx context.Context, args []string) error {
	var email string
	var t account.Token
	return p.withAccounts(ctx, "token add", args, func(f *flag.FlagSet) {
		f.StringVar(&email, "email", "", "`address` of the account it acts as, or for")
		f.StringVar(&t.Kind, "kind", "", "user (acts as the person) or agent (proposes for the person)")
		f.BoolVar(&t.Decide, "decide", false, "let a user token confirm and reject")
		f.StringVar(&t.Name, "name", "", "`name` shown for it")
	}, func(_ *db.DB, accounts *account.Service) error {
		secret, err := accounts.AddToken(ctx, email, t)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, secret)
		fmt.Fprintln(p.stderr, "added; the token above is shown once")
		return nil
	})
}

func (p *program) withAccounts(ctx context.Context, command string, args []string, flags func(*flag.FlagSet), fn func(*db.DB, *account.Service) error) error {
	var c config
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	c.databaseFlags(f)
	flags(f)
	if err := p.parse(f, args); err != nil {
		return err
	}
	return c.withDatabase(ctx, p.log(), false, func(d *db.DB, _ string) error {
		accounts, err := account.NewService(d, rand.Reader, false, account.DefaultLimits)
		if err != nil {
			return err
		}
		return fn(d, accounts)
	})
}
