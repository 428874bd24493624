package strategy

import (
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Additions to the value of a sentence, for its contents.
const (
	reasonBonus  = 0.3  // the sentence gives a reason
	turnBonus    = 0.15 // the sentence negates or limits a statement
	figureBonus  = 0.2  // the sentence compares figures
	themeBonus   = 0.08 // for each word of the task, up to mostThemes
	mostThemes   = 3
	hedgedMalus  = 0.2 // the sentence is only a supposition
	shortMalus   = 0.15
	leastTelling = 45 // bytes; a shorter sentence gets shortMalus
)

// reasonWords appear in sentences that give a reason.
var reasonWords = []string{"because", "since ", "so that", "that's why", "that’s why", "which is why", "due to", "therefore", "which means", "means that", "this means", "caused by", "instead of", "rather than",
	"root cause", "turns out", "otherwise", "out of scope", "in order to", "reason", "as a result", "thus ", "so it ", "so the ", "so we ", "so i ", "所以", "因为", "因此", "由于", "原因", "而不是"}

// turnWords appear in sentences that negate or limit a statement.
var turnWords = []string{"however", "but ", "not ", "n't", "n’t", "no longer", "only ", "without", "too ", "never", "although", "despite", "except", "unless", "already", "missing", "但是", "没有", "不"}

// hedges appear in suppositions.
var hedges = []string{"might ", "maybe", "perhaps", "i think", "could be", "not sure", "i wonder", "probably", "seems", "let me", "wait", "hmm", "what if", "i guess", "possibly", "i should", "i need to", "i could", "可能", "也许"}

// weigh returns the change of a sentence's value by its words.
func (h *History) weigh(t string) float64 {
	low := strings.ToLower(t)
	v := 0.0
	if prose.HasAny(low, reasonWords) {
		v += reasonBonus
	}
	if prose.HasAny(low, turnWords) {
		v += turnBonus
	}
	if compares(low) {
		v += figureBonus
	}
	if prose.HasAny(low, hedges) {
		v -= hedgedMalus
	}
	if len(t) < leastTelling {
		v -= shortMalus
	}
	return v + themeBonus*float64(h.themes().in(low, mostThemes))
}

// compares reports whether a sentence compares figures or gives a measure.
func compares(low string) bool {
	digits := strings.ContainsAny(low, "0123456789")
	return digits && (prose.HasAny(low, []string{"→", "->", "%", " vs", " versus", " ms", " to ", " of ", " instead", "faster", "slower", " kb", " mb", " seconds", "$", "€"}))
}

// themes are the words of the task: the words that people typed, without everyday words.
type themes map[string]bool

// leastTheme is the minimum length of a word of the task, in bytes.
const leastTheme = 5

// mostThemeWords is the maximum number of words of the task.
const mostThemeWords = 400

func (h *History) themes() themes {
	if h.task != nil {
		return h.task
	}
	h.task = themes{}
	h.eachTyped(func(text string) {
		for _, w := range themeWords(text) {
			if len(h.task) < mostThemeWords && !everyday[w] {
				h.task[w] = true
			}
		}
	})
	return h.task
}

// eachTyped calls f for the text that people typed, in the history and in the messages
// that stay in view.
func (h *History) eachTyped(f func(text string)) {
	for i := range h.Steps {
		if s := &h.Steps[i]; s.user() {
			f(s.Text)
		}
	}
	f(h.asked)
}

// in counts the different words of the task in a text, up to most.
func (t themes) in(low string, most int) int {
	if len(t) == 0 {
		return 0
	}
	n, seen := 0, ""
	for _, w := range themeWords(low) {
		if t[w] && !strings.Contains(seen, w+" ") {
			if seen += w + " "; n+1 >= most {
				return most
			}
			n++
		}
	}
	return n
}

// unspaced reports whether a character belongs to a script that writes words without spaces.
// A name in Latin letters stands out in such a text.
func unspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

func themeWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' || unspaced(r) })
	kept := words[:0]
	for _, w := range words {
		if len(w) >= leastTheme {
			kept = append(kept, w)
		}
	}
	return kept
}

// everyday holds words that may occur in any request.
var everyday = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`about above after again against along already always another around because before being below between could
		doing during every everything first following found given going great having hello here however instead issue know known latest
		least likely looks maybe might needs never other others please possible problem really right same should since sorry still sure
		thank thanks their them then there these they thing things think this those though through under until using want wants what
		when where which while whole whose will with within without would write wrote your yours`) {
		m[w] = true
	}
	return m
}()
