package redact

import "strings"

// readBare reads assignments without an operator: flags, name "value", a typed
// variable, and the lines name: NAME, value: … of YAML.
func (a *assignment) readBare(blank, i int) bool {
	s := a.s
	if strings.HasPrefix(s[i:], "\\\n") && strings.HasSuffix(s[:a.from], "--") {
		i = skipBlanks(s, i+2) // the command continues
		if i >= len(s) {
			return false
		}
	}
	if s[i] == '\n' || s[i] == '\r' {
		return a.readBelow(i)
	}
	switch {
	case i == blank, s[i] == '}', strings.HasPrefix(s[i:], "/>"):
		return false
	case s[i] == '{' && a.quote != 0:
		return a.readVariable(i)
	case s[i] == '|':
		return a.readCell(i)
	case strings.HasPrefix(s[i:], "│") && endsInBar(strings.TrimRight(s[max(0, a.from-40):a.from], " `*")):
		a.op, a.start = opColon, skipBlanks(s, i+len("│"))
		return a.start < len(s)
	}
	if strings.HasPrefix(s[i:], "REG_SZ ") || strings.HasPrefix(s[i:], "REG_SZ\t") {
		a.op, a.start = opFlag, skipBlanks(s, i+len("REG_SZ"))
		return true
	}
	if j := typedEquals(s, i); j > 0 && !isDigit(s[i]) && !(a.quote != 0 && describesElement(s[i:])) && !netrc(s, a.from) {
		a.op, a.pair, a.start = opEquals, a.quote != 0 && valueKey(s, i) > 0, skipBlanks(s, j)
		return true
	}
	return a.readAfterBlank(blank, i)
}

// endsInBar reports whether the text before a name ends in the left line of a table.
func endsInBar(head string) bool {
	return strings.HasSuffix(head, "│") || strings.HasSuffix(head, "║")
}

// readAfterBlank reads a value that only a blank separates from its name: of a flag or a
// variable, in quotes, or in a sentence.
func (a *assignment) readAfterBlank(blank, i int) bool {
	s := a.s
	switch {
	case a.from >= 2 && s[a.from-2:a.from] == "--":
		a.op, a.start = opFlag, i
		return !isHelp(s, a.from-2, blank, i)
	case a.isLongFlag():
		a.op, a.start = opFlag, i
		return s[i] != '-' && !isHelp(s, a.from-1, blank, i)
	case isQuote(s[i]) && a.closesString(i):
		return false
	case a.isSetVariable():
		a.op, a.start = opFlag, i
	case (s[i] == '"' || s[i] == '\'') && (a.quote == 0 || strings.Contains(s[max(0, a.from-32):a.from], " set ")):
		a.op, a.start = opBlank, i
	case netrc(s, a.from):
		a.op, a.start = opFlag, i
	default:
		return a.readProse(i)
	}
	return true
}

// readBelow reads the value in the line below the name: the part of a form, or the second
// half of a pair in YAML.
func (a *assignment) readBelow(i int) bool {
	if j := formPart(a.s, a.from, i); j > 0 {
		a.op, a.start = opFlag, j
		return true
	}
	if j := valueKey(a.s, skipSpaces(a.s, i)); j > 0 && a.pairName() {
		a.op, a.pair, a.start = opColon, true, skipBlanks(a.s, j)
		return true
	}
	return false
}

// isLongFlag reports whether the name is a flag with one hyphen, -token VALUE. It is not one in
// the text of a list ("- password"), or in 7z, where the value follows -p without a blank.
func (a *assignment) isLongFlag() bool {
	s := a.s
	return a.from >= 2 && s[a.from-1] == '-' && isBlank(s[a.from-2]) && lineStart(s, a.from) < a.from-2 && !isBareVerb(a.name) && a.name != "ppassword"
}

// isHelp reports whether a flag is in the help of a program: [--flag VALUE], at the
// beginning of a line with a description in a column after it, or after the name of its
// value. The flag is at from, and the text after it at i.
func isHelp(s string, from, blank, i int) bool {
	end := run(s, i, maxName, func(c byte) bool { return !isSpace(c) })
	if from > 0 && s[from-1] == '[' && s[end-1] == ']' {
		return true
	}
	head := strings.TrimLeft(lineHead(s, from), " \t")
	if head != "" && !(len(head) <= 4 && head[0] == '-' && isLetter(head[min(1, len(head)-1)])) {
		return false
	}
	text := skipBlanks(s, end)
	if text >= len(s) || !isAlnum(s[text]) {
		return false
	}
	column := func(from, to int) bool { return to > from+1 || to > from && s[from] == '\t' }
	return column(blank, i) && isPlainWord(s[i:end]) || column(end, text) && isEnvName(s[i:end])
}

// closesString reports whether the quote at i closes a string to which more is added:
// "Bearer " + token.
func (a *assignment) closesString(i int) bool {
	s := a.s
	j := skipBlanks(s, i+1)
	if j >= len(s) || s[j] != '+' {
		return false
	}
	return strings.EqualFold(a.name, "bearer") || strings.Count(s[lineStart(s, i):i], s[i:i+1])%2 == 1
}

