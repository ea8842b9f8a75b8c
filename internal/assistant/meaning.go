// Package assistant turns words into the same proposals that forms make. What somebody wrote is data: an Interpreter
// names things, and the server resolves names to rows, days to instants, and never lets words decide.
package assistant

import (
	"context"
	"time"

	"countersign/internal/clinic"
)

// Interpreter reads one message. It supplies no ids, no zones, no "today" and no recipients: it names, the server
// resolves. No lock and no transaction is held while it works. Errors: a deadline, or an interpreter that cannot be
// reached; words that mean nothing are the zero Meaning, never an error.
type Interpreter interface {
	Interpret(ctx context.Context, r Request) (Meaning, error)
}

// Request is what an interpreter may know.
type Request struct {
	Text  string      // cleaned, at most 2,000 characters
	Now   time.Time   // of the desk, in its zone
	Asks  string      // what the thread has just asked for: one of the Asks constants, "" for nothing
	Names Lexicon     // the clinic's own names
	On    clinic.Date // the day the conversation is about so far; zero for none ("the day after" starts there)
}

// Lexicon is what the clinic's things are called.
type Lexicon struct {
	Practitioners, Locations, Types []string
}

// Workflows a message can ask for.
const (
	Reschedule    = "reschedule"
	Book          = "book"
	Cancel        = "cancel"
	Register      = "register"
	UpdateContact = "update_contact"
	Message       = "message"
)

// What a thread can be waiting for: its missing information.
const (
	AskPatient      = "patient"
	AskAppointment  = "appointment"
	AskType         = "type"
	AskPractitioner = "practitioner"
	AskLocation     = "location"
	AskDay          = "day"
	AskTime         = "time"
	AskReasonCode   = "reason_code"
	AskName         = "name" // of a new patient, whole
	AskFamily       = "family"
	AskGiven        = "given"
	AskBirthDate    = "birth_date"
	AskContact      = "contact"
	AskChannel      = "channel"
	AskText         = "message"
)

// Meaning is what a message says, in names. The zero Meaning says nothing.
type Meaning struct {
	Workflow     string
	Patient      string        // words to search by: a name, an MRN, "maria jensen"; of a registration only an MRN that was given
	Born         *Born         // "the one born in 84"
	Other        bool          // "no, the other Maria": not the one that was taken
	Practitioner string        // a name of the lexicon, as written there
	AnyDoctor    bool          // "doctor doesn't matter"
	Location     string        // a name of the lexicon
	Type         string        // a name of the lexicon
	Days         []clinic.Date // readings of the day: one is clear, several are a question ("next Tuesday")
	DaysEnd      clinic.Date   // with one day: "next week" is a range to this day, inclusive; zero = that day only
	Clock        *int          // minutes of the day, exact: "10:30", "half past ten", "at noon"
	VisitDays    []clinic.Date // of a move: the day of the visit as it is now ("from tomorrow to Tuesday"). Of a cancellation, or asked for the appointment, Days and Clock say which visit
	VisitClock   *int          // of a move: the time of the visit as it is now ("move the 10:30 to 14:00")
	From, Until  *int          // minutes of the day: "after lunch", "in the morning", "first thing"
	First        bool          // "first thing", "the earliest": still offered, never taken
	ReasonCode   string        // proposal.ReasonCodes
	Note         string        // why, in the asker's own words
	Text         string        // of a message to the patient, quoted exactly
	Silent       bool          // "don't tell her"
	Family       string        // registration
	Given        string
	BirthDate    string // YYYY-MM-DD
	Phone        string
	Email        string
	Contact      string // email, sms, phone, none: a patient's wish, or the channel of a message
	Pick         int    // "the second one": from 1; 0 = none; PickEarlier or PickLater of two
	Yes, No      bool   // an answer in words; never a decision
	Leave        bool   // "keep it", "leave it as it is", "don't move it": the wish is dropped, and nothing is changed
	StartOver    bool   // "forget it", "start again"
	Lost         bool   // a day or a time was named that cannot be taken as it is: nothing is proposed without it before that is asked
	Zoned        *int   // minutes of the day that were said in another zone: offered as the location's own, never taken
	Unsure       string // what was understood but not clear, in words, for the question; "" = nothing
}

// Picks of two times that were offered.
const (
	PickEarlier = -1
	PickLater   = -2
)

// Born narrows people by what was said of their birth.
type Born struct {
	Year, Month, Day int // 0 = not said
}

// Empty reports whether nothing was understood.
func (m Meaning) Empty() bool {
	return m.Workflow == "" && m.Patient == "" && m.Born == nil && !m.Other && m.Practitioner == "" && !m.AnyDoctor && m.Location == "" && m.Type == "" &&
		len(m.Days) == 0 && len(m.VisitDays) == 0 && m.VisitClock == nil && m.Clock == nil && m.From == nil && m.Until == nil && !m.First && m.ReasonCode == "" && m.Note == "" && m.Text == "" && !m.Silent &&
		m.Family == "" && m.Given == "" && m.BirthDate == "" && m.Phone == "" && m.Email == "" && m.Contact == "" && m.Pick == 0 && !m.Yes && !m.No &&
		!m.StartOver && !m.Leave && m.Unsure == ""
}
