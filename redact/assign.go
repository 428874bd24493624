package redact

import "strings"

// assignment is what the structural layer reads around a telling name:
//
//	password = "value"     "apiKey": "value"     \"token\": \"value\"
//	DB_PASSWORD=value      --password value      <password>value</password>
type assignment struct {
	s          string
	name       string
	from, to   int  // the name
	quote      byte // that closes the name, 0 if none
	depth      int  // backslashes before that quote
	op         operator
	val        value
	start, end int // the value
}

type operator uint8

const (
	opNone   operator = iota
	opEquals          // = := => == != ?= and their like
	opColon           // :
	opComma           // "name", "value"
	opTag             // <name>value</name>
	opFlag            // --name value
	opBlank           // name "value"
	opProse           // the name is value
)

// assign looks for an assignment to the name around the hit [start, end).
func (sc *scan) assign(start, end int) {
	if end <= sc.nameEnd {
		return
	}
	a := assignment{s: sc.s}
	a.readName(start, end)
	sc.nameEnd = a.to
	if strings.HasSuffix(a.s[:a.from], "://") {
		return // userinfo knows better where that value ends
	}
	if !a.readOperator() {
		sc.compared(&a)
		return
	}
	s := nameStrength(a.name)
	if a.op == opComma || a.op == opBlank {
		s = min(s, telling)
	}
	if isBareVerb(a.name) && a.afterUser() {
		s = password
	}
	if s == weak && a.op == opEquals && isSignature(a.name) && inQuery(a.s, a.from) {
		s = telling
	}
	if s == none || !a.readValue() || isBareVerb(a.name) && !a.bareValue() || a.op == opProse && (s < telling || !a.proseValue()) {
		return
	}
	if r := a.val.judge(a.name, s); r != nil {
		sc.add(a.start, a.end, r)
		return
	}
	if s >= telling && !a.val.quoted && (isReference(a.val.text) || isCode(a.val.text)) {
		sc.literals(&a, s)
	}
}

// maxExpression bounds how far into an expression literals are looked for.
const maxExpression = 160

// literals looks for random values in quotes on the rest of a line: the
// default of getenv("KEY", "…"), of a || "…", of Field(default="…").
func (sc *scan) literals(a *assignment, st strength) {
	s := a.s
	limit := min(len(s), a.start+maxExpression)
	for i := a.start; i < limit && s[i] != '\n' && s[i] != ';'; i++ {
		if !isQuote(s[i]) {
			continue
		}
		end := closeQuote(s, i+1, s[i], 0)
		if v := s[i+1 : end]; looksRandom(v) && !isStandIn(v) && !isReference(v) && !isPlaceholder(v) {
			sc.add(i+1, end, nameRule(a.name, st))
		}
		i = end
	}
}

// isSignature reports whether a name is that of the signature of an address.
func isSignature(name string) bool { return endsFold(name, "signature") || endsFold(name, "sig") }

// inQuery reports whether the name at i is in the query of an address.
func inQuery(s string, i int) bool { return i > 0 && (s[i-1] == '?' || s[i-1] == '&') }

// bareValue reports whether what stands behind a bare "pass" or "pwd" may be a
// password and not the name of a test or a folder.
func (a *assignment) bareValue() bool {
	return a.op != opBlank && a.op != opProse && profileOf(a.val.text).digits > 0 && (a.val.quoted || a.op == opEquals || a.afterUser()) && a.val.text[0] != '#'
}

// afterUser reports whether a name of a user stands shortly before.
func (a *assignment) afterUser() bool {
	before := a.s[max(0, a.from-64):a.from]
	for _, w := range [...]string{"user", "User", "login", "Login", "email", "Email", "USER"} {
		if strings.Contains(before, w) {
			return true
		}
	}
	return false
}

// readName widens the hit to the whole name.
func (a *assignment) readName(start, end int) {
	s := a.s
	least := max(0, start-maxName)
	for start > least && isNameByte(s[start-1]) {
		start--
	}
	if start > 0 && s[start-1] == '\\' && strings.IndexByte("nrt", s[start]) >= 0 {
		start++ // the end of an escape: \nPASSWORD=
	}
	for start < end && (s[start] == '-' || s[start] == '.') {
		start++
	}
	end = run(s, end, maxName, isNameByte)
	for end > start && (s[end-1] == '-' || s[end-1] == '.') {
		end--
	}
	a.name, a.from, a.to = s[start:end], start, end
}

func isNameByte(c byte) bool { return isWord(c) || c == '-' || c == '.' }

// readOperator reads from the end of the name to the beginning of the value.
// It reports whether there is an assignment at all.
func (a *assignment) readOperator() bool {
	i := a.closeName(a.to)
	i = a.skipIndex(i)
	blank := i
	i = skipBlanks(a.s, i)
	if i >= len(a.s) {
		return false
	}
	switch op, n := operatorAt(a.s, i); {
	case op == opComma:
		return a.quote != 0 && a.readComma(i+1)
	case op == opTag:
		if a.quote != 0 && !endsFold(a.s[:max(0, a.from-1)], "key=") || a.quote == 0 && (a.from == 0 || a.s[a.from-1] != '<') {
			return false
		}
		a.op, a.start = op, i+n
		return true
	case op != opNone:
		a.op, a.start = op, skipBlanks(a.s, i+n)
		return a.readDefault()
	}
	return a.readBare(blank, i)
}

// readDefault passes the operator of ${NAME:-default}. It reports whether
// there may be a value.
func (a *assignment) readDefault() bool {
	if !strings.HasSuffix(a.s[:a.from], "${") || a.start >= len(a.s) {
		return true
	}
	switch a.s[a.start] {
	case '-', '=':
		a.start++
		return true
	}
	return false
}

