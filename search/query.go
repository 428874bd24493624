package search

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// Query is what to look for. Words alone are enough.
type Query struct {
	// Words are what one text must say, all of it, in any order, whatever its
	// letters' case and accents; "quoted words" stand together, and wor* begins a
	// word. What stands between letters and digits (foo_bar.go) separates words that
	// stand together.
	Words string

	Session string    // only of the session with this folder
	Since   time.Time // only what the archive has got since
	Agent   string    // only what a step of the agent of this name archived, or of no step in a session in which it made one
	Model   string    // the same for the model that the step was made for
	Tool    string    // only calls of this tool, and its results where these say so
	Role    string    // only of this role: "user", "assistant", "tool", "summary", …
	Most    int       // matches; 0 is 50
}

// ErrNoWords is returned for a query without a word.
var ErrNoWords = errors.New("search: the query has no letters and no digits")

// defaultMost is how many matches there are unless the caller says so.
const defaultMost = 50

// terms is a query taken apart.
type terms struct {
	match string   // for the full-text table; "" = nothing of the query is for it
	parts []string // that the text must have as they are: scripts without blanks have no words to look up
}

// parse takes the words of a query apart.
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

// split divides at blanks that stand outside of quotes. A quote that is not closed
// ends with the query.
func split(words string) (out []string) {
	words = strings.ReplaceAll(words, "\x00", " ") // which ends a text of the database
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

// unspaced reports whether a letter is of a script that does not divide words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
