package tidy

import "strings"

// terms are words of the call or the task that are probably names.
type terms struct {
	words map[string]bool
	// lengths and firsts hold the lengths and the first bytes (1) of the words, so
	// that most other words can be rejected quickly.
	lengths uint64
	firsts  [256]uint8
}

const (
	termLeast = 4
	termMost  = 60
)

// termsOf returns the terms in texts.
func termsOf(texts ...string) terms {
	t := terms{words: map[string]bool{}}
	for _, text := range texts {
		const most = 20_000 // limit in bytes for one text: enough for a task, too small for a pasted file
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
	t.firsts[w[0]] = 1
}

// in returns the first term in a text, or "" if there is none.
func (t *terms) in(text string) string {
	if len(t.words) == 0 {
		return ""
	}
	before := byte(' ')
	for i := 0; i < len(text); i++ {
		begins := t.firsts[text[i]] & endsTerm[before]
		if before = text[i]; begins == 0 {
			continue
		}
		from := i
		for i < len(text) && wordByte[text[i]] {
			i++
		}
		before = ' ' // what ends the word
		if n := i - from; n < termLeast || n > termMost || t.lengths>>n&1 == 0 {
			continue
		}
		if w := text[from:i]; t.words[w] {
			return w
		}
	}
	return ""
}

// eachWord calls f for each word, until f returns false. A word consists of letters,
// digits and underscores, and has termLeast to termMost bytes. quoted reports whether the
// word is in quotes.
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

// endsTerm holds 1 for the bytes after which a word can begin.
var endsTerm = func() (t [256]uint8) {
	for c := range t {
		if !wordByte[c] {
			t[c] = 1
		}
	}
	return t
}()

// isName reports whether a word is probably a name: it has an underscore or a digit, or a
// capital letter after a small one.
func isName(w string) bool {
	letters, other, hump := 0, false, false
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case isLetter(c):
			letters++
			hump = hump || i > 0 && c < 'a' && w[i-1] >= 'a' // the bytes of words end at z
		default:
			other = true
		}
	}
	return letters > 1 && (other || hump)
}
