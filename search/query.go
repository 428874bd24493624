package search

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// Query describes a search. Words alone are enough.
type Query struct {
	// Words are the words that a text must contain: all words, in any order. Case and
	// accents are ignored. "Quoted words" must be adjacent, and wor* is the beginning of a
	// word. Only letters and digits make words, so foo_bar.go is three adjacent words.
	Words string

	Session string    // only the session with this folder
	Since   time.Time // only texts stored since then
	Agent   string    // only texts that a step of this agent archived, and texts without a step in sessions with a step of this agent
	Model   string    // the same for the model of the step
	Tool    string    // only calls of this tool, and results that name it
	Role    string    // only texts of this role: "user", "assistant", "tool", "summary", …
	Most    int       // limit of matches; 0 = 50
}

// ErrNoWords is returned for a query without a word.
var ErrNoWords = errors.New("search: the query has no letters and no digits")

// defaultMost is the default limit of matches.
const defaultMost = 50

// terms is a parsed query.
type terms struct {
	match string   // expression for the full-text table; "" = the query has no word for it
	parts []string // substrings that the text must have: scripts without blanks between words have no words to look up
}

// parse parses the words of a query.
func parse(words string) (t terms, err error) {
	var match []string
	for _, w := range split(words) {
		w, begins := strings.CutSuffix(w, "*")
		switch {
		case !strings.ContainsFunc(w, isWord):
		case strings.ContainsFunc(w, unspaced):
			t.parts = append(t.parts, w)
		default:
			w = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
			if begins {
				w += "*"
			}
			match = append(match, w)
		}
	}
	if t.match = strings.Join(match, " AND "); t.match == "" && len(t.parts) == 0 {
		return t, ErrNoWords
	}
	return t, nil
}

// split splits a query at the blanks outside of quotes. An open quote ends with the
// query.
func split(words string) (out []string) {
	words = strings.ReplaceAll(words, "\x00", " ") // SQLite ends a text at a zero byte
	for words = strings.TrimSpace(words); words != ""; words = strings.TrimSpace(words) {
		if rest, ok := strings.CutPrefix(words, `"`); ok {
			quoted, after, _ := strings.Cut(rest, `"`)
			if left, ok := strings.CutPrefix(after, "*"); ok {
				quoted, after = quoted+"*", left
			}
			out, words = append(out, quoted), after
			continue
		}
		end := strings.IndexFunc(words, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(words)
		}
		out, words = append(out, words[:end]), words[end:]
	}
	return out
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// unspaced reports whether a letter belongs to a script without blanks between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
