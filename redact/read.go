package redact

import "strings"

// readValue reads the value that begins at a.start. It reports whether there is such a
// value.
func (a *assignment) readValue() bool {
	s := a.s
	i := a.start
	if i >= len(s) {
		return false
	}
	if a.op == opTag {
		return a.readTag()
	}
	if j, depth := openQuote(s, i); j > 0 {
		return a.readQuoted(j, depth)
	}
	if a.op == opComma || a.op == opBlank {
		return false
	}
	if a.op == opColon {
		if j := yamlScalar(s, i); j != i {
			a.start = j
			return j < len(s) && a.readValue()
		}
	}
	if s[i] == '{' && a.quote != 0 {
		return a.readMember(i)
	}
	if end := closeBraces(s, i); end > 0 && a.op == opEquals {
		a.set(i+1, end, true)
		return true
	}
	return a.readPlain(i)
}

// yamlScalar skips the prefixes of a YAML value: !!str, &anchor, and the
// indicator of a block with the line break after it.
func yamlScalar(s string, i int) int {
	switch s[i] {
	case '!', '&':
		if strings.HasPrefix(s[i:], "!!str ") || s[i] == '&' {
			if j := run(s, i+1, maxName, func(c byte) bool { return isNameByte(c) || c == '!' }); j+1 < len(s) && s[j] == ' ' && s[j+1] != '=' {
				return skipBlanks(s, j)
			}
		}
	case '|', '>':
		j := run(s, i+1, 3, func(c byte) bool { return c == '-' || c == '+' || isDigit(c) })
		if j+2 < len(s) && s[j] == '\n' && isBlank(s[j+1]) {
			return skipBlanks(s, j+1)
		}
	}
	return i
}

// closeBraces returns the end of a value in braces, as in the connection strings of ODBC:
// PWD={VALUE}; (with the semicolon). It returns 0 if there is none.
func closeBraces(s string, i int) int {
	if s[i] != '{' {
		return 0
	}
	end := run(s, i+1, maxName, func(c byte) bool { return !isSpace(c) && !isQuote(c) && strings.IndexByte("{},;:$", c) < 0 })
	if end == i+1 || end+1 >= len(s) || s[end] != '}' || s[end+1] != ';' || isIdentifier(s[i+1:end]) {
		return 0
	}
	return end
}

// readMember reads the member "value" of the object at i, which is how
// Terraform writes an output.
func (a *assignment) readMember(i int) bool {
	body := a.s[i:min(len(a.s), i+300)]
	if end := strings.IndexByte(body, '}'); end >= 0 {
		body = body[:end]
	}
	j := strings.Index(body, `"value`)
	if j < 0 {
		return false
	}
	if j = valueKey(a.s, i+j+1); j < 0 {
		return false
	}
	a.start = skipBlanks(a.s, j)
	if begin, depth := openQuote(a.s, a.start); begin > 0 {
		return a.readQuoted(begin, depth)
	}
	return false
}

// openQuote skips an opening quote at i, with the backslashes before it and the
// prefix of some languages (r"", b"", @""). It returns the start of the value, 0 if
// there is no quote, and the number of backslashes.
func openQuote(s string, i int) (begin, depth int) {
	j := i
	if strings.HasPrefix(s[i:], "&'") {
		return 0, 0 // a lifetime in Rust
	}
	if j+1 < len(s) && strings.IndexByte("@brfuLRBFUN$&", s[j]) >= 0 && (isQuote(s[j+1]) || s[j+1] == '\\') {
		j++
	}
	k := j
	for k < len(s) && k < j+15 && s[k] == '\\' {
		k++
	}
	if k >= len(s) || !isQuote(s[k]) {
		return 0, 0
	}
	return k + 1, k - j
}

// readQuoted reads to the quote that closes the value, at the same depth of
// escaping. A value without a closing quote ends with the line or the text.
func (a *assignment) readQuoted(begin, depth int) bool {
	s, q := a.s, a.s[begin-1]
	if depth == 0 && begin+1 < len(s) && s[begin] == q && s[begin+1] == q {
		end := strings.Index(s[begin+2:min(len(s), begin+maxValue)], s[begin-1:begin+2])
		if end < 0 {
			a.looked += maxValue
			return false
		}
		a.set(begin+2, begin+2+end, true)
		return a.start < a.end
	}
	a.set(begin, closeQuote(s, begin, q, depth), true)
	a.looked += a.end - begin
	return a.start < a.end
}

// closeQuote returns the end of a value that was opened by quote q after depth
// backslashes. The number of backslashes before a quote determines its meaning: the
// same number as before the opening quote closes the value, a larger number escapes the
// quote, and a smaller number closes a string around the value.
func closeQuote(s string, begin int, q byte, depth int) int {
	limit := min(len(s), begin+maxValue)
	slashes := 0
	for i := begin; i < limit; i++ {
		switch c := s[i]; {
		case c == '\\':
			slashes++
			continue
		case c == '\n':
			return i
		case c == q:
			if period := 2 * (depth + 1); slashes%period == depth || slashes < depth {
				return i - min(slashes, depth)
			}
		case depth > 0 && slashes < depth && c == '"':
			return i - slashes
		}
		slashes = 0
	}
	return limit
}

// readTag reads to the closing tag.
func (a *assignment) readTag() bool {
	end := strings.IndexByte(a.s[a.start:min(len(a.s), a.start+maxValue)], '<')
	if end < 0 || a.start+end+1 >= len(a.s) || a.s[a.start+end+1] != '/' {
		return false
	}
	text := strings.TrimSpace(strings.TrimSuffix(a.s[a.start:a.start+end], "]]>"))
	text = strings.TrimPrefix(text, "Encrypted ") // by Pentaho
	a.start += strings.Index(a.s[a.start:], text)
	a.set(a.start, a.start+len(text), true)
	return text != ""
}

