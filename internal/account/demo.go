package account

import (
	"context"
	"strings"

	"countersign/internal/clinic"
)

// DemoPassword is the password of every demo account: public, so those accounts work only in a process with --demo.
const DemoPassword = "countersign-demo"

// DemoAccounts are those of contract section 1, in the two clinics given by id.
func DemoAccounts(havnegade, lakeview string) []Account {
	return []Account{
		{Clinic: havnegade, Email: "staff@demo.test", Name: "Sofie Lind", Role: clinic.RoleStaff},
		{Clinic: havnegade, Email: "staff2@demo.test", Name: "Jonas Friis", Role: clinic.RoleStaff},
		{Clinic: havnegade, Email: "reviewer@demo.test", Name: "Rikke Bach", Role: clinic.RoleReviewer},
		{Clinic: havnegade, Email: "reviewer2@demo.test", Name: "Per Skov", Role: clinic.RoleReviewer},
		{Clinic: havnegade, Email: "admin@demo.test", Name: "Ada Krogh", Role: clinic.RoleAdmin},
		{Clinic: lakeview, Email: "staff@lakeview.test", Name: "Carla Reed", Role: clinic.RoleStaff},
	}
}

// AddDemo makes the demo's accounts and API tokens where they are missing. An account that has the address already,
// and is not a demo's, stays as it is and gets no token.
func (s *Service) AddDemo(ctx context.Context, havnegade, lakeview string) error {
	for _, a := range DemoAccounts(havnegade, lakeview) {
		a.Demo = true
		a.ID = demoID(a.Email)
		there, err := s.store.FindAccount(ctx, a.Email)
		if err != nil {
			return err
		}
		if there == nil {
			if _, err := s.addWith(ctx, a, DemoPassword); err != nil {
				return err
			}
		} else if !there.Demo {
			continue
		} else {
			a = *there
		}
		for _, t := range demoTokens(a) {
			if _, err := s.addToken(ctx, &a, t, t.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// demoTokens have their public secret as their name.
func demoTokens(a Account) []Token {
	name := "demo-" + strings.TrimSuffix(a.Email, "@demo.test")
	if a.Email == "staff@lakeview.test" {
		name = "demo-lakeview"
	}
	tokens := []Token{{Name: name, Kind: clinic.KindUser, Decide: true, Demo: true}}
	if a.Email == "staff@demo.test" {
		tokens = append(tokens, Token{Name: "demo-agent", Kind: clinic.KindAgent, Demo: true})
	}
	return tokens
}

// demoID is readable, since it stands in the demo's audit trail.
func demoID(email string) string {
	return "acc_" + strings.NewReplacer("@", "-", ".", "-").Replace(email)
}
