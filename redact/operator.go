package redact

import "strings"

// readOperator reads from the end of the name to the beginning of the value.
// It reports whether there is an assignment at all.
func (a *assignment) readOperator() bool {
	i := a.closeName(a.to)
	if a.readField(i) || a.readTagText(i) || a.readMacro(i) {
		return true
	}
	i = a.skipIndex(i)
	if strings.HasPrefix(a.s[i:], "**") {
		i += 2 // a name in bold letters
	}
	blank := i
	i = skipBlanks(a.s, i)
	if i >= len(a.s) {
		return false
	}
	if i > blank {
		i = a.skipNumber(i)
	}
	if i > blank && (a.s[i] == '[' || a.s[i] == '(') && (a.readNote(i) || a.readBracket(i)) {
		return true
	}
	switch op, n := operatorAt(a.s, i); {
	case op == opColon && a.quote != 0 && i > blank && isBoundAttribute(a.s, i+1):
		return false
	case op == opComma:
		return a.readComma(i)
	case op == opTag:
		a.op, a.start = op, passWrappers(a.s, i+n)
		return a.namesTag()
	case op != opNone:
		a.op, a.start = op, a.passBreak(skipBlanks(a.s, i+n), op)
		return a.readDefault()
	case a.s[i] == '(' && i == a.to:
		return a.readCall(i)
	case a.s[i] == '<':
		a.op, a.start = opTag, nextCell(a.s, i)
		return a.start > 0
	case isBlank(a.s[i-1]):
		if j := a.tagBehind(i); j > 0 {
			a.op, a.start = opTag, passWrappers(a.s, j)
			return true
		}
	}
	return a.readBare(blank, i)
}

// readMacro reads the definition of a macro in TeX: \newcommand{\NAME}{VALUE}.
func (a *assignment) readMacro(i int) bool {
	if i != a.to || a.from == 0 || a.s[a.from-1] != '\\' || !strings.HasPrefix(a.s[i:], "}{") || i+2 >= len(a.s) {
		return false
	}
	a.op, a.start = opEquals, i+2
	return true
}

// isBoundAttribute reports whether the name of an attribute is at i, with its operator, as
// in the templates of Vue after a colon: v-model="form.password" :rules="passwordRules".
func isBoundAttribute(s string, i int) bool {
	end := run(s, i, maxNote, isNameByte)
	return end > i && strings.HasPrefix(s[end:], `="`)
}

// maxNote is the maximum length of a note in brackets after a name.
const maxNote = 24

// passConstructor skips the constructor of an optional value at i, if a literal is its
// argument: Some("value"), Just "value".
func passConstructor(s string, i int) int {
	if i < len(s) && s[i] == '{' { // the type of a variable in a debugger: {str} 'VALUE'
		if j := run(s, i+1, maxNote, isWord); j > i+1 && j+2 < len(s) && s[j] == '}' && s[j+1] == ' ' && isQuote(s[j+2]) {
			return j + 2
		}
	}
	if i < len(s) && s[i] == 's' && strings.HasPrefix(s[i:], "string(") { // a dump of PHP
		if j := run(s, i+len("string("), 5, isDigit); j+2 < len(s) && s[j] == ')' && s[j+1] == ' ' && isQuote(s[j+2]) {
			return j + 2
		}
	}
	if i < len(s) && s[i] == '(' && strings.HasPrefix(s[i:], "(string) (len=") { // a dump of Go
		if j := run(s, i+len("(string) (len="), 5, isDigit); j+2 < len(s) && s[j] == ')' && s[j+1] == ' ' && isQuote(s[j+2]) {
			return j + 2
		}
	}
	if i >= len(s) || s[i] != 'S' && s[i] != 'J' && s[i] != 'O' {
		return i
	}
	for _, name := range [...]string{"Some(", "Just ", "Optional[", "Optional("} {
		if rest, found := strings.CutPrefix(s[i:], name); found && rest != "" && isQuote(rest[0]) {
			return i + len(name)
		}
	}
	return i
}

// readNote skips the note between a name and its value, with the colon: the default of
// a prompt (Secret access key [None]: VALUE), a place (Password (staging): VALUE). The
// bracket is at i. It reports whether there is a note.
func (a *assignment) readNote(i int) bool {
	s := a.s
	end := run(s, i+1, maxNote, func(c byte) bool { return isAlnum(c) || strings.IndexByte(" *_-./", c) >= 0 })
	if end+3 >= len(s) || s[end] != ']' && s[end] != ')' {
		return false
	}
	i = passAny(s, end+1, ": ", " - ", " — ", " – ", " is ", " = ", " → ", " -> ")
	if i < 0 {
		return false
	}
	a.op, a.told, a.start = opProse, true, skipBlanks(s, i)
	return a.start < len(s)
}