// formPart returns the start of the value of a form part whose name is at from:
// name="password", an empty line, the value. It returns 0 if there is none.
func formPart(s string, from, i int) int {
	if from < 6 || !strings.HasSuffix(s[:from-1], "name=") {
		return 0
	}
	for _, gap := range [...]string{"\r\n\r\n", "\n\n"} {
		if strings.HasPrefix(s[i:], gap) && i+len(gap) < len(s) {
			return i + len(gap)
		}
	}
	return 0
}

// readVariable reads the default in: variable "name" { default = "value" }.
func (a *assignment) readVariable(i int) bool {
	if !strings.HasSuffix(a.s[:a.from], `variable "`) {
		return false
	}
	body := a.s[i:min(len(a.s), i+200)]
	if end := strings.IndexByte(body, '}'); end >= 0 {
		body = body[:end]
	}
	j := strings.Index(body, "default")
	if j < 0 {
		return false
	}
	j = skipBlanks(a.s, i+j+len("default"))
	if j >= len(a.s) || a.s[j] != '=' {
		return false
	}
	a.op, a.start = opEquals, skipBlanks(a.s, j+1)
	return true
}

// readCell reads a row of a table: | name | value |.
func (a *assignment) readCell(i int) bool {
	j := a.from
	for j > 0 && (isBlank(a.s[j-1]) || a.s[j-1] == '`' || a.s[j-1] == '*') {
		j--
	}
	record := (j == 0 || a.s[j-1] == '\n') && strings.Contains(a.s[max(0, j-400):j], "[ RECORD")
	if !record && (j == 0 || j == a.from || a.s[j-1] != '|') {
		return false
	}
	a.op, a.start = opColon, skipBlanks(a.s, i+1)
	return a.start < len(a.s)
}

// pairName reports whether the name is itself the value of name: or key:.
func (a *assignment) pairName() bool {
	i := a.from
	for i > 0 && (isQuote(a.s[i-1]) || isBlank(a.s[i-1])) {
		i--
	}
	return i >= 4 && a.s[i-1] == ':' && (endsFold(a.s[:i-1], "name") || endsFold(a.s[:i-1], "key"))
}

// isSetVariable reports whether a command that sets a variable of the environment stands
// before the name: setenv NAME VALUE, set -gx NAME VALUE, npm config set //host/:NAME VALUE.
func (a *assignment) isSetVariable() bool {
	head := a.s[:a.from]
	switch {
	case strings.HasSuffix(head, "/:"):
		return strings.Contains(head[lineStart(head, a.from):], " config set ")
	case endsFold(head, "setenv "), strings.HasSuffix(head, "ENV ") && lineHead(head, len(head)) == "ENV ":
		return isEnvName(a.name)
	case strings.HasSuffix(head, "x "):
		return isEnvName(a.name) && strings.Contains(head[lineStart(head, a.from):], "set -")
	}
	return false
}

func endsFold(s, end string) bool {
	return len(s) >= len(end) && strings.EqualFold(s[len(s)-len(end):], end)
}

// netrc reports whether "login NAME" stands before the name.
func netrc(s string, at int) bool {
	back := func(i int, in func(byte) bool) int {
		for least := max(0, i-maxName); i > least && in(s[i-1]); {
			i--
		}
		return i
	}
	login := back(at, isSpace)
	if login == at || login > 0 && s[login-1] == ',' {
		return false // the columns of a table have commas
	}
	if endsFold(s[:login], " and") || endsFold(s[:login], " or") {
		return false // a sentence about logins and passwords
	}
	word := back(back(login, func(c byte) bool { return !isSpace(c) }), isSpace)
	return strings.HasSuffix(s[:word], "login")
}

// describesElement reports whether s begins with an attribute of HTML that says how an
// element looks or behaves: name="password" class="…".
func describesElement(s string) bool {
	name, _, _ := strings.Cut(s[:min(len(s), maxNote)], "=")
	switch strings.ToLower(name) {
	case "class", "classname", "id", "style", "href", "src", "for", "rel", "type", "autocomplete":
		return true
	}
	return false
}

// typedEquals skips the type and the = of: var password string = "…". It returns
// -1 if there is none.
func typedEquals(s string, i int) int {
	if s[i] == '[' && i+1 < len(s) && isLetter(s[i+1]) {
		return -1 // an attribute in brackets
	}
	j := run(s, i, 24, func(c byte) bool { return isWord(c) || c == '&' || c == '*' || c == '[' || c == ']' || c == '.' })
	if j == i {
		return -1
	}
	j = skipBlanks(s, j)
	if j+1 < len(s) && s[j] == '=' && s[j+1] != '=' && s[j+1] != '>' {
		return j + 1
	}
	return declared(s, i)
}

// declared skips a type of several words, with the operator before a literal: As String =,
// CONSTANT VARCHAR2(40) :=. It returns -1 if there is none.
func declared(s string, i int) int {
	if strings.IndexByte(s[i:min(len(s), i+maxNote*2)], '=') < 0 {
		return -1
	}
	end := run(s, i, maxNote*2, func(c byte) bool { return isWord(c) || strings.IndexByte(" ()<>.", c) >= 0 })
	if n := strings.Count(s[i:end], " "); n < 2 || n > 3 || s[end-1] != ' ' {
		return -1
	}
	j := passAny(s, end, ":= ", "= ")
	if j < 0 || j >= len(s) {
		return -1
	}
	if begin, _ := openQuote(s, j); begin == 0 {
		return -1
	}
	return j
}
