package redact

import (
	"slices"
	"strings"
)

// namesTag reports whether the name before a > is the name of a tag, with or without a
// prefix (<wsse:Password>), or is in the tag's attribute key or name.
func (a *assignment) namesTag() bool {
	s := a.s
	if a.quote != 0 {
		head := s[:max(0, a.from-1)]
		return endsFold(head, "key=") || endsFold(head, " name=") || endsFold(head, " id=")
	}
	from := a.from
	if from > 0 && s[from-1] == ':' {
		for from--; from > 0 && isWord(s[from-1]); {
			from--
		}
	}
	return from > 0 && s[from-1] == '<'
}

// isLabel reports whether an element with the name of a password holds a text for a
// person, and no password: <string name="login_password">Kennwort</string>.
func (a *assignment) isLabel() bool {
	return a.op == opTag && a.quote != 0 && !endsFold(a.s[:max(0, a.from-1)], "key=") && !endsFold(a.s[:max(0, a.from-1)], " id=") && !a.argument()
}

// tagBehind returns the start of the value in a tag whose name ends at i:
// <name>value, <name attribute="…">value. It returns 0 if there is none.
func (a *assignment) tagBehind(i int) int {
	s := a.s
	from := a.from
	for from > 0 && (isWord(s[from-1]) || s[from-1] == ':') {
		from--
	}
	if from == 0 || s[from-1] != '<' {
		return 0
	}
	limit := min(len(s), i+120)
	for ; i < limit && s[i] != '>'; i++ {
		if s[i] == '<' || s[i] == '\n' {
			return 0
		}
	}
	if i >= limit || s[i-1] == '/' {
		return 0
	}
	return i + 1
}

// wrappers lists the tags that may stand between the tag with the name and the
// value.
var wrappers = []string{"<Value>", "<value>", "<string>", "<![CDATA[", "<code>"}

// passWrappers skips wrappers, and the white space around them.
func passWrappers(s string, i int) int {
	i = skipSpaces(s, i)
	for _, w := range wrappers {
		if strings.HasPrefix(s[i:], w) {
			i = skipSpaces(s, i+len(w))
		}
	}
	return i
}

// apart lists tags that separate an element from the name before it, so that the element does not
// hold the value of the name. For "p" only the closing tag does so.
var apart = []string{"tr", "table", "thead", "ul", "ol", "p", "form", "body", "label", "button", "a", "option", "script", "h1", "h2", "h3", "title", "style", "head", "input", "select", "textarea"}

// nextCell returns the start of the value in the element after the one that ends at i, 0 if
// there is none: <td>name</td><td>VALUE, <string>name</string> <string>VALUE.
func nextCell(s string, i int) int {
	opened := false
	for n := 0; n < 4; n++ {
		i = skipSpaces(s, i)
		if i+2 >= len(s) || s[i] != '<' {
			break
		}
		closes := s[i+1] == '/'
		from := i + 1
		if closes {
			from++
		}
		to := run(s, from, maxNote, isNameByte)
		if to == from || closes && opened || isApart(s[from:to]) && (closes || s[from:to] != "p") || n == 0 && !closes {
			return 0
		}
		end := strings.IndexByte(s[to:min(len(s), to+80)], '>')
		if end < 0 || s[to+end-1] == '/' {
			return 0
		}
		opened = opened || !closes
		i = to + end + 1
	}
	if !opened {
		return 0
	}
	return passWrappers(s, i)
}

// isApart reports whether tag is one of apart.
func isApart(tag string) bool {
	for _, t := range apart {
		if strings.EqualFold(t, tag) {
			return true
		}
	}
	return false
}

// emphases lists the tags of words in a sentence.
var emphases = []string{"b", "strong", "em", "i", "code", "span", "tt", "kbd", "samp", "mark", "u", "pre", "br", "p", "td", "dd", "div"}

// passEmphasis skips the tags of emphasis at i. It returns i if there is none.
func passEmphasis(s string, i int) int {
	for range 4 {
		from := i + 1
		if i+2 >= len(s) || s[i] != '<' {
			return i
		}
		if s[from] == '/' {
			from++
		}
		to := run(s, from, maxNote, isLetter)
		end := strings.IndexByte(s[to:min(len(s), to+80)], '>')
		if end < 0 || !slices.Contains(emphases, s[from:to]) {
			return i
		}
		i = skipBlanks(s, to+end+1)
	}
	return i
}

// readTagText reads the text of an element whose attribute is the name. The name ends at i,
// with its quote.
func (a *assignment) readTagText(i int) bool {
	if a.quote == 0 || i >= len(a.s) || !isBlank(a.s[i]) {
		return false
	}
	j := a.tagText(i)
	if j > 0 && j < len(a.s) {
		a.op, a.start = opTag, j
		return true
	}
	return false
}

// tagText returns the start of the text of an element whose attribute is the name:
// <setting name="NAME" as="string"><value>VALUE. It returns 0 if there is none.
func (a *assignment) tagText(i int) int {
	s := a.s
	head := s[max(0, a.from-80):max(0, a.from-1)]
	if !endsFold(head, "name=") && !endsFold(head, "key=") && !endsFold(head, "id=") {
		return 0
	}
	if open := strings.LastIndexByte(head, '<'); open < 0 || strings.IndexByte(head[open:], '>') >= 0 || open+1 < len(head) && !isLetter(head[open+1]) {
		return 0
	}
	rest := s[i:min(len(s), i+80)]
	end := strings.IndexByte(rest, '>')
	if end < 0 || end > 0 && rest[end-1] == '/' || strings.IndexByte(rest[:end], '<') >= 0 || strings.Contains(rest[:end], "alue=") || strings.Contains(rest[:end], "content=") {
		return 0
	}
	return passWrappers(s, i+end+1)
}