// closeName passes the quote that closes a quoted name, with the backslashes
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

// skipIndex passes [25], [] and the ] of environ["NAME"].
func (a *assignment) skipIndex(i int) int {
	s := a.s
	if i < len(s) && s[i] == ']' && a.quote != 0 {
		return i + 1
	}
	if i < len(s) && s[i] == '[' {
		if j := run(s, i+1, 6, isDigit); j < len(s) && s[j] == ']' {
			return j + 1
		}
	}
	return i
}

// operatorAt reads the operator at s[i] and how long it is.
func operatorAt(s string, i int) (operator, int) {
	switch s[i] {
	case '=', ':':
		j := i + 1
		for j < len(s) && j < i+4 && (s[j] == '=' || s[j] == ':' || s[j] == '>') {
			j++
		}
		if j == i+1 && s[i] == ':' {
			return opColon, 1
		}
		return opEquals, j - i
	case '!', '?', '+', '.', '~', '|':
		j := i + 1
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
	i = skipSpaces(a.s, i)
	if j := valueKey(a.s, i); j > 0 {
		a.op, a.start = opColon, skipBlanks(a.s, j)
		return true
	}
	if i < len(a.s) && (isQuote(a.s[i]) || a.s[i] == '\\') {
		a.op, a.start = opComma, i
		return true
	}
	return false
}

// valueKey passes the key of the second half of a name and value pair, with
// its colon; -1 if there is none.
func valueKey(s string, i int) int {
	for i < len(s) && (s[i] == '\\' || isQuote(s[i])) {
		i++
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

// readBare reads what has no operator: flags, name "value", a typed variable,
// and the lines name: NAME, value: … of YAML.
func (a *assignment) readBare(blank, i int) bool {
	s := a.s
	if s[i] == '\n' || s[i] == '\r' {
		if j := valueKey(s, skipSpaces(s, i)); j > 0 && a.pairName() {
			a.op, a.start = opColon, skipBlanks(s, j)
			return true
		}
		return false
	}
	if i == blank {
		return false
	}
	if s[i] == '{' && a.quote != 0 {
		return a.readVariable(i)
	}
	if s[i] == '|' {
		return a.readCell(i)
	}
	if j := typedEquals(s, i); j > 0 {
		a.op, a.start = opEquals, skipBlanks(s, j)
		return true
	}
	switch {
	case a.from >= 2 && s[a.from-2:a.from] == "--":
		a.op, a.start = opFlag, i
	case (s[i] == '"' || s[i] == '\'') && a.quote == 0:
		a.op, a.start = opBlank, i
	case netrc(s, a.from):
		a.op, a.start = opFlag, i
	default:
		return a.readProse(i)
	}
	return true
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
	if j == 0 || j == a.from || a.s[j-1] != '|' {
		return false
	}
	a.op, a.start = opColon, skipBlanks(a.s, i+1)
	return a.start < len(a.s)
}

// readProse reads what people write and what tools take: "the password is
// VALUE", "aws configure set NAME VALUE". Only a random value counts there.
func (a *assignment) readProse(i int) bool {
	for _, verb := range [...]string{"is ", "was ", "to ", "is: ", "= "} {
		if strings.HasPrefix(a.s[i:], verb) {
			i += len(verb)
			break
		}
	}
	a.op, a.start = opProse, skipBlanks(a.s, i)
	return a.start < len(a.s)
}

// proseValue reports whether a value without an operator is one that nobody
// would write as a word.
func (a *assignment) proseValue() bool {
	p := profileOf(a.val.text)
	return looksRandom(a.val.text) || p.digits > 0 && p.symbols > 0 && p.letters > 2 && p.joints == 0 && !strings.ContainsAny(a.val.text, "/()[]{}<>=:,;%")
}

// pairName reports whether the name is itself the value of name: or key:.
func (a *assignment) pairName() bool {
	i := a.from
	for i > 0 && (isQuote(a.s[i-1]) || isBlank(a.s[i-1])) {
		i--
	}
	return i >= 4 && a.s[i-1] == ':' && (endsFold(a.s[:i-1], "name") || endsFold(a.s[:i-1], "key"))
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
	login := back(at, isBlank)
	if login == at {
		return false
	}
	word := back(back(login, func(c byte) bool { return !isSpace(c) }), isSpace)
	return strings.HasSuffix(s[:word], "login")
}

// typedEquals passes the type and the = of: var password string = "…".
func typedEquals(s string, i int) int {
	j := run(s, i, 24, func(c byte) bool { return isWord(c) || c == '&' || c == '*' || c == '[' || c == ']' || c == '.' })
	if j == i {
		return -1
	}
	j = skipBlanks(s, j)
	if j+1 < len(s) && s[j] == '=' && s[j+1] != '=' && s[j+1] != '>' {
		return j + 1
	}
	return -1
}

// compared finds the value of: if ("value" == password).
func (sc *scan) compared(a *assignment) {
	s, i := a.s, a.from
	for i > 0 && isBlank(s[i-1]) {
		i--
	}
	end := i
	for i > 0 && (s[i-1] == '=' || s[i-1] == '!') {
		i--
	}
	if end-i < 2 {
		return
	}
	for i > 0 && isBlank(s[i-1]) {
		i--
	}
	if i < 2 || !isQuote(s[i-1]) {
		return
	}
	open := strings.LastIndexByte(s[max(0, i-200):i-1], s[i-1])
	if open < 0 {
		return
	}
	open += max(0, i-200) + 1
	v := value{text: s[open : i-1], quoted: true}
	if strings.IndexByte(v.text, '\n') >= 0 {
		return
	}
	if st := nameStrength(a.name); st > weak {
		if r := v.judge(a.name, st); r != nil {
			sc.add(open, i-1, r)
		}
	}
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
