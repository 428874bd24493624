package replay

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/eval"
)

// Told counts the facts about removed messages that the views right after
// compactions contain. The judge of `compactctl eval-summary` finds them. The
// counts are added up over the compactions. Messages that stay in full are not
// counted.
type Told struct {
	User     int `json:"user"` // sentences typed by people, verbatim
	UserOf   int `json:"user_of"`
	Failed   int `json:"failed"` // commands whose last run failed, if a line says so
	FailedOf int `json:"failed_of"`
	False    int `json:"false"` // stated outcomes that no run of the command had
	Stated   int `json:"stated"`
}

// Plus returns the sum.
func (t Told) Plus(o Told) Told {
	return Told{t.User + o.User, t.UserOf + o.UserOf, t.Failed + o.Failed, t.FailedOf + o.FailedOf, t.False + o.False, t.Stated + o.Stated}
}

// written returns the messages of a view that are not unchanged messages of the history. instead
// holds those that replace one message, by its index; made holds those that replace several. whole
// states which messages of the history the view contains in full.
func (v *View) written(whole []bool) (instead map[int]message.Message, made []message.Message) {
	instead = map[int]message.Message{}
	for k, src := range v.Sources {
		switch {
		case src < 0:
			made = append(made, v.Messages[k])
		case !whole[src]:
			instead[src] = v.Messages[k]
		}
	}
	return instead, made
}

// toldBy judges the facts in a view about the messages that the view does not contain
// in full. It compares whole rounds, because a result makes no sense without its
// command.
func toldBy(history []message.Message, v *View, whole []bool) Told {
	instead, made := v.written(whole)
	var gone []message.Message
	for _, r := range message.Rounds(history) {
		was := history[r.Start:r.End]
		is, same := replaced(was, whole[r.Start:r.End], instead, r.Start)
		if same || sameRuns(was, is) {
			continue
		}
		gone, made = append(gone, was...), append(made, edited(was, is)...)
	}
	facts := eval.FactsOf(gone)
	h := facts.Judge(eval.Text(made...))
	return Told{User: h.User, UserOf: h.UserOf, Failed: h.Failed, FailedOf: h.FailedOf, False: h.False, Stated: h.Stated}
}

// replaced returns a round as it is in the view, and whether it is unchanged.
func replaced(was []message.Message, whole []bool, instead map[int]message.Message, start int) (is []message.Message, same bool) {
	same = true
	for i, m := range was {
		if !whole[i] {
			same = false
			edited, ok := instead[start+i]
			if !ok {
				continue
			}
			m = edited
		}
		is = append(is, m)
	}
	return is, same
}

// sameRuns reports whether an edited round still shows the outcomes of its
// commands.
func sameRuns(was, is []message.Message) bool {
	if len(was) != len(is) || len(was) < 2 {
		return false
	}
	a, b := eval.FactsOf(was), eval.FactsOf(is)
	if len(a.Runs) != len(b.Runs) {
		return false
	}
	for i := range a.Runs {
		if a.Runs[i].Failed != b.Runs[i].Failed || a.Runs[i].Passed != b.Runs[i].Passed {
			return false
		}
	}
	return true
}

// edited returns the changed messages of a round.
func edited(was, is []message.Message) (out []message.Message) {
	if len(was) != len(is) {
		return is
	}
	for i := range is {
		if !message.Identical(was[i], is[i]) {
			out = append(out, is[i])
		}
	}
	return out
}