// readBracket reads a value in brackets, password [VALUE], and the value of a field in
// the snapshot of a page: textbox "Password" [active] [ref=e14]: VALUE.
func (a *assignment) readBracket(i int) bool {
	s, attributes := a.s, i
	for attributes < len(s) && s[attributes] == '[' {
		end := run(s, attributes+1, maxNote, func(c byte) bool { return isWord(c) || c == '=' || c == '-' })
		if end >= len(s) || s[end] != ']' {
			break
		}
		attributes = skipBlanks(s, end+1)
	}
	if a.quote != 0 && attributes > i && attributes < len(s) && s[attributes] == ':' {
		a.op, a.start = opColon, skipBlanks(s, attributes+1)
		return a.start < len(s)
	}
	if a.quote != 0 || s[i] != '[' || a.named() < password {
		return false
	}
	a.op, a.told, a.start = opProse, true, i+1
	return a.start < len(s)
}

// readDefault skips what may precede a value after its operator: the end of bold
// letters, a constructor, and the operator of ${NAME:-default}. It reports whether there
// may be a value.
func (a *assignment) readDefault() bool {
	if strings.HasPrefix(a.s[a.start:], "** ") {
		a.start = skipBlanks(a.s, a.start+2)
	}
	if j := passEmphasis(a.s, a.start); j > a.start && j < len(a.s) {
		a.op, a.start = opTag, j
		return true
	}
	a.start = passConstructor(a.s, a.start)
	if !strings.HasSuffix(a.s[:a.from], "${") || a.start >= len(a.s) {
		return true
	}
	switch a.s[a.start] {
	case '-', '=':
		a.start++
		return true
	}
	end := run(a.s, a.start, maxName, func(c byte) bool { return c > ' ' && c != '}' })
	return isCredential(a.s[a.start:end]) // ${name:VALUE} in Spring
}

// passBreak skips the end of a line between an operator and its value, if a literal is on
// the next line, or a backslash continues the line: password =\n    "VALUE". The literal
// may be in a bracket.
func (a *assignment) passBreak(i int, op operator) int {
	s, j := a.s, i
	if j < len(s) && s[j] == '(' {
		j++
	}
	joined := strings.HasPrefix(s[j:], "\\\n")
	if joined {
		j++
	}
	if j >= len(s) || s[j] != '\n' && s[j] != '\r' {
		return i
	}
	k := run(s, j, maxNote*4, isSpace)
	if k >= len(s) || !joined && !isQuote(s[k]) && !strings.HasPrefix(s[k:], "string(") || strings.Count(s[j:k], "\n") != 1 || strings.HasPrefix(s[k:], `"""`) || a.named() < telling {
		return i
	}
	if op == opColon && a.quote == 0 && strings.TrimLeft(lineHead(s, a.from), " \t-") != "" {
		return i // the head of a function
	}
	return k
}

// closeName skips the quote that closes a quoted name, with the backslashes
// before it.
func (a *assignment) closeName(i int) int {
	j := i
	for j < len(a.s) && a.s[j] == '\\' {
		j++
	}
	if j < len(a.s) && isQuote(a.s[j]) {
		a.quote, a.depth = a.s[j], j-i
		return j + 1
	}
	return i
}

// skipIndex skips [25], [] and the ] of environ["NAME"].
func (a *assignment) skipIndex(i int) int {
	s := a.s
	if i < len(s) && s[i] == ']' && (a.quote != 0 || a.from > 0 && s[a.from-1] == '[' && strings.HasPrefix(s[i:], "] => ")) {
		return i + 1 // $a["NAME"], or the dump of an array in PHP
	}
	if i < len(s) && s[i] == '[' {
		if j := run(s, i+1, 6, isDigit); j < len(s) && s[j] == ']' {
			return j + 1
		}
	}
	return i
}

// skipNumber skips the number of a key: Unseal Key 1: VALUE.
func (a *assignment) skipNumber(i int) int {
	if isDigit(a.s[i]) && i+1 < len(a.s) && a.s[i+1] == ':' && strings.IndexByte(a.name, ' ') > 0 {
		return i + 1
	}
	return i
}

