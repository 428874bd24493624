package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A source reports whether the texts behind a summary contain an identifier, in
// any spelling.
type source struct {
	texts  []string
	exact  map[string]bool
	lowers []string        // texts in lower case, made on first use
	digits map[string]bool // numbers without separators
	quoted []string        // texts on one line in lower case, made on first use
}

// newSource reads the messages and the other texts that the summarizer saw.
func newSource(msgs []message.Message, more ...string) *source {
	s := &source{exact: map[string]bool{}, digits: map[string]bool{}}
	for i := range msgs {
		s.add(msgs[i].Name)
		for k := range msgs[i].Parts {
			p := &msgs[i].Parts[k]
			s.add(p.Text)
			s.add(p.Name)
			if len(p.Args) > 0 {
				for _, a := range readCall(p).Args {
					s.add(a.Name)
					s.add(a.Value)
				}
			}
			if p.Media != nil {
				s.add(p.Media.Name)
			}
		}
	}
	for _, t := range more {
		s.add(t)
	}
	return s
}

func (s *source) add(text string) {
	if text == "" {
		return
	}
	s.texts = append(s.texts, text)
	identifiers(text, func(k ident.Kind, id string) {
		s.exact[id] = true
		switch k {
		case ident.Number:
			s.digits[plainNumber(id)] = true
		case ident.Version:
			s.exact[strings.TrimPrefix(id, "v")] = true
		}
	})
}

// plainNumber returns a number without separators and leading zeros.
func plainNumber(id string) string {
	return strings.TrimLeft(strings.ReplaceAll(id, ",", ""), "0")
}

// has reports whether the source holds the identifier, letter by letter or in
// another spelling (128,000 and 128000, an absolute and a relative path, a
// short and a long hash, with and without v, scheme or trailing slash).
func (s *source) has(k ident.Kind, id string) bool {
	if s.exact[id] {
		return true
	}
	switch k {
	case ident.Number:
		return s.digits[plainNumber(id)] || s.holds(id)
	case ident.URL:
		_, rest, _ := strings.Cut(id, "://")
		return s.holds(strings.TrimPrefix(strings.TrimRight(rest, "/"), "www."))
	case ident.Path, ident.File:
		return s.hasPath(id)
	case ident.Version:
		id = strings.TrimPrefix(id, "v")
		return s.exact[id] || s.holds(id)
	}
	return wellKnown[id] || s.holds(id)
}

// hasPath accepts a path that is the end of a longer path of the source, and a path that
// joins a folder and a path of the source.
func (s *source) hasPath(id string) bool {
	p := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(id, "./"), "~/"), "/")
	if s.holds(p) || s.hasWords(id) {
		return true
	}
	for i := 0; i < len(p); i++ {
		if p[i] == '/' && s.holds(p[i+1:]) && s.holds(p[:i]) {
			return true
		}
	}
	return false
}

// stem is the number of leading bytes in which two words must agree to count as
// the same word.
const stem = 5

// hasWords accepts alternative words that look like a path, as in
// added/reverted, if the source has the words in some form.
func (s *source) hasWords(id string) bool {
	if strings.HasPrefix(id, "/") || strings.HasSuffix(id, "/") {
		return false
	}
	for _, w := range strings.Split(id, "/") {
		if strings.ContainsFunc(w, func(r rune) bool { return !prose.IsLetter(r) }) {
			return false
		}
		if !s.begins(strings.ToLower(w[:min(len(w), stem)])) {
			return false
		}
	}
	return true
}

// begins reports whether a word of the source begins with prefix.
func (s *source) begins(prefix string) bool {
	for _, t := range s.lower() {
		for from := 0; ; {
			i := strings.Index(t[from:], prefix)
			if i < 0 {
				break
			}
			if at := from + i; at == 0 || !prose.IsWordByte(t[at-1]) {
				return true
			}
			from += i + 1
		}
	}
	return false
}

// lower returns the texts in lower case.
func (s *source) lower() []string {
	if s.lowers == nil {
		for _, t := range s.texts {
			s.lowers = append(s.lowers, strings.ToLower(t))
		}
	}
	return s.lowers
}

// holds reports whether a text contains id in any case, but not within a longer
// word.
func (s *source) holds(id string) bool {
	if id == "" {
		return true
	}
	id = strings.ToLower(id)
	for _, t := range s.lower() {
		if holdsWord(t, id) {
			return true
		}
	}
	return false
}

func holdsWord(text, id string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(id)
		if (start == 0 || !prose.IsWordByte(text[start-1]) || !prose.IsWordByte(id[0])) && (end == len(text) || !prose.IsWordByte(text[end]) || !prose.IsWordByte(id[len(id)-1]) || isHash(id)) {
			return true
		}
		from = start + 1
	}
}

// isHash reports whether id may be the beginning of a longer hash.
func isHash(id string) bool {
	if len(id) < 7 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// says reports whether the source contains a quotation, ignoring case and white space. If
// the quotation has omissions, the source must contain each piece.
func (s *source) says(quote string) bool {
	if s.quoted == nil {
		for _, t := range s.texts {
			s.quoted = append(s.quoted, strings.ToLower(prose.Squash(t)))
		}
	}
	quote = strings.ReplaceAll(strings.ToLower(prose.Squash(quote)), "...", "…")
	for _, piece := range strings.Split(quote, "…") {
		piece = strings.Trim(piece, " .,;:")
		if len(piece) < 8 {
			continue
		}
		found := false
		for _, t := range s.quoted {
			if found = strings.Contains(t, piece); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// wellKnown holds everyday names that look like symbols.
var wellKnown = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`GitHub GitLab JavaScript TypeScript OpenAI ChatGPT PostgreSQL MySQL SQLite MongoDB GraphQL
		DevOps macOS iOS iPhone iPad LinkedIn YouTube PayPal WhatsApp WordPress StackOverflow NodeJS NextJS README
		OAuth JSONL LaTeX VSCode IntelliJ WebSocket WebSockets README.md JetBrains DeepSeek LangChain`) {
		m[w] = true
	}
	return m
}()
