package views

import (
	"strings"

	"countersign/internal/audit"
	"countersign/internal/proposal"
	"countersign/internal/refusal"
)

// Words for codes. A code without words is shown with spaces for underscores: never hidden, never guessed.

func word(words map[string]string, code string) string {
	if w, ok := words[code]; ok {
		return w
	}
	return strings.ReplaceAll(code, "_", " ")
}

// FieldWord is how a form's field is called on the page; one that no page has keeps its name.
func FieldWord(name string) string {
	words := map[string]string{"appointment": "Visit", "patient": "Patient", "practitioner": "Practitioner", "location": "Location", "type": "Type",
		"from": "From date", "starts_at": "Start", "notify": "Tell the patient", "message": "Message", "reason_code": "Why it is cancelled", "reason": "Reason",
		"family": "Family name", "given": "Given names", "birth_date": "Birth date", "mrn": "MRN", "phone": "Phone", "email": "E-mail",
		"contact_preference": "How the patient wants to be told", "channel": "How to send it", "action": "Action", "least_risk": "Risk at least", "people": "People", "confirm_not_duplicate": "Somebody else",
		"to": "Last day", "opens": "From, if only hours", "closes": "To",
		"earliest": "From day", "latest": "Until day", "note": "Note", "items": "Visits",
		"agent": "Agent", "minutes": "Minutes", "most": "Most proposals",
		"operation": "Operation", "resolution": "What is there", "remote_id": "Id of the appointment in the EHR"}
	if w, ok := words[name]; ok {
		return w
	}
	return name
}

// StatusWord names an appointment status (FHIR R4's codes).
func StatusWord(status string) string {
	return word(map[string]string{"booked": "Booked", "arrived": "Arrived", "checked-in": "Checked in", "fulfilled": "Fulfilled",
		"cancelled": "Cancelled", "noshow": "No-show", "waitlist": "Waiting list", "proposed": "Proposed", "pending": "Pending",
		"entered-in-error": "Entered in error"}, status)
}

// statusClass is the css class of a status; unknown ones look booked.
func statusClass(status string) string {
	switch status {
	case "arrived", "fulfilled", "noshow", "cancelled":
		return status
	case "checked-in":
		return "checked"
	}
	return "booked"
}

// RiskWord is "Low" to "Critical".
func RiskWord(risk string) string {
	return word(map[string]string{proposal.Low: "Low", proposal.Medium: "Medium", proposal.High: "High", proposal.Critical: "Critical"}, risk)
}

func riskClass(risk string) string {
	switch risk {
	case proposal.Low, proposal.Medium, proposal.High, proposal.Critical:
		return risk
	}
	return proposal.High
}

// RoleWord is how a role is called on pages.
func RoleWord(role string) string {
	return word(map[string]string{"staff": "front desk", "reviewer": "reviewer", "admin": "administrator"}, role)
}

// Actions of the desk, as forms send them.
const (
	ActionMove   = "reschedule_appointment@1"
	ActionBook   = "book_appointment@1"
	ActionCancel = "cancel_appointment@1"

	ActionRegister = "register_patient@1"
	ActionContact  = "update_contact@1"
	ActionMessage  = "send_message@1"

	ActionBulk = "bulk_change@1"

	ActionResolve = "resolve_operation@1"
)

// ActionWord is the verb of an action: Move, Book, Cancel.
func ActionWord(action string) string {
	name, _, _ := strings.Cut(action, "@")
	return word(map[string]string{"reschedule_appointment": "Move", "book_appointment": "Book", "cancel_appointment": "Cancel",
		"register_patient": "Register", "update_contact": "Change contact", "send_message": "Message", "bulk_change": "Change many",
		"change_policy": "Change policy", "resolve_operation": "Resolve"}, name)
}

// actionName is an action's name in words, without its version.
func actionName(action string) string {
	name, _, _ := strings.Cut(action, "@")
	return strings.ReplaceAll(name, "_", " ")
}

// ReasonCodes are the reasons of a cancellation (contract section 6), in the order they are offered.
func ReasonCodes() []Option {
	return []Option{{Value: "patient_request", Label: "The patient asked"}, {Value: "practitioner_unavailable", Label: "Practitioner not available"},
		{Value: "clinic_closed", Label: "Clinic closed"}, {Value: "booked_in_error", Label: "Booked in error"},
		{Value: "patient_deceased", Label: "The patient has died"}, {Value: "other", Label: "Another reason"}}
}

// ReasonWord names a reason code.
func ReasonWord(code string) string {
	for _, o := range ReasonCodes() {
		if o.Value == code {
			return o.Label
		}
	}
	return word(nil, code)
}

// A change or a cancellation under 24 h before the start.
const (
	LateChangeText       = "Late change"
	LateCancellationText = "Late cancellation"
)

// UnreachableWord says why no message can go out (proposal.PatientFacts.Unreachable).
func UnreachableWord(code string) string {
	return word(map[string]string{"no_address": "No phone number or e-mail address is on record.", "prefers_phone": "The patient wants to be told by phone: call them.",
		"prefers_none": "The patient wants no messages.", "deceased": "The patient is recorded as deceased."}, code)
}

// ChannelWord is "SMS" or "e-mail".
func ChannelWord(channel string) string {
	return word(map[string]string{"sms": "SMS", "email": "e-mail"}, channel)
}

