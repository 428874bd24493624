package strategy

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// Shares of the kept characters of a cut text: the beginning, and the end. The remaining
// characters are for the rules between them.
const (
	leadShare = 0.5
	tailShare = 0.2
	mostRule  = 400 // maximum characters of one rule
)

// essence cuts a text to about keep characters. It keeps the beginning, the end, and
// from the text between them the sentences that demand or forbid something or that take
// something back, in their order. Without one of these sentences, a task would be done
// wrong. essence writes note at the first cut.
func essence(s string, keep int, note string, known bindings) string {
	all := utf8.RuneCountInString(s)
	if all <= keep {
		return s
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	head, tail := wholeLines(s, prose.Leading(s, int(float64(keep)*leadShare)), prose.Trailing(s, int(float64(keep)*tailShare)))
	rules := rulesIn(s[head:tail], keep-utf8.RuneCountInString(s[:head])-utf8.RuneCountInString(s[tail:]), known)
	if rules == "" {
		return ends(s, keep*2/3, keep/3, note)
	}
	return strings.TrimSpace(s[:head]) + " " + note + " " + rules + " … " + strings.TrimSpace(s[tail:])
}

// wholeLines adjusts the cuts around the middle of a text. It moves head back and tail
// forward to the start of a line, a sentence or at least a word.
func wholeLines(s string, head, tail int) (int, int) {
	chars := utf8.RuneCountInString(s[:head])
	for _, stop := range []string{"\n", ". ", " "} {
		if i := strings.LastIndex(s[:head], stop); i >= 0 && utf8.RuneCountInString(s[:i+len(stop)]) > chars/2 {
			head = i + len(stop)
			break
		}
	}
	end := s[tail:]
	for _, stop := range []string{"\n", ". ", " "} {
		if i := strings.Index(end, stop); i >= 0 && i < len(end)/2 {
			tail += i + len(stop)
			break
		}
	}
	return head, tail
}

// rulesIn returns the sentences of a text that state rules or take something back, up to
// most characters. If there is no room for all, sentences that forbid, demand or take back
// have priority.
func rulesIn(text string, most int, known bindings) string {
	type rule struct {
		text   string
		strong bool
	}
	var found []rule
	prose.EachSentence(text, func(one prose.Sentence) {
		if one.Heading {
			return
		}
		quote := prose.Clip(prose.Squash(one.Text), mostRule)
		if utf8.RuneCountInString(quote)+len(" … ") > most {
			return
		}
		if b := known.of(one.Text); b.binds {
			found = append(found, rule{quote, b.strong})
		}
	})
	kept := make([]bool, len(found))
	for _, strong := range []bool{true, false} {
		for i, f := range found {
			if n := utf8.RuneCountInString(f.text) + len(" … "); f.strong == strong && n <= most {
				kept[i], most = true, most-n
			}
		}
	}
	var out []string
	for i, f := range found {
		if kept[i] {
			out = append(out, f.text)
		}
	}
	return strings.Join(out, " … ")
}

// binding is what rulesIn finds out about a sentence.
type binding struct{ binds, strong bool }

// bindings are those of known sentences. A text that is cut several times has the same
// sentences each time.
type bindings map[string]binding

// of returns the binding of a sentence, and remembers it unless the map is nil.
func (k bindings) of(sentence string) binding {
	b, ok := k[sentence]
	if ok {
		return b
	}
	v := rules.Binds(sentence)
	b = binding{v > 0 || rules.TurnsBack(sentence), v >= rules.BindValue || v == 0}
	if k != nil {
		k[sentence] = b
	}
	return b
}
