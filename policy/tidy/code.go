package tidy

import (
	"slices"
	"strings"
)

// codeEndings are the extensions of files that hold code.
var codeEndings = strings.Fields("go ts tsx js jsx mjs cjs py rb rs java kt kts scala c h cc cpp cxx hpp hh cs swift m mm php lua pl pm r jl dart ex exs erl hs ml clj cljs sh bash zsh ps1 sql proto graphql vue svelte astro css scss less zig nim groovy gradle tf")

// code reduces a file of code to its declarations and to the parts that the call or the
// task names.
func code(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	numbered := d.numbered(from, to)
	if !r.asked.isCode() && !d.isScript(from, to, numbered) && !d.looksLikeCode(from, to, numbered) {
		return pass
	}
	c := newChoice(d)
	words := r.words()
	bodies, bodiesOf := 0, map[string]int{}
	path := termsOf(r.asked.file) // words of the path are names, but name no part of the file
	for i := from; i < to; i++ {
		text := unnumbered(d.lines[i].text, numbered)
		switch depth := indent(text); {
		case depth <= 8 && declares(unindented(text)):
			c.raise(i, rankAt(depth))
			c.parts = append(c.parts, i)
			c.parameters(i, depth)
			if bodies == mostBodies {
				break
			}
			if w := words.in(text); w != "" && !path.words[w] && bodiesOf[w] < mostBodiesOf {
				bodies++
				bodiesOf[w]++
				c.body(i, depth)
			}
		case depth == 0 && len(text) > 1 && (isLetter(text[0]) || text[len(text)-1] == '{'):
			c.raise(i, some)
		}
	}
	c.named(r, some)
	if c.size(some) < room/10 {
		c.sections(from, to, room/3)
		c.span(from, to, room/3, room/6) // the file declares little
	}
	return done(d.shown("outline and what was named", c.take(room)))
}

// isCode reports whether the call reads a file of code.
func (a *asked) isCode() bool { return slices.Contains(codeEndings, a.ext()) }

// isScript reports whether the text begins with the name of an interpreter.
func (d *draft) isScript(from, to int, numbered bool) bool {
	return from < to && strings.HasPrefix(unnumbered(d.lines[from].text, numbered), "#!")
}

// Limits for the declarations that keep their bodies because the call or the task names
// them.
const (
	mostBodies   = 8
	mostBodiesOf = 3  // for one word
	mostBody     = 60 // lines
)

// parameters raises the lines of the parameters of a declaration, up to the line with the
// closing parenthesis.
func (c *choice) parameters(i, depth int) {
	const most = 8
	open := strings.TrimRight(unnumbered(c.d.lines[i].text, c.numbered), " ")
	if !strings.HasSuffix(open, "(") {
		return
	}
	for k := i + 1; k < c.to && k <= i+most; k++ {
		text := unnumbered(c.d.lines[k].text, c.numbered)
		if indent(text) < depth {
			return
		}
		if inner := unindented(text); inner != "" && inner[0] == ')' && indent(text) == depth {
			for ; k > i; k-- {
				c.raise(k, some)
			}
			return
		}
	}
}

// body raises the lines of a declaration. It stops at the first line that is indented no
// deeper than the declaration and does not begin with a closing bracket.
func (c *choice) body(i, depth int) {
	c.raise(i, best)
	for k := i + 1; k < c.to && k <= i+mostBody; k++ {
		text := unnumbered(c.d.lines[k].text, c.numbered)
		if inner := unindented(text); inner != "" && indent(text) <= depth && !closes(inner) {
			return
		}
		c.raise(k, best)
	}
}

func closes(text string) bool { return text[0] == '}' || text[0] == ')' || text[0] == ']' }

// rankAt returns the rank of a declaration at an indentation. Outer declarations
// rank higher.
func rankAt(depth int) uint8 {
	if depth <= 4 {
		return good
	}
	return some
}

// declaring maps the first words of declarations in common languages to a check of the
// rest of the line. The check is needed because many of these words also occur in prose,
// or as names of members.
var declaring = func() map[string]func(rest string) bool {
	m := map[string]func(string) bool{}
	add := func(holds func(rest string) bool, words string) {
		for _, w := range strings.Fields(words) {
			m[w] = holds
		}
	}
	ends := func(any string) func(string) bool {
		return func(rest string) bool { return strings.ContainsAny(rest[len(rest)-1:], any) }
	}
	has := func(any string) func(string) bool {
		return func(rest string) bool { return strings.ContainsAny(rest, any) }
	}
	add(func(rest string) bool { return rest[0] != ':' }, "func type struct interface class enum trait impl fn mod pub def async export function static abstract final override package namespace module import fun . #define #include @")
	add(func(rest string) bool { return rest[0] != ':' || rest == ":" }, "public private protected")
	add(func(rest string) bool {
		return strings.Contains(rest, "=>") || strings.Contains(rest, "function") || ends("({")(rest)
	}, "const let var val")
	add(func(rest string) bool { return rest[0] == '(' }, "describe it test")
	add(ends("{(;)"), "resource variable output provider locals data message service rpc record object union template sealed mixin extend")
	add(has(";{\"'<"), "use using require include typedef extern")
	add(func(rest string) bool {
		return strings.Contains(rest, " import ") || strings.HasSuffix(rest, " import")
	}, "from")
	add(definesSQL, "create alter")
	return m
}()

