package proposal

import (
	"fmt"
	"strings"
	"time"

	"countersign/internal/clinic"
)

// letter is what a standard text may say: who the patient is, the visit, and what it was before. It says nothing of the
// type, of reasons, or of anybody else's visit; a text is read by whoever holds the telephone.
type letter struct {
	given, name string
	visit       *Facts // as it will stand; of a cancellation, as it stood
	was         *Facts // before a change
	in          *language
}

// language is all that patients are told in one language. Times are given with their own zone's wall clock.
type language struct {
	code     string                         // BCP 47
	name     string                         // as staff read it
	date     func(t time.Time) string       // in e-mails
	short    func(t time.Time) string       // in an SMS
	clock    func(t time.Time) string       // time of day
	at       string                         // between date and time
	zone     func(zone string) string       // in words
	event    func(place PlaceFacts) string  // in a calendar
	subjects map[string]string              // of e-mails, by kind
	emails   map[string]func(letter) string // by kind
	sms      map[string]func(letter) string // by kind
}

// languages are those we have texts in; the first is for everybody else.
var languages = []*language{&english, &danish}

// languageOf gives the language for a BCP 47 tag: `da-DK` is Danish, what we have no texts in is English.
func languageOf(tag string) *language {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	for _, l := range languages {
		if l.code == base {
			return l
		}
	}
	return languages[0]
}

// LanguageName is a language of our texts as staff read it, "" for none of them.
func LanguageName(code string) string {
	for _, l := range languages {
		if l.code == code {
			return l.name
		}
	}
	return ""
}

// message is the standard message of a kind by the patient's own channel.
func (l letter) message(kind string, p clinic.Patient) Message {
	if p.Contact == ChannelSMS {
		return Message{Kind: kind, Channel: ChannelSMS, Recipient: p.Phone, Text: l.in.sms[kind](l)}
	}
	subject := l.in.subjects[kind]
	return Message{Kind: kind, Channel: ChannelEmail, Recipient: p.Email, Subject: &subject, Text: l.in.emails[kind](l)}
}

// moved tells whether a change takes the visit to another place.
func (l letter) moved() bool { return l.was != nil && l.was.Location.ID != l.visit.Location.ID }

// when is a visit's start as its patient reads it.
func (l letter) when(f *Facts) string { return l.start(f, l.in.date) }

func (l letter) short(f *Facts) string { return l.start(f, l.in.short) }

// start is date and time by the clock of the place. An hour that the clock shows twice carries its offset.
func (l letter) start(f *Facts, date func(time.Time) string) string {
	t := f.local(f.StartsAt)
	out := date(t) + l.in.at + l.in.clock(t)
	if len(clinic.Instants(clinic.WallOf(t, t.Location()), t.Location())) > 1 {
		out += " " + OffsetLabel(f.OffsetMinutes)
	}
	return out
}

// zone names the zone of the visit in words.
func (l letter) zone() string { return l.in.zone(l.visit.Zone) }

// zoneCity is the city of an IANA zone: America/New_York is New York.
func zoneCity(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndexByte(zone, '/')+1:], "_", " ")
}

// lines joins the lines of a text; an empty one is left out.
func lines(all ...string) string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func ifSo(yes bool, format string, args ...any) string {
	if !yes {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// call says how to reach the place: by its number, put into the first sentence, or without one by the second.
func (p PlaceFacts) call(on, without string) string {
	if p.Phone == "" {
		return without
	}
	return fmt.Sprintf(on, p.Phone)
}
