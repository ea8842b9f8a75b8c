package assistant

import (
	"strings"

	"countersign/internal/clinic"
)

// What somebody quotes, or gives as a reason, a note or a message, is data: it is taken out before the request is read,
// so that no word in it can ask for anything.

// liftData moves the text of a message and notes from the tokens into the meaning. Whichever begins first wins: a
// "because" inside a message is part of the message.
func (r *reading) liftData() {
	note, noteText, sentence := r.noteStart()
	if act, stop, text := r.messageStart(note); stop >= 0 {
		r.m.Text = text
		r.cut(stop)
		r.textOf = act
		return
	}
	if note >= 0 {
		to := len(r.tokens)
		if sentence {
			for to = noteText; to < len(r.tokens) && !strings.ContainsRune(".;!?\n", orSpace(r.tokens[to].after)); to++ {
			}
			to = min(to+1, len(r.tokens))
		}
		r.m.Note = r.data(noteText, to)
		rest := r.tokens[to:]
		r.tokens = r.tokens[:note]
		if note > 0 {
			r.tokens[note-1].after = '.'
		}
		r.tokens = append(r.tokens, rest...)
	}
	r.liftQuotes()
	r.parse()
}

func orSpace(r rune) rune {
	if r == 0 {
		return ' '
	}
	return r
}

// data is the text of tokens as it was written, without the marks when it is one quotation.
func (r *reading) data(from, to int) string {
	if from < len(r.tokens) && r.tokens[from].quote {
		return r.tokens[from].raw
	}
	return r.source(from, to)
}

// noteStart is the token at which a note is introduced and the one at which it begins; -1 for none. A sentence's note
// ends with the sentence, others with the message.
func (r *reading) noteStart() (at, text int, sentence bool) {
	for i := range r.tokens {
		best := 0
		for _, parts := range r.phrases["sentence"] {
			best = max(best, r.follows(i, parts))
		}
		if best > 0 {
			return i, i + best, true
		}
		for _, parts := range r.phrases["final"] {
			n := r.follows(i, parts)
			if n == 0 || i+n > len(r.tokens) {
				continue
			}
			if sign := r.tokens[i+n-1].after; len(parts) > 1 || sign == ':' || sign == '—' || sign == '–' || sign == '\n' {
				best = max(best, n)
			}
		}
		if best > 0 {
			return i, i + best, false
		}
	}
	return -1, -1, false
}

// messageStart finds the text of "tell … that …", "text … saying …" and "message …: …" before the note: the token of its
// act, the token to cut at (-1 for no text), and the text up to the end of the message.
func (r *reading) messageStart(note int) (act, stop int, text string) {
	for n, s := range r.spans {
		if s.means() != "act.lead" || note >= 0 && s.from >= note || r.action(n) != Message {
			continue
		}
		for i := s.to; i < len(r.tokens) && (note < 0 || i < note || i == note && r.tokens[i].quote); i++ {
			if r.tokens[i].quote {
				return s.from, i, r.tokens[i].raw
			}
			length := 0
			for _, parts := range r.phrases["message"] {
				length = max(length, r.follows(i, parts))
			}
			switch {
			case length > 0 && i+length < len(r.tokens):
				return s.from, i + length, r.dataToEnd(i + length)
			case r.tokens[i].after == ':' && i+1 < len(r.tokens):
				return s.from, i + 1, r.dataToEnd(i + 1)
			}
		}
	}
	return -1, -1, ""
}

func (r *reading) dataToEnd(i int) string {
	if r.tokens[i].quote {
		return r.tokens[i].raw
	}
	return strings.TrimSpace(r.text[r.tokens[i].from:])
}

// liftQuotes takes quotations out of any other request: the message behind a word such as "saying", else a note.
func (r *reading) liftQuotes() {
	kept := r.tokens[:0:0]
	for i, t := range r.tokens {
		if !t.quote {
			kept = append(kept, t)
			continue
		}
		if n := len(kept); n > 0 {
			kept[n-1].after = '"'
		}
		said := false
		for _, parts := range r.phrases["message"] {
			said = said || i >= len(parts) && r.follows(i-len(parts), parts) > 0
		}
		switch {
		case said || r.r.Asks == AskText:
			r.m.Text = t.raw
		case r.m.Note == "":
			r.m.Note = t.raw
		}
	}
	r.tokens = kept
}

// reasonIn is the reason code a text speaks of, if it speaks of one only.
func (r *reading) reasonIn(text string) string {
	inner := &reading{Grammar: r.Grammar, r: r.r, today: r.today, text: text, tokens: r.scan(text), folded: r.folded}
	inner.parse()
	return inner.reason()
}

func (r *reading) reason() (code string) {
	for _, s := range r.spans {
		if s.means() != "reason" || s.N == 1 && r.r.Asks != AskReasonCode { // "other" by itself says so only when asked
			continue
		}
		if code != "" && code != s.Value {
			return ""
		}
		code = s.Value
	}
	return code
}

// Request is the message without what is data in it: quotations, reasons, notes and the texts of messages are left out.
// "" for a message that is nothing else, or is refused.
func (g *Grammar) Request(text string) string {
	text, err := clinic.CleanLines(text, MaxText)
	if err != nil {
		return ""
	}
	r := &reading{Grammar: g, text: text, tokens: g.scan(text), folded: map[string][]string{}}
	if len(r.tokens) == 0 {
		return ""
	}
	r.parse()
	r.liftData()
	var out strings.Builder
	for i, t := range r.tokens {
		out.WriteString(t.raw)
		switch {
		case i == len(r.tokens)-1:
		case t.after != 0 && t.after != '"':
			out.WriteString(string(t.after) + " ")
		default:
			out.WriteByte(' ')
		}
	}
	return out.String()
}
