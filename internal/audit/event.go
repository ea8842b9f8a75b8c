// Package audit makes the rows of the trail: ids, codes and hashes, never a patient's words, each with the hash of its
// own content.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// Actions: the closed list of what the trail names.
const (
	SignIn            = "signin"
	SignOut           = "signout"
	ReadPatient       = "patient.read"
	ReadAppointment   = "appointment.read"
	SearchPatients    = "patient.search"
	ListAppointments  = "appointment.list"
	ReadDay           = "day.read"
	ReadProposal      = "proposal.read"
	ListProposals     = "proposal.list"
	Propose           = "proposal.propose"
	Revise            = "proposal.revise"
	Approve           = "proposal.approve" // one of several yeses; the last is proposal.confirm
	Confirm           = "proposal.confirm"
	Reject            = "proposal.reject"
	Withdraw          = "proposal.withdraw"
	Expire            = "proposal.expire"
	PlanTampered      = "proposal.tampered"
	ClaimProposal     = "proposal.claim"
	ReleaseProposal   = "proposal.release"
	DelegateProposal  = "proposal.delegate"
	EscalateProposal  = "proposal.escalate"
	CommentProposal   = "proposal.comment"
	MoveAppointment   = "appointment.move"
	BookAppointment   = "appointment.book"
	CancelAppointment = "appointment.cancel"
	SetStatus         = "appointment.status"
	MirrorAppointment = "appointment.mirror" // it changed in the EHR, and so here
	ImportAppointment = "appointment.import" // a file said it anew
	ChangePolicy      = "policy.change"
	ReadPolicy        = "policy.read"
	RegisterPatient   = "patient.register"
	UpdateContact     = "patient.contact"
	SendMessage       = "message.send"
	RetryMessage      = "message.retry"
	ListMessages      = "message.list"
	ReceiveReceipt    = "message.receipt" // the SMS gateway said what became of one
	ReadAudit         = "audit.read"
	ReadEvidence      = "evidence.read"
	FinishBulk        = "proposal.finish"
	StopBulk          = "proposal.stop"
	ListLeave         = "leave.list"
	SaveLeave         = "leave.save"
	EndLeave          = "leave.end"
	ListWaiting       = "waiting.list"
	AddWaiting        = "waiting.add"
	EndWaiting        = "waiting.end"
	ListRebooking     = "rebooking.list"
	CloseRebooking    = "rebooking.close"
	ListAgents        = "agent.list"
	GrantBypass       = "bypass.grant"
	EndBypass         = "bypass.end"
	ExportAudit       = "audit.export"
	TakeCheckpoint    = "audit.checkpoint"
	TakeReceipt       = "audit.receipt"
	SetRetention      = "audit.retain"
	CutTrail          = "audit.cut"
	SendToEHR         = "ehr.send"   // an attempt has begun
	AnswerOfEHR       = "ehr.answer" // what it came to
	LookIntoEHR       = "ehr.look"
	AlarmEHR          = "ehr.alarm" // a person must look
	ImportFile        = "import.file"
	SyncEHR           = "ehr.sync" // changes were read from the EHR
	ListOperations    = "operation.list"
	ReadOperation     = "operation.read"
	LookOperation     = "operation.look" // a person had it looked for
	ResolveOperation  = "operation.resolve"
)

// Actions lists them all, in the order of the constants.
func Actions() []string {
	return []string{SignIn, SignOut, ReadPatient, ReadAppointment, SearchPatients, ListAppointments, ReadDay, ReadProposal, ListProposals, Propose, Revise,
		Approve, Confirm, Reject, Withdraw, Expire, PlanTampered, ClaimProposal, ReleaseProposal, DelegateProposal, EscalateProposal,
		CommentProposal, MoveAppointment, BookAppointment, CancelAppointment, SetStatus, MirrorAppointment, ImportAppointment, ChangePolicy, ReadPolicy, RegisterPatient, UpdateContact,
		SendMessage, RetryMessage, ListMessages, ReceiveReceipt, ReadAudit, ReadEvidence, FinishBulk, StopBulk, ListLeave, SaveLeave, EndLeave, ListWaiting, AddWaiting, EndWaiting, ListRebooking, CloseRebooking, ListAgents, GrantBypass, EndBypass,
		ExportAudit, TakeCheckpoint, TakeReceipt, SetRetention, CutTrail,
		SendToEHR, AnswerOfEHR, LookIntoEHR, AlarmEHR, ImportFile, SyncEHR, ListOperations, ReadOperation, LookOperation, ResolveOperation}
}

// Scheduling reports whether an action is of scheduling, which reviewers read (contract section 7): no sign-ins, nothing
// done with the trail itself, and nothing of accounts, agents and policies.
func Scheduling(action string) bool {
	for _, other := range []string{"sign", "audit.", "agent.", "bypass.", "policy.", "account."} {
		if strings.HasPrefix(action, other) {
			return false
		}
	}
	return true
}

// NotScheduling lists the other actions.
func NotScheduling() []string { return slices.DeleteFunc(Actions(), Scheduling) }

// Decisions lists the actions by which a person decides.
func Decisions() []string { return []string{Approve, Confirm, Reject} }

// Outcomes.
const (
	Success = "success"
	Denied  = "denied"
	Failed  = "failed"
	Partial = "partial"
)

// Event is one row of the trail. Absent members are "" or 0. At is the transaction's clock, whole microseconds.
type Event struct {
	ID         string
	At         time.Time
	Actor      clinic.Actor
	Action     string
	Outcome    string
	Code       string // of a refusal or failure; of a change of policy, what was and what is asked
	ObjectKind string
	Object     string
	Version    int64 // of the object after
	Patient    string
	Proposal   string
	Revision   int
	PlanHash   string
	Risk       string
}

// Fields is the content of a row: what its hash is of, and what stands beside it in columns. Ids and codes only. At is
// UTC to the microsecond, as text.
type Fields struct {
	V          int    `json:"v"`
	ID         string `json:"id"`
	Clinic     string `json:"clinic"`
	At         string `json:"at"`
	ActorKind  string `json:"actor_kind"`
	Actor      string `json:"actor"`
	OnBehalfOf string `json:"on_behalf_of"`
	Role       string `json:"role"`
	Via        string `json:"via"`
	Action     string `json:"action"`
	Outcome    string `json:"outcome"`
	Code       string `json:"code"`
	ObjectKind string `json:"object_kind"`
	Object     string `json:"object"`
	Version    int64  `json:"version"`
	Patient    string `json:"patient"`
	Proposal   string `json:"proposal"`
	Revision   int    `json:"revision"`
	PlanHash   string `json:"plan_hash"`
	Risk       string `json:"risk"`
	Request    string `json:"request"`
}

// Content is the row in a stable form and its sha256: what the chain is made of. It is stored as hashed.
func (e Event) Content() (content []byte, hash string) {
	content, err := json.Marshal(Fields{1, e.ID, e.Actor.Clinic, TimeText(e.At), e.Actor.Kind, e.Actor.ID(), e.Actor.OnBehalfOf(),
		e.Actor.Role, e.Actor.Via, e.Action, e.Outcome, e.Code, e.ObjectKind, e.Object, e.Version, e.Patient, e.Proposal, e.Revision,
		e.PlanHash, e.Risk, e.Actor.Request})
	if err != nil {
		panic(err) // strings and integers only: cannot happen
	}
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:])
}

// ContentHash is the hash of a content, as it stands beside it: lower-case hex sha256.
func ContentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TimeText is a time as the trail writes it: UTC, to the microsecond.
func TimeText(t time.Time) string { return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano) }