// operatorAt returns the operator at s[i] and its length.
func operatorAt(s string, i int) (operator, int) {
	switch s[i] {
	case '=', ':':
		j := i + 1
		if s[i] == ':' && passAny(s, i, "::before", "::after", "::placeholder", "::marker", "::selection", "::-") > 0 {
			return opNone, 0 // a part of an element in CSS
		}
		for j < len(s) && j < i+4 && (s[j] == '=' || s[j] == ':' || s[j] == '>') {
			j++
		}
		if j == i+1 && s[i] == ':' {
			return opColon, 1
		}
		return opEquals, j - i
	case '!', '?', '+', '.', '~', '|':
		j := i + 1
		if s[i] == '?' && j < len(s) && s[j] == '?' {
			j++
		}
		for j < len(s) && j < i+4 && (s[j] == '=' || s[j] == '|') {
			j++
		}
		if j > i+1 && (s[j-1] == '=' || s[i] == '|') {
			return opEquals, j - i
		}
	case '<':
		if i+1 < len(s) && s[i+1] == '-' {
			return opEquals, 2
		}
	case '>':
		return opTag, 1
	case ',':
		return opComma, 1
	}
	return opNone, 0
}

// readComma reads "name", "value" and {"name": "NAME", "value": "…"}.
func (a *assignment) readComma(i int) bool {
	if j := skipSpaces(a.s, i+1); a.quote == 0 && j+1 < len(a.s) && a.s[j] == '"' && len(a.name) >= 6 && isEnvName(a.name) {
		a.op, a.start = opComma, j // a constant names the next argument
		return true
	}
	if j := skipSpaces(a.s, i+1); a.quote == 0 && j < len(a.s) && a.s[j] == '"' && a.named() >= telling && a.opensTuple(j) {
		a.op, a.start = opComma, j
		return true
	}
	if a.quote == 0 {
		return (passPronoun(a.s, i) > i || passAside(a.s, i) > i) && a.readProse(i)
	}
	i = skipSpaces(a.s, i+1)
	if j := valueKey(a.s, i); j > 0 {
		a.op, a.pair, a.start = opColon, true, skipBlanks(a.s, j)
		return true
	}
	if isMemberKey(a.s, i) {
		return false
	}
	if i < len(a.s) && (isQuote(a.s[i]) || a.s[i] == '\\') && !a.besidePath(i) {
		a.op, a.start = opComma, i
		return true
	}
	if j := defaultArgument(a.s, i); j > 0 {
		a.op, a.start = opEquals, j
		return true
	}
	return false
}

// defaultArgument returns the start of the literal that is the default, or the value, in
// the named arguments at i: type=str, default="VALUE". It returns -1 if there is none.
func defaultArgument(s string, i int) int {
	line := s[min(i, len(s)):min(len(s), i+maxRecord)]
	line = line[:lineLength(line)]
	for _, key := range [...]string{"default", "value", "initial", "fallback", "val"} {
		at := strings.Index(line, key)
		if at < 0 || at > 0 && isWord(line[at-1]) || strings.IndexByte(line[:at], ')') >= 0 {
			continue
		}
		j := skipBlanks(line, at+len(key))
		if j < len(line) && (line[j] == '=' || line[j] == ':') {
			j = skipBlanks(line, j+1)
			if begin, _ := openQuote(line, min(j, len(line)-1)); begin > 0 {
				return i + j
			}
		}
	}
	return -1
}

// besidePath reports whether the name ends a path, and the quote at i opens
// another path: "go/token", "hash/adler32".
func (a *assignment) besidePath(i int) bool {
	if a.from == 0 || a.s[a.from-1] != '/' {
		return false
	}
	begin, depth := openQuote(a.s, i)
	if begin == 0 {
		return false
	}
	next := a.s[begin:closeQuote(a.s, begin, a.s[begin-1], depth)]
	for part := range strings.SplitSeq(next, "/") {
		letters := run(part, 0, maxName, func(c byte) bool { return isLower(c) || c == '_' || c == '-' })
		if letters == 0 || run(part, letters, 4, isDigit) < len(part) || isGibberish(part, 8) {
			return false
		}
	}
	return strings.IndexByte(next, '/') > 0
}

// valueKey skips the key of the second half of a name and value pair, with its
// colon. It returns -1 if there is none.
func valueKey(s string, i int) int {
	for i < len(s) && (s[i] == '\\' || isQuote(s[i])) {
		i++
	}
	if hasFold(s[i:], "parameter") {
		i += len("parameter")
	}
	if len(s) < i+6 || !strings.EqualFold(s[i:i+5], "value") {
		return -1
	}
	i += 5
	for i < len(s) && (s[i] == '\\' || isQuote(s[i]) || isBlank(s[i])) {
		i++
	}
	if i < len(s) && (s[i] == ':' || s[i] == '=') {
		return i + 1
	}
	return -1
}

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func skipSpaces(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}
