package eval

import (
	"regexp"
	"strings"

	"github.com/agentcompact/compact/message"
)

// A reading defines identifiers, and when a text names one. It is independent of the
// summarizer's definition, so that the measure does not share rules with the measured
// summarizer. A reading is not safe for concurrent use.
type reading struct {
	scan   func(text string, found func(id string))
	fold   bool // case is ignored
	inside bool // a text also names identifiers within longer words
}

// Patterns of the identifiers that the measure counts.
const (
	urls        = `[a-z][a-z0-9+]{1,9}://\S+`
	paths       = `(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]+`
	files       = `\b[\w-]+(?:\.[\w-]+)*\.(?:` + extensions + `)\b`
	hex         = `\b[0-9a-f]{7,64}\b`
	tickets     = `\b[A-Z][A-Z0-9]+-\d+\b`
	numbers     = `\b\d{3,}\b`
	camelCase   = `\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+\b`
	pascalCase  = `\b(?:[A-Z]+[a-z0-9]+){2,}\b`
	snakeCase   = `\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b`
	extensions  = `py|js|mjs|cjs|ts|tsx|jsx|go|rs|java|kt|md|mdx|json|jsonl|yaml|yml|toml|txt|sh|html|css|scss|sql|c|h|cpp|rb|php|xml|csv|log|cfg|ini|lock|mod|sum|pdf|png|svg|ps1|omp|vue|ipynb|rst|diff|patch|env|tf`
	punctuation = ".,;:!?"
)

// literal returns the reading that the project's figures use. The earliest match in a text
// wins; at the same position, the first pattern wins.
func literal() *reading {
	return &reading{scan: matching(urls + "|" + paths + "|" + files + "|" + hex + "|" + tickets + "|" + numbers + "|" + camelCase + "|" + pascalCase + "|" + snakeCase)}
}

// matching returns a scanner for the matches of patterns. It applies each pattern
// separately. It caches the matches of each word, because texts repeat words.
func matching(patterns ...string) func(text string, found func(id string)) {
	var compiled []*regexp.Regexp
	for _, p := range patterns {
		compiled = append(compiled, regexp.MustCompile(p))
	}
	known := map[string][]string{}
	return func(text string, found func(id string)) {
		for word := range strings.FieldsFuncSeq(text, separates) {
			if plain(word) {
				continue
			}
			ids, ok := known[word]
			if !ok {
				for _, p := range compiled {
					for _, id := range p.FindAllString(word, -1) {
						ids = append(ids, strings.TrimRight(id, punctuation))
					}
				}
				known[strings.Clone(word)] = ids
			}
			for _, id := range ids {
				found(id)
			}
		}
	}
}

// separates reports whether r ends an identifier.
func separates(r rune) bool {
	return r < rune(len(separators)) && separators[r]
}

var separators = func() (is [0x80]bool) {
	for r := range rune(len(is)) {
		is[r] = r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`<>()[]{}\\|,;", r)
	}
	return is
}()

// plain reports whether a word can't contain an identifier: it has no digit, no
// _, / or dot, and no capital after the first letter.
func plain(word string) bool {
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9', c == '_', c == '/', c == '.', i > 0 && c >= 'A' && c <= 'Z':
			return false
		}
	}
	return true
}

// names is the set of identifiers that some texts name.
type names struct {
	*reading
	ids  map[string]bool
	text strings.Builder // all texts, for a reading with inside set
}

func (r *reading) names(msgs ...message.Message) *names {
	n := &names{reading: r, ids: map[string]bool{}}
	for _, m := range msgs {
		n.message(m)
	}
	return n
}

// message adds the identifiers in the text, the reasoning, the tool names, the argument
// values and the results of a message.
func (n *names) message(m message.Message) {
	for _, p := range m.Parts {
		n.add(p.Text)
		n.add(p.Name)
		for _, a := range arguments(p.Args) {
			n.add(a)
		}
	}
}

func (n *names) add(text string) {
	if n.fold {
		n.scan(text, func(id string) { n.ids[strings.ToLower(id)] = true })
	} else {
		n.scan(text, func(id string) { n.ids[id] = true })
	}
	if n.inside {
		n.text.WriteString(text)
		n.text.WriteByte('\n')
	}
}

// have reports whether one of the texts names id.
func (n *names) have(id string) bool {
	return n.ids[id] || n.inside && strings.Contains(n.text.String(), id)
}
