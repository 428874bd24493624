package strategy

import "github.com/agentcompact/compact/message"

// A remark is what was said of something that stands before it: against it, or
// what came out of it.
type remark struct {
	step        int
	said        string
	byUser      bool // else the assistant says it
	since, from int  // of a user's: the answer that it objects to, and the request which that turn answers
}

// remarks are those of a history, with the words by which they are found.
type remarks struct {
	all []remark
	by  map[string][]int
}

const (
	mostRemarks   = 1000 // of a history
	mostOfAWord   = 8    // remarks that one word finds; more is a word of every day
	leastShared   = 3    // words that a sentence has to share with a remark of the assistant
	leastObjected = 2    // and with an objection, where it was said earlier in the turn
	remarkWords   = 140  // characters that are quoted of one
)

func (r *remarks) add(one remark, text string) {
	if len(r.all) >= mostRemarks {
		return
	}
	seen := map[string]bool{}
	for _, w := range themeWords(clip(text, maxPassage)) {
		if !everyday[w] && !seen[w] {
			seen[w] = true
			r.by[w] = append(r.by[w], len(r.all))
		}
	}
	r.all = append(r.all, one)
}

// shared counts the words that a text has in common with each of the remarks.
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

// A hindsight is what is known by the end of a history of what was said in it.
type hindsight struct {
	against   remarks     // what was taken back, or that the user did not want
	concluded remarks     // what was found out
	objected  map[int]int // by the answer that the user objects to: which of against
}

// hindsight reads it once.
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
			if answered > asked && objects(s.Text) {
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

// read takes from a message of the assistant what it takes back and concludes.
func (l *hindsight) read(s *Step) {
	sentences(withoutQuotes(s.Text), func(t string, heading bool) {
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

// firstSentence is that of a message.
func firstSentence(text string) string {
	first := ""
	sentences(text, func(t string, heading bool) {
		if first == "" && !heading {
			first = t
		}
	})
	return first
}

// against is what was said later against a decision, to stand behind it: the
// user's objection, or the sentence with which the assistant took it back. ""
// where nobody did.
func (h *History) against(f Fact) string {
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
		if o := &l.against.all[k]; o.step > f.Step && (o.byUser && o.from < f.Step && n >= leastObjected || !o.byUser && n >= leastShared) {
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
	return "; said later: " + o.quoted()
}

// quoted is a remark as lines cite it.
func (r *remark) quoted() string {
	return "“" + clip(squash(r.said), remarkWords) + "” " + stepID(r.step)
}

// objection is what the user said right after an answer that they did not want.
func (h *History) objection(step int) string {
	l := h.hindsight()
	if k, ok := l.objected[step]; ok && k < len(l.against.all) {
		return ", who then said " + l.against.all[k].quoted()
	}
	return ""
}

// cleared reports whether a sentence only supposes what was found out, or taken
// back, later.
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