// WarningWord says a plan's warning in words.
func WarningWord(code string) string {
	return word(map[string]string{"patient_double_booked": "The patient has another visit at the same time.",
		"possible_duplicate":   "Somebody very like this patient is on record already.",
		proposal.WarnNotSeen:   "No look into the EHR has seen that appointment as it was approved. Look there yourself before you decide.",
		proposal.WarnDiffers:   "What was seen in the EHR is not what was approved. Look there yourself before you decide.",
		proposal.WarnMerged:    "The appointment stands in another patient’s record, into which this patient’s was merged. Make sure that it is the same person.",
		proposal.WarnSeenThere: "A look into the EHR saw something of it there. Look there yourself before you decide: releasing the time could let it be booked twice."}, code)
}

// StateWord names a proposal state, as an adjective.
func StateWord(state string) string {
	return word(map[string]string{proposal.StateProposed: "Proposed", proposal.StateExecuting: "Accepted, waiting", proposal.StateCompleted: "Completed",
		proposal.StateFailed: "Failed", proposal.StatePartial: "Partly done", proposal.StateRejected: "Rejected",
		proposal.StateWithdrawn: "Withdrawn", proposal.StateExpired: "Expired"}, state)
}

// ViaWord is the door a proposal came through.
func ViaWord(via string) string {
	return word(map[string]string{"page": "form", "api": "API", "assistant": "assistant", "mcp": "MCP", "worker": "by itself", "cli": "command line", "seed": "sample data"}, via)
}

// AuditWord names an action or an outcome of the trail.
func AuditWord(code string) string {
	return word(map[string]string{audit.SignIn: "Signed in", audit.SignOut: "Signed out", audit.ReadPatient: "Looked at a patient",
		audit.ReadAppointment: "Looked at an appointment", audit.SearchPatients: "Searched patients", audit.ListAppointments: "Listed appointments",
		audit.ReadDay: "Looked at a day sheet", audit.ReadProposal: "Looked at a proposal", audit.ListProposals: "Looked at the queue",
		audit.Propose: "Proposed", audit.Revise: "Edited a proposal", audit.Approve: "Approved, with others to follow", audit.Confirm: "Confirmed", audit.Reject: "Rejected", audit.Withdraw: "Withdrew",
		audit.ClaimProposal: "Took a proposal on", audit.ReleaseProposal: "Gave a proposal back", audit.DelegateProposal: "Handed a proposal over",
		audit.EscalateProposal: "Escalated a proposal", audit.CommentProposal: "Commented on a proposal",
		audit.Expire: "Expired", audit.PlanTampered: "A stored plan does not match its hash", audit.MoveAppointment: "Moved an appointment",
		audit.BookAppointment: "Booked an appointment", audit.CancelAppointment: "Cancelled an appointment", audit.SetStatus: "Set a status",
		audit.MirrorAppointment: "Changed an appointment as the EHR has it", audit.ImportAppointment: "Changed an appointment by an import", audit.ChangePolicy: "Changed the policy", audit.ReadPolicy: "Looked at the policy",
		audit.RegisterPatient: "Registered a patient", audit.UpdateContact: "Changed contact details",
		audit.SendMessage: "Sent a message", audit.RetryMessage: "Had a message sent again", audit.ListMessages: "Looked at the messages", audit.ReceiveReceipt: "Said what became of a message",
		audit.ReadAudit: "Looked at the audit trail", audit.ReadEvidence: "Looked at evidence", audit.Partial: "Partly done", audit.ListAgents: "Looked at the agents",
		audit.GrantBypass: "Let an agent propose more", audit.EndBypass: "Ended an agent's bypass", audit.ExportAudit: "Exported the audit trail",
		audit.TakeCheckpoint: "Took a checkpoint", audit.TakeReceipt: "Took a receipt", audit.SetRetention: "Set how long the trail is kept",
		audit.ListOperations: "Looked at what waits for the EHR", audit.ReadOperation: "Looked at what was sent to the EHR",
		audit.LookOperation: "Had something looked for in the EHR", audit.ResolveOperation: "Resolved what the EHR left open",
		audit.FinishBulk: "Finished a change of many visits", audit.StopBulk: "Stopped a change of many visits",
		audit.ListLeave: "Looked at leave", audit.SaveLeave: "Saved leave", audit.EndLeave: "Ended leave", audit.ListWaiting: "Looked at the waiting list",
		audit.AddWaiting: "Put somebody on the waiting list", audit.EndWaiting: "Took somebody off the waiting list",
		audit.ListRebooking: "Looked at what needs rebooking", audit.CloseRebooking: "Closed what needed rebooking",
		audit.CutTrail: "Cut the trail", audit.SendToEHR: "Sent to the EHR", audit.AnswerOfEHR: "Answer of the EHR", audit.LookIntoEHR: "Looked into the EHR",
		audit.AlarmEHR: "A person must look into the EHR", audit.ImportFile: "Imported a file",
		audit.SyncEHR: "Took changes from the EHR", audit.Success: "Done", audit.Denied: "Refused", audit.Failed: "Failed"}, code)
}

// whyNot says why somebody may not decide.
func whyNot(code string) string {
	return word(map[string]string{
		refusal.SelfApprovalForbidden:   "You asked for this, edited it, or own the agent that did. A change of this risk needs a reviewer who did not.",
		refusal.AlreadyDecided:          "You have approved this already; it needs another person.",
		refusal.PermissionDenied:        "Your role may not decide this one. A reviewer can.",
		refusal.ConfirmationNeedsPerson: "Only a person can confirm, signed in as themselves.",
	}, code)
}
