package redact

import "strings"

// namesTag reports whether the name before a > is the name of a tag, with or without a
// prefix (<wsse:Password>), or is in the tag's attribute key or name.
func (a *assignment) namesTag() bool {
	s := a.s
	if a.quote != 0 {
		head := s[:max(0, a.from-1)]
		return endsFold(head, "key=") || endsFold(head, " name=")
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
	return a.op == opTag && a.quote != 0 && !endsFold(a.s[:max(0, a.from-1)], "key=") && !a.argument()
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

// cells lists the tags between a name and its value in rows and lists.
var cells = []struct{ close, open string }{
	{"</td>", "<td"}, {"</th>", "<td"}, {"</dt>", "<dd"}, {"</key>", "<string"}, {"</name>", "<value"}, {"</Name>", "<Value"},
}

// nextCell returns the start of the value in the cell after the one that ends
// at i, 0 if there is none.
func nextCell(s string, i int) int {
	for _, c := range cells {
		if !strings.HasPrefix(s[i:], c.close) {
			continue
		}
		j := skipSpaces(s, i+len(c.close))
		if !strings.HasPrefix(s[j:], c.open) {
			continue
		}
		if end := strings.IndexByte(s[j:min(len(s), j+80)], '>'); end > 0 {
			return passWrappers(s, j+end+1)
		}
	}
	return 0
}
