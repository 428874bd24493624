package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// A remark is a statement that contradicts an earlier one, or that reports a finding.
type remark struct {
	step        int
	said        string
	byUser      bool // the user made the remark; false = the assistant
	words       int  // different words that count when remarks are compared
	since, from int  // for a user's remark: the answer it objects to, and the request before that answer
}

// remarks holds the remarks of a history, and an index of their words.
type remarks struct {
	all []remark
	by  map[string][]int
}

const (
	mostRemarks   = 1000 // maximum number in one history
	mostOfAWord   = 8    // a word in more remarks is ignored as an everyday word
	leastShared   = 3    // words that a sentence must share with the assistant's remark
	leastObjected = 2    // words that a sentence must share with an objection to the same turn
	remarkWords   = 140  // maximum characters of a quoted remark
)

func (r *remarks) add(one remark, text string) {
	if len(r.all) >= mostRemarks {
		return
	}
	seen := map[string]bool{}
	for _, w := range themeWords(prose.Clip(text, maxPassage)) {
		if !everyday[w] && !seen[w] {
			seen[w] = true
			r.by[w] = append(r.by[w], len(r.all))
			one.words++
		}
	}
	r.all = append(r.all, one)
}

// shared counts the words that a text shares with each remark.
func (r *remarks) shared(text string) map[int]int {
	out, seen := map[int]int{}, map[string]bool{}
	for _, w := range themeWords(text) {
		if which := r.by[w]; !seen[w] && len(which) <= mostOfAWord {
			for _, k := range which {
				out[k]++
			}
		}
		seen[w] = true
	}
	return out
}

// A hindsight holds the remarks in later parts of a history about earlier parts.
type hindsight struct {
	against   remarks     // retractions, and objections of the user
	concluded remarks     // findings
	objected  map[int]int // step of an answer that the user objected to → index in against.all
}

// hindsight computes the hindsight of the history once.
func (h *History) hindsight() *hindsight {
	if h.later != nil {
		return h.later
	}
	h.later = &hindsight{remarks{by: map[string][]int{}}, remarks{by: map[string][]int{}}, map[int]int{}}
	asked, answered := 0, 0
	for i := range h.Steps {
		s := &h.Steps[i]
		switch {
		case s.user() && s.Text != "":
			if answered > asked && (rules.Objects(s.Text) || h.admitted(i)) {
				h.later.objected[answered] = len(h.later.against.all)
				h.later.against.add(remark{step: s.ID, said: firstSentence(s.Text), byUser: true, since: answered, from: asked}, s.Text)
			}
			asked = s.ID
		case s.Role == message.RoleAssistant && s.Speaker == "" && !s.recap():
			if s.Text != "" {
				answered = s.ID
			}
			h.later.read(s)
		}
	}
	return h.later
}

// read collects the retractions and findings in a message of the assistant.
func (l *hindsight) read(s *Step) {
	prose.Sentences(withoutQuotes(s.Text), func(t string, heading bool) {
		if heading || len(t) <= leastNoted || guesses(t) {
			return
		}
		if corrects(t) {
			l.against.add(remark{step: s.ID, said: t}, t)
		}
		if concludes(t) {
			l.concluded.add(remark{step: s.ID, said: t}, t)
		}
	})
}

// admitted reports whether the assistant's next text after a message of the user admits a
// mistake. In this case the message is an objection, whatever its words are.
func (h *History) admitted(i int) bool {
	for k := i + 1; k < len(h.Steps); k++ {
		switch s := &h.Steps[k]; {
		case s.user() && s.Text != "":
			return false
		case s.Role == message.RoleAssistant && s.Text != "":
			first := strings.ToLower(firstSentence(s.Text))
			return prose.HasAny(first, admissions) || strings.HasPrefix(first, "no: ") || strings.HasPrefix(first, "sorry")
		}
	}
	return false
}

// firstSentence returns the first sentence of a message.
func firstSentence(text string) string {
	first := ""
	prose.Sentences(text, func(t string, heading bool) {
		if first == "" && !heading {
			first = t
		}
	})
	return first
}

// against returns a later statement against a decision, as a suffix for its line. That is
// the user's objection, or the sentence in which the assistant took the decision back. It
// returns "" if there is none.
func (h *History) against(f fact) string {
	l := h.hindsight()
	first := -1
	consider := func(k int) {
		if k < len(l.against.all) && (first < 0 || k < first) {
			first = k
		}
	}
	if k, ok := l.objected[f.Step]; ok {
		consider(k)
	}
	for k, n := range l.against.shared(f.Text) {
		if o := &l.against.all[k]; o.step > f.Step && (o.byUser && o.from < f.Step && n >= leastObjected || !o.byUser && (n >= leastShared || n >= leastObjected && n == o.words)) {
			consider(k)
		}
	}
	if first < 0 {
		return ""
	}
	o := &l.against.all[first]
	if o.byUser {
		return "; the user then said " + o.quoted()
	}
	return saidLater + o.quoted()
}

// quoted returns the remark in quotation marks, with its step.
func (r *remark) quoted() string {
	return "“" + prose.Clip(prose.Squash(r.said), remarkWords) + "” " + stepID(r.step)
}

// objection returns the user's objection right after an answer, as a suffix.
func (h *History) objection(step int) string {
	l := h.hindsight()
	if k, ok := l.objected[step]; ok && k < len(l.against.all) {
		return ", who then said " + l.against.all[k].quoted()
	}
	return ""
}

// cleared reports whether a sentence is a supposition that the assistant later
// confirmed or took back.
func (h *History) cleared(step int, t string) bool {
	if !guesses(t) {
		return false
	}
	l := h.hindsight()
	for _, r := range []*remarks{&l.concluded, &l.against} {
		for k, n := range r.shared(t) {
			if o := &r.all[k]; n >= leastShared && o.step > step && !o.byUser {
				return true
			}
		}
	}
	return false
}
