package proposal

import (
	"slices"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// nobody refuses an account that is gone, disabled or of another clinic: its role, read inside the transaction, is "".
func nobody() error {
	return refusal.New(refusal.PermissionDenied, "This account may not do that any more.")
}

// MayPropose: everybody what concerns visits and patients, except admins; changes of policy admins alone, themselves.
func MayPropose(a clinic.Actor, action string) error {
	admin, policy := a.Role == clinic.RoleAdmin, action == policyName
	switch {
	case a.Role == "":
		return nobody()
	case action == resolveName && (a.Role != clinic.RoleReviewer || a.Kind != clinic.KindUser):
		return refusal.New(refusal.PermissionDenied, "Only a reviewer, in person, may say what the EHR has not said.")
	case policy && (!admin || a.Kind != clinic.KindUser):
		return refusal.New(refusal.PermissionDenied, "Only an admin may propose another policy.")
	case admin && !policy:
		return refusal.New(refusal.PermissionDenied, "Admins do not propose appointment changes. Ask somebody at the front desk.")
	}
	return nil
}

// MayReadPolicy: who decides by it and who sets it.
func MayReadPolicy(a clinic.Actor) error {
	if a.Kind == clinic.KindUser && (a.Role == clinic.RoleAdmin || a.Role == clinic.RoleReviewer) {
		return nil
	}
	return refusal.New(refusal.PermissionDenied, "Only administrators and reviewers look at the policy.")
}

// MayConfirm is the one rule of who decides (contract section 7), for every door. It is asked when a card is drawn and
// again inside the confirming transaction, with the role of that moment.
func MayConfirm(a clinic.Actor, r Record, risk string, secondPerson bool) error {
	if a.Kind == clinic.KindAgent {
		return refusal.New(refusal.ConfirmationNeedsPerson)
	}
	involved := r.Owner == a.Person || slices.Contains(r.Editors, a.Person)
	high := risk == High || risk == Critical
	switch {
	case high && involved:
		return refusal.New(refusal.SelfApprovalForbidden)
	case !a.MayDecide:
		return refusal.New(refusal.PermissionDenied, "This token may not decide. Confirm in the browser, or use a token made with --decide.")
	case a.Role == "":
		return nobody()
	case a.Role == clinic.RoleReviewer:
		return nil
	case a.Role == clinic.RoleAdmin:
		return refusal.New(refusal.PermissionDenied, "Admins do not decide. Ask a reviewer.")
	case risk == High && secondPerson:
		return nil
	case high:
		return refusal.New(refusal.PermissionDenied, "Only a reviewer who neither asked nor edited may decide this.")
	case r.Owner == a.Person:
		return nil
	default:
		return refusal.New(refusal.PermissionDenied, "Only the person who asked, or a reviewer, may decide this.")
	}
}

// MayReject is never harder than confirming: whoever may confirm, and the asker, the person asked for and every editor
// whatever the risk. An agent may only take back its own proposal.
func MayReject(a clinic.Actor, r Record, risk string, secondPerson bool) error {
	if a.Role == "" {
		return nobody()
	}
	if a.Kind == clinic.KindAgent {
		if r.CreatedBy.ID == a.Agent {
			return nil
		}
		return refusal.New(refusal.PermissionDenied, "An agent may only take back its own proposal.")
	}
	if a.MayDecide && worksOn(a, r) && (r.Owner == a.Person || slices.Contains(r.Editors, a.Person)) {
		return nil
	}
	return MayConfirm(a, r, risk, secondPerson)
}

// MayRevise: the asker, the person asked for, any reviewer; an agent only its own.
func MayRevise(a clinic.Actor, r Record) error {
	switch {
	case a.Role == "":
		return nobody()
	case a.Kind == clinic.KindAgent && r.CreatedBy.ID == a.Agent,
		a.Kind != clinic.KindAgent && a.Role == clinic.RoleReviewer,
		a.Kind != clinic.KindAgent && worksOn(a, r) && r.Owner == a.Person:
		return nil
	default:
		return refusal.New(refusal.PermissionDenied, "Only the person who asked, or a reviewer, may edit this.")
	}
}

// worksOn: admins have to do with policy and with nothing else.
func worksOn(a clinic.Actor, r Record) bool {
	return a.Role != clinic.RoleAdmin || r.Action == policyName
}