// definesSQL reports whether the text after CREATE or ALTER begins with a kind of
// database object.
func definesSQL(rest string) bool {
	word, _, _ := strings.Cut(unindented(rest), " ")
	switch strings.ToLower(word) {
	case "table", "index", "unique", "view", "materialized", "function", "procedure", "trigger", "type", "schema", "database", "extension", "sequence", "role", "policy", "temporary", "or":
		return true
	}
	return false
}

// longestDeclaring is the length of the longest word in declaring. Longer words need no
// lookup.
var longestDeclaring = func() (n int) {
	for w := range declaring {
		n = max(n, len(w))
	}
	return n
}()

// endsWord are the bytes that may follow the first word of a declaration.
var endsWord = [256]bool{' ': true, '\t': true, '(': true, '<': true, '{': true, ':': true, '[': true}

// declares reports whether a line of code, without its indentation, is a
// declaration.
func declares(text string) bool {
	end := 0
	for end < len(text) && !endsWord[text[end]] {
		end++
	}
	if end == 0 || end == len(text) {
		return strings.HasPrefix(text, "@")
	}
	word, rest := text[:end], text[end:]
	if len(word) <= longestDeclaring {
		if holds := declaring[word]; holds != nil {
			return holds(rest)
		}
		if (word == "CREATE" || word == "ALTER") && definesSQL(rest) {
			return true
		}
		switch word {
		case "return", "if", "for", "while", "switch", "else", "catch":
			return false
		}
	}
	// A function of a shell.
	if strings.HasPrefix(rest, " ()") && (rest == " ()" || rest[len(rest)-1] == '{') {
		return true
	}
	// A method: a name, parameters, and the start of the body.
	return rest[0] == '(' && strings.HasSuffix(rest, "{") && strings.Contains(rest, ")")
}

// unindented returns text without leading spaces and tabs.
func unindented(text string) string {
	i := 0
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return text[i:]
}

// indent returns the indentation of text; a tab counts as four spaces.
func indent(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// numbered reports whether the lines of a file begin with their numbers: most lines begin
// with a number that is one more than the previous number. The times of a log and the
// keys of most tables do not count.
func (d *draft) numbered(from, to int) bool {
	with, seen, last := 0, 0, -1
	for i := from; i < to && seen < 40; i++ {
		seen++
		n, end := lineNumber(d.lines[i].text)
		if end > 0 && (last < 0 || n == last+1) {
			with++
		}
		if end > 0 {
			last = n
		}
	}
	return seen > 2 && with*4 >= seen*3
}

// lineNumber returns the number that a numbered line begins with, and numberEnd.
func lineNumber(text string) (n, end int) {
	end = numberEnd(text)
	for k := range end {
		if isDigit(text[k]) {
			n = 10*n + int(text[k]-'0')
		}
	}
	return n, end
}

// numberEnd returns where the text of a numbered line begins, or 0 if the line
// has no number: "  12→text", "12: text", "12\ttext", "00012| text".
func numberEnd(text string) int {
	i := 0
	if strings.HasPrefix(text, "<content>") {
		i = len("<content>")
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	start := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == start || i-start > 7 || i == len(text) {
		return 0
	}
	switch c := text[i]; {
	case c == '\t':
		return i + 1
	case c == '|' || c == ':':
		if i+1 < len(text) && text[i+1] == ' ' {
			return i + 2
		}
		return i + 1
	case strings.HasPrefix(text[i:], "→"):
		return i + len("→")
	}
	return 0
}

func unnumbered(text string, numbered bool) string {
	if numbered {
		return text[numberEnd(text):]
	}
	return text
}

// looksLikeCode reports whether many lines end like lines of code, and some declare
// something. JSON in lines, the frames of a stack and tables are not code.
func (d *draft) looksLikeCode(from, to int, numbered bool) bool {
	signs, seen, declared := 0, 0, 0
	step := max((to-from)/200, 1)
	for i := from; i < to; i += step {
		text := strings.TrimSpace(unnumbered(d.lines[i].text, numbered))
		if text == "" {
			continue
		}
		seen++
		if declares(text) {
			declared++
		}
		switch text[len(text)-1] {
		case '{', '}', ';', ')', ',', '(':
			signs++
		case ':':
			if declares(text) {
				signs++
			}
		}
	}
	return seen >= 20 && signs*10 >= seen*6 && declared*50 >= seen
}
