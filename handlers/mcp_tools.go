package handlers

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/internal/proposal"
)

// tool is one thing an agent can do. None decides.
type tool struct {
	*mcp.Tool
	call func(*Server, *call) (told, error)
}

// tools lists all there are.
func tools() []tool { return append(append(lookingTools(), proposingTools()...), ownTools()...) }

func looking(name, title, says string, call func(*Server, *call) (told, error), members ...member) tool {
	closed := false
	return tool{&mcp.Tool{Name: name, Title: title, Description: says, InputSchema: arguments(members...),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}, call}
}

func lookingTools() []tool {
	return []tool{
		looking("find_patient", "Find a patient", "Find patients by any parts of their name, birth date (YYYY-MM-DD) or record number (MRN), in any order. "+
			"At most 20. When more than one fits, ask which one is meant, by birth date and MRN; never choose.", (*Server).toolFindPatient,
			word("query", "Parts of the name, the birth date or the MRN.").needed()),
		looking("find_slots", "Find free times", "List free times for a type of visit, earliest first, at most 100. Every answer, also a refusal, lists the clinic's types, "+
			"practitioners and locations with their ids: call it without arguments to learn them.", (*Server).toolFindSlots,
			word("type", "Id of the type of visit. Needed to see times."), word("practitioner", "Only with this practitioner (id)."), word("location", "Only at this location (id)."),
			word("from", "First day (YYYY-MM-DD, the clinic's own), or a time with its offset. Needed to see times."),
			word("to", "Last day, inclusive, or a time with its offset; at most 31 days after from. Needed to see times.")),
		looking("get_appointment", "Look at an appointment", "Read one appointment by its id, or a patient's coming appointments by the patient's id. Give one of the two.", (*Server).toolAppointment,
			word("appointment", "Id of the appointment."), word("patient", "Id of the patient.")),
	}
}

// proposing is a tool for one action, with the action's own parameters.
func proposing(name, title, action, says string, parameters ...member) tool {
	no := false
	members := append(parameters, word("reason", "Why, in words for the person who decides; at most 500 characters."),
		word("idempotency_key", "A word of your own for this wish: sent again, the first answer is repeated and nothing new is made."))
	return tool{&mcp.Tool{Name: name, Title: title, Description: says + " This only proposes: nothing happens until a person has read it and confirmed it at the link in the answer.",
		InputSchema: arguments(members...), Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}},
		func(s *Server, c *call) (told, error) { return s.toolPropose(c, action, parameters) }}
}

func proposingTools() []tool {
	start := word("starts_at", "New start: with an offset an instant (2027-03-28T10:00:00+02:00), without one the wall clock of the place (2027-03-28T10:00).").needed()
	notify := flag("notify", "Whether the patient is told; true when absent.")
	message := word("message", "Other words for the patient than the standard text, at most 500 characters. A reviewer must then decide.")
	return []tool{
		proposing("propose_reschedule", "Propose to move an appointment", "reschedule_appointment@1", "Propose to move a booked appointment to another time and, if wanted, to another practitioner or location.",
			word("appointment", "Id of the appointment.").needed(), start, word("practitioner", "Id, when it shall be another one."), word("location", "Id, when it shall be another one."), notify, message),
		proposing("propose_booking", "Propose a new appointment", "book_appointment@1", "Propose a new appointment for a patient.",
			word("patient", "Id of the patient.").needed(), word("type", "Id of the type of visit.").needed(), word("practitioner", "Id of the practitioner.").needed(),
			word("location", "Id of the location.").needed(), start, notify, message),
		proposing("propose_cancellation", "Propose to cancel an appointment", "cancel_appointment@1", "Propose to cancel a booked appointment.",
			word("appointment", "Id of the appointment.").needed(), word("reason_code", "Why it is cancelled.", proposal.ReasonCodes...).needed(), notify, message),
		proposing("propose_registration", "Propose a new patient", "register_patient@1", "Propose to register a new patient. Look with find_patient first.",
			word("family", "Family name.").needed(), word("given", "Given names.").needed(), word("birth_date", "YYYY-MM-DD.").needed(), word("mrn", "Record number, when there is one already."),
			word("phone", "Phone number."), word("email", "E-mail address."), word("contact_preference", "How the patient wants to be told.", "email", "sms", "phone", "none").needed(),
			flag("confirm_not_duplicate", "True only when a person has compared the possible duplicates and says that this is somebody else.")),
		proposing("propose_message", "Propose a message to a patient", "send_message@1", "Propose a message to a patient. It goes to the address on record.",
			word("patient", "Id of the patient.").needed(), word("channel", "How it is sent.", "email", "sms").needed(), word("message", "The very words the patient gets, at most 500 characters.").needed()),
	}
}

func ownTools() []tool {
	yes, no := true, false
	return []tool{
		looking("get_proposal", "Look at a proposal", "Read a proposal as it stands now: its state, what would happen or has happened, and the link where a person decides.", (*Server).toolProposal,
			word("proposal", "Id of the proposal.").needed()),
		looking("list_my_proposals", "List what you proposed", "List the proposals that you made yourself, newest first, 20 at a time.", (*Server).toolProposals,
			word("state", "Only in this state.", "proposed", "executing", "completed", "failed", "partial", "rejected", "withdrawn", "expired"),
			word("cursor", "next_cursor of the page before.")),
		{&mcp.Tool{Name: "withdraw_proposal", Title: "Take back a proposal", Description: "Take back a proposal that you made yourself and that nobody has decided yet. What has been done is not undone.",
			InputSchema: arguments(word("proposal", "Id of the proposal.").needed(), word("reason", "Why, in words for colleagues; at most 500 characters.")),
			Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}}, (*Server).toolWithdraw},
	}
}