// readPlain reads a value without quotes.
func (a *assignment) readPlain(i int) bool {
	s := a.s
	end := plainEnd(s, i)
	a.looked += end - i
	if end-i >= maxPlain {
		return false
	}
	if strings.HasPrefix(s[i:end], "**") {
		if bold := strings.Index(s[i+2:end], "**"); bold > 0 {
			i, end = i+2, i+2+bold // a value in bold letters
			a.told = true
		}
	}
	end = i + len(trimClosing(s[i:end]))
	for end > i && strings.IndexByte(",;:.!?", s[end-1]) >= 0 && !strings.HasSuffix(s[i:end], "...") {
		if (s[end-1] == '!' || s[end-1] == '?') && isAlnum(s[max(i, end-2)]) && strings.ContainsAny(s[i:end], "0123456789") {
			break // part of a password like Summer2024!
		}
		end--
	}
	end = i + len(trimUnbalanced(trimClosing(s[i:end])))
	if end <= i {
		return false
	}
	if a.op == opColon { // password: str = "…"
		if j := skipBlanks(s, end); j > end && j+1 < len(s) && s[j] == '=' && s[j+1] != '=' && isPath(s[i:end]) {
			a.op, a.start = opEquals, skipBlanks(s, j+1)
			return a.readValue()
		}
	}
	a.set(i, end, false)
	a.val.env = a.op == opFlag || a.op == opEquals && i == a.to+1 && (isEnvName(a.name) || a.isProperty() || strings.HasSuffix(s[:a.from], "--")) || a.op == opColon && isLowerWord(a.val.text) && a.isProperty() && (len(a.val.text) >= 5 || a.afterUser())
	return true
}

// trimClosing removes closing quotes of prose, which are not part of a value:
// “token: value”.
func trimClosing(s string) string { return strings.TrimRight(s, "”’»") }

func isLowerWord(s string) bool { return run(s, 0, len(s), isLower) == len(s) }

// isProperty reports whether name=value is a whole line, as in a properties
// file.
func (a *assignment) isProperty() bool {
	s, i := a.s, a.from
	for i > 0 && isBlank(s[i-1]) {
		i--
	}
	if i > 0 && s[i-1] != '\n' && !escaped(s, i) {
		return false
	}
	end := a.end
	return (end >= len(s) || s[end] == '\n' || s[end] == '\r' || s[end] == '\\') && !isCode(s[a.start:end])
}

// maxPlain is the maximum length of a value without quotes. A longer text
// without blanks is minified code, or a file in base64.
const maxPlain = 4 << 10

// plainEnd returns the end of a value without quotes. The value ends at white
// space, a quote, an escape such as \n, a tag, or a separator with another name
// after it.
func plainEnd(s string, i int) int {
	limit := min(len(s), i+maxPlain)
	for j := i; j < limit; j++ {
		switch c := s[j]; c {
		case ' ', '\t', '\n', '\r', '"', '\'', '`':
			return j
		case '\\':
			if j+1 < limit && (strings.IndexByte("nrt\"'\\`", s[j+1]) >= 0 || isWrittenEscape(s[j+1:])) {
				return j
			}
		case 0x1b:
			return j
		case '<':
			if end := placeholderAt(s, j); end > 0 {
				j = end - 1
				continue
			}
			if j+1 < limit && (s[j+1] == '/' || isLetter(s[j+1])) {
				return j
			}
		case '&', ';', ',':
			if separates(s, j) {
				return j
			}
		}
	}
	return limit
}

// isWrittenEscape reports whether s begins like a terminal color that is
// written out after a backslash.
func isWrittenEscape(s string) bool {
	return hasPrefix(s, []string{"u001b[", "x1b[", "033[", "e["})
}

// separates reports whether the separator at i ends a value: another name with
// its value follows, or white space, a quote, a backslash or the end of s.
func separates(s string, i int) bool {
	blanks := s[i] != '&'
	i++
	if blanks {
		i = skipBlanks(s, i)
	}
	if i >= len(s) || isSpace(s[i]) || isQuote(s[i]) || s[i] == '\\' {
		return true
	}
	j := run(s, i, 40, func(c byte) bool { return isNameByte(c) || blanks && c == ' ' || c == '%' || c == '[' || c == ']' })
	return j > i && j < len(s) && (s[j] == '=' || blanks && s[j] == ':' && !strings.HasPrefix(s[j:], "://"))
}

// trimUnbalanced drops closing brackets that were opened before the value.
func trimUnbalanced(v string) string {
	for len(v) > 0 {
		open := strings.IndexByte(")]}>", v[len(v)-1])
		if open < 0 || strings.Count(v, "([{<"[open:open+1]) >= strings.Count(v, v[len(v)-1:]) {
			break
		}
		v = strings.TrimRight(v[:len(v)-1], ",;")
	}
	return v
}

// isEnvName reports whether a name is written like a shell variable.
func isEnvName(name string) bool {
	upper := false
	for i := range len(name) {
		if isLower(name[i]) || name[i] == '.' || name[i] == '-' {
			return false
		}
		upper = upper || isUpper(name[i])
	}
	return upper
}

func (a *assignment) set(start, end int, quoted bool) {
	a.start, a.end = start, end
	a.val = value{text: a.s[start:end], quoted: quoted}
}
