package assistant

import (
	"slices"
	"strings"
)

// named is the choice that words pick: "the second one", "the later one" of two, or yes to the only one. It is never a decision on a card: no
// card waits here, and what is picked comes to a card at most.
func (d *dialog) named(m Meaning) *Choice {
	if len(d.last) < 2 {
		return nil
	}
	offers := d.last[len(d.last)-2].Choices
	switch {
	case m.Pick > 0 && m.Pick <= len(offers):
		return &offers[m.Pick-1]
	case m.Pick < 0:
		times := slices.DeleteFunc(slices.Clone(offers), func(c Choice) bool {
			return c.Set == nil || c.Set.Start == "" && c.Set.When == nil && c.Set.Visit == nil
		})
		if len(times) == 2 { // they are in order
			return &times[map[int]int{PickEarlier: 0, PickLater: 1}[m.Pick]]
		}
	case m.Yes && len(offers) == 1:
		return &offers[0]
	}
	return nil
}

func (d *dialog) choose(c Choice) (reply, error) {
	if c.Set != nil {
		switch {
		case c.Set.Restart:
			*d.w = Work{}
			return reply{text: "Forgotten. " + help}, nil
		case c.Set.Leave:
			return d.leave()
		}
		d.w.merge(*c.Set)
	}
	if c.Action != nil {
		return reply{propose: c.Action}, nil
	}
	return d.next()
}

// again repeats the question when nothing new was said.
func (d *dialog) again(m Meaning) (reply, error) {
	text := "I did not understand that, and nothing was changed. "
	switch {
	case m.Unsure != "":
		text = sentence(m.Unsure) + " "
	case m.Pick < 0:
		text = "More than two are offered, or none: pick one, or say its number. "
	case m.Yes:
		text = "There is nothing to confirm: no card waits here, and only the button on a card confirms. "
	case m.No:
		text = "Say it in a few more words, or pick one of the choices. "
	}
	if d.w.Halted {
		return reply{text: text + "What should be different?", choices: d.earlier(), asks: d.w.Asks}, nil
	}
	r, err := d.next()
	if c := d.zoned(m); c != nil && err == nil {
		return reply{text: strings.TrimSpace(text), asks: AskTime, choices: []Choice{*c}}, nil
	}
	if r.propose != nil { // nothing new: nothing is proposed anew
		return reply{text: text + "What should be different?", choices: d.earlier(), asks: d.w.Asks}, err
	}
	r.text = text + r.text
	if d.idle() && d.w.Patient != nil {
		r.text += " " + helpFor(d.w.Patient.Name)
	}
	return r, err
}

// idle reports that nothing is under way here; somebody may be known.
func (d *dialog) idle() bool {
	return d.w.Workflow == "" && (d.w.Patient != nil || d.w.Query == "" && d.w.Born == nil)
}

// earlier is what was offered before the message that said nothing new.
func (d *dialog) earlier() []Choice {
	if len(d.last) < 2 {
		return nil
	}
	return slices.Clone(d.last[len(d.last)-2].Choices)
}

// leave drops the wish and keeps whom it was about. Where nothing was wished it says what can be.
func (d *dialog) leave() (reply, error) {
	idle := d.idle()
	*d.w = Work{Patient: d.w.Patient}
	if !idle {
		return reply{text: "Everything stays as it is.", done: true}, nil
	}
	const text = "Nothing is under way here, so everything stays as it is. "
	r, err := d.next()
	r.text = text + r.text
	if d.w.Patient != nil {
		r.text += " " + helpFor(d.w.Patient.Name)
	}
	return r, err
}

// zoned offers a time that was said in another zone as the location's own, once it is known for whom and which visit.
func (d *dialog) zoned(m Meaning) *Choice {
	w := d.w
	if m.Zoned == nil || w.Patient == nil || w.Workflow != Book && (w.Workflow != Reschedule || w.Visit == nil) {
		return nil
	}
	to := When{}
	if w.When != nil {
		to = *w.When
	}
	to.Clock, to.From, to.Until = m.Zoned, nil, nil
	return &Choice{Label: "Yes, " + clockText(*m.Zoned) + " as the clock at the location shows", Set: &Work{When: &to}}
}
