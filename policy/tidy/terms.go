package tidy

import "strings"

// terms are the words that the call or the task names: names of things, as far
// as one can tell them from other words.
type terms struct {
	words map[string]bool
	// lengths and firsts are what words there are, so that nearly all others are
	// passed over at a glance.
	lengths uint64
	firsts  [256]bool
}

const (
	termLeast = 4
	termMost  = 60
)

// termsOf returns the terms of texts.
func termsOf(texts ...string) terms {
	t := terms{words: map[string]bool{}}
	for _, text := range texts {
		const most = 20_000 // bytes of one text: a task, not a file that was pasted
		text = text[:min(len(text), most)]
		eachWord(text, func(w string, quoted bool) bool {
			if quoted || isName(w) {
				t.add(w)
			}
			return true
		})
	}
	return t
}

func (t *terms) add(w string) {
	t.words[strings.Clone(w)] = true
	t.lengths |= 1 << len(w)
	t.firsts[w[0]] = true
}

// in returns the first term that a text holds, "" where it holds none.
func (t *terms) in(text string) string {
	if len(t.words) == 0 {
		return ""
	}
	for i := 0; i < len(text); i++ {
		if !wordByte[text[i]] {
			continue
		}
		from := i
		for i < len(text) && wordByte[text[i]] {
			i++
		}
		if n := i - from; n < termLeast || n > termMost || t.lengths>>n&1 == 0 || !t.firsts[text[from]] {
			continue
		}
		if w := text[from:i]; t.words[w] {
			return w
		}
	}
	return ""
}

// eachWord calls f with each word of letters, digits and underscores that is
// neither short nor endless, and whether quotes stand around it, until f returns
// false.
func eachWord(s string, f func(w string, quoted bool) bool) {
	for i := 0; i < len(s); {
		if !wordByte[s[i]] {
			i++
			continue
		}
		from := i
		for i < len(s) && wordByte[s[i]] {
			i++
		}
		if n := i - from; n < termLeast || n > termMost {
			continue
		}
		quoted := from > 0 && i < len(s) && s[from-1] == s[i] && (s[i] == '`' || s[i] == '"' || s[i] == '\'')
		if !f(s[from:i], quoted) {
			return
		}
	}
}

var wordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = isLetter(byte(c)) || isDigit(byte(c)) || c == '_'
	}
	return t
}()

// isName tells a name from a word: a mark or a digit in it, or a capital behind
// a small letter.
func isName(w string) bool {
	letters, other, hump := 0, false, false
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case isLetter(c):
			letters++
			hump = hump || i > 0 && c < 'a' && w[i-1] >= 'a' && w[i-1] <= 'z'
		default:
			other = true
		}
	}
	return letters > 1 && (other || hump)
}
