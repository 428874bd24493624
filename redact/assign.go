package redact

import "strings"

// assignment is the text that the structural layer reads around the name of a secret:
//
//	password = "value"     "apiKey": "value"     \"token\": \"value\"
//	DB_PASSWORD=value      --password value      <password>value</password>
type assignment struct {
	s          string
	name       string
	from, to   int  // the name
	quote      byte // quote that closes the name; 0 = none
	depth      int  // backslashes before that quote
	op         operator
	val        value
	start, end int // the value
	looked     int // bytes read so far to find the end of the value

	told bool // a verb stands before the value
	pair bool // the value is the second half of a name and value pair

	rated string   // name at the last call of named
	base  strength // strength of rated
}

type operator uint8

const (
	opNone   operator = iota
	opEquals          // = := => == != ?= and similar
	opColon           // :
	opComma           // "name", "value"
	opTag             // <name>value</name>
	opFlag            // --name value
	opBlank           // name "value"
	opProse           // the name is value
	opCall            // setName("value")
)

// assign looks for an assignment to the name around the hit [start, end).
func (sc *scan) assign(start, end int) {
	if end <= sc.nameEnd || isInWord(sc.s, start, end) {
		return
	}
	a := assignment{s: sc.s}
	a.readName(start, end)
	a.rated, a.base = a.name, sc.rate(a.name)
	if sc.isIdle(&a, start, end) {
		return
	}
	sc.nameEnd = a.to
	if strings.HasSuffix(a.s[:a.from], "://") {
		return // userinfo finds the end of the value in that case
	}
	if a.from > 0 && a.s[a.from-1] == ':' && strings.Contains(a.s[max(0, a.from-80):a.from], "arn:") {
		return // the value is the name of a resource
	}
	if a.to > sc.headEnd && a.endsCell() && (a.named() >= telling || a.named() == weak && isEnvName(a.name)) {
		sc.column(&a)
	}
	if a.op = opNone; a.from > 0 && a.s[a.from-1] == '>' && a.named() >= telling {
		sc.markupColumn(&a)
		sc.elementBefore(&a)
	}
	operator := a.readOperator()
	if (!operator || a.op == opProse) && a.named() >= telling {
		sc.before(&a)
		if sc.answered(&a) {
			return
		}
	}
	if !operator {
		if a.named() < telling {
			return
		}
		n := len(sc.found)
		sc.compared(&a)
		sc.elsewhere(&a)
		if len(sc.found) == n {
			sc.nearby(&a)
		}
		return
	}
	if s := a.strength(); s != none && !sc.unpacked(&a) && !(a.op <= opColon && sc.byteList(&a)) {
		sc.assigned(a, s)
	}
}

// elsewhere looks for the value of a name without an operator: it may be in the other
// arguments of a call, or anywhere in a sentence.
func (sc *scan) elsewhere(a *assignment) {
	switch {
	case a.quote != 0:
		if !sc.replied(a) && !sc.fallback(a) && !sc.sibling(a) {
			sc.literalBefore(a)
		}
	case a.to >= len(a.s):
		sc.spoken(a)
	case a.s[a.to] == ')' || a.s[a.to] == ']':
		sc.unpacked(a)
	case a.s[a.to] == '(':
		sc.callLiterals(a)
	case a.s[a.to] == '?':
		sc.announced(a, a.named())
		sc.spoken(a)
	case a.s[a.to] == '\n' || a.s[a.to] == '\r':
		if !sc.counted(a) && !sc.sibling(a) {
			sc.below(a)
			sc.spoken(a)
		}
	case !sc.sibling(a):
		sc.spoken(a)
	}
}

// callLiterals finds the literals among the arguments of a call to a function with the
// name of a secret.
func (sc *scan) callLiterals(a *assignment) {
	rest := a.s[a.to:min(len(a.s), a.to+maxExpression)]
	if strings.IndexByte(rest, '"') < 0 && strings.IndexByte(rest, '\'') < 0 {
		return
	}
	if st := a.named(); st >= telling && !isBareVerb(a.name) {
		v := *a
		v.start = a.to
		sc.literals(&v, st)
	}
}

// named returns the strength of the name alone.
func (a *assignment) named() strength {
	if a.rated != a.name {
		a.rated, a.base = a.name, nameStrength(a.name)
	}
	return a.base
}

// strength returns how strongly the name indicates a secret. A loose operator between
// name and value lowers the strength.
func (a *assignment) strength() strength {
	s := a.named()
	if a.op == opComma || a.op == opBlank {
		s = min(s, telling)
	}
	if isBareVerb(a.name) && a.afterUser() {
		s = password
	}
	if a.op == opEquals && isSignature(a.name) && inQuery(a.s, a.from) {
		s = telling
	}
	return s
}

// assigned adds the value of an assignment if it is a secret.
func (sc *scan) assigned(a assignment, s strength) {
	if a.op != opCall && a.start < len(a.s) && a.groups() && (s >= telling || a.end-a.start >= minWeakGroups) {
		sc.add(a.start, a.end, nameRule(a.name, s))
		return
	}
	ok := a.readValue()
	if a.pair && ok && !a.val.quoted {
		a.wholeLine()
	}
	sc.spend(a.looked + 4*len(a.val.text))
	if a.op == opCall && ok {
		if text := trimKeys(a.val.text); text != "" {
			a.set(a.start, a.start+len(text), a.val.quoted)
		}
	}
	if a.op == opCall && ok && !a.argument() && !(a.pair && a.val.isWordFor(a.name)) {
		return
	}
	if a.op == opProse && !(ok && a.proseValue()) || a.op == opColon && !ok {
		if a.op == opProse && sc.sibling(&a) {
			return
		}
		n := len(sc.found)
		sc.unread(&a, s)
		if len(sc.found) == n {
			sc.nearby(&a)
		}
		return
	}
	if !ok || isBareVerb(a.name) && a.op != opCall && !a.bareValue() || a.op == opProse && s < telling {
		return
	}
	if a.isEmptyField() || a.isTranslated() || a.isVerdict() || a.namesObject() || a.isLabel() || a.isChecksum() || a.isHarmless() {
		return
	}
	sc.judged(&a, s)
}

// judged adds the value that was read if it is a secret, and otherwise looks for another one
// in the rest of the expression or of the line.
func (sc *scan) judged(a *assignment, s strength) {
	sc.changed(*a, s)
	if a.isChosenBeside() {
		s = password
	}
	if _, pass, found := strings.Cut(a.val.text, ":"); found && a.op == opComma && s >= telling && isCredential(pass) {
		sc.add(a.end-len(pass), a.end, commandRule) // a name and a password
		return
	}
	judge := value.judge
	if a.pair {
		judge = value.judgePair
	}
	if r := judge(a.val, a.name, s); r != nil {
		sc.add(a.start, a.end, r)
		sc.continued(a, r)
		if a.isNumber() {
			sc.found[len(sc.found)-1].quote = strings.Repeat(`\`, a.depth) + `"`
		}
		return
	}
	if s >= telling && !a.val.quoted && !hasPlaceholder(a.val.text) && (isReference(a.val.text) || isCode(a.val.text)) {
		n := len(sc.found)
		sc.literals(a, s)
		if len(sc.found) > n {
			return
		}
	}
	sc.nearby(a)
}

// isChosenBeside reports whether the value beside the name of a password, without an
// operator between them, mixes letters and digits: define('DB_PASSWORD', 'plover83').
func (a *assignment) isChosenBeside() bool {
	return (a.op == opComma || a.op == opBlank) && a.val.quoted && len(a.val.text) >= 8 && a.named() == password && (isInvented(a.val.text) || isPassphrase(a.val.text) || isDense(a.val.text) && a.val.secret(password))
}

// isEmptyField reports whether the value is the next field of a structure that Go printed,
// because the field with the name is empty: {User:bob Password: Mode:x2}.
func (a *assignment) isEmptyField() bool {
	if a.op != opColon || a.val.quoted || a.start != a.to+2 || !isUpper(a.name[0]) {
		return false
	}
	t := a.val.text
	name := run(t, 0, maxName, isWord)
	return name > 1 && name < len(t) && t[name] == ':' && isUpper(t[0]) && strings.IndexByte(lineHead(a.s, a.from), '{') >= 0
}

// isTranslated reports whether the value is the text of a message whose key ends in the
// name: t("error.password", "four words in some language").
func (a *assignment) isTranslated() bool {
	return a.op == opComma && !isEnvName(a.name) && strings.IndexByte(a.val.text, ' ') > 0 && isPassphrase(a.val.text)
}

// endsCell reports whether a separator of columns, or the end of the line,
// follows the name.
func (a *assignment) endsCell() bool {
	i := run(a.s, a.to, 40, func(c byte) bool { return c == ' ' || isQuote(c) })
	return i < len(a.s) && (strings.IndexByte(",;|\t\n\r", a.s[i]) >= 0 || strings.HasPrefix(a.s[i:], "│") || strings.HasPrefix(a.s[i:], "┃")) || i > a.to+1 && i < len(a.s) && (isUpper(a.name[0]) || a.s[lineStart(a.s, a.from)] == '#')
}

// argument reports whether the argument of a call is an invented value and not
// the name of a variable.
func (a *assignment) argument() bool {
	return profileOf(a.val.text).digits > 0 || isMadeUp(a.val.text)
}

// changed finds the second value in a plan of Terraform: name = "old" -> "new".
func (sc *scan) changed(a assignment, st strength) {
	rest := a.s[a.end:min(len(a.s), a.end+8)]
	if a.op == opProse && strings.HasPrefix(rest, " to ") && strings.HasSuffix(a.s[:a.start], " from ") {
		a.start = a.end + len(" to ")
		if a.readValue() && a.proseValue() && a.val.secret(st) {
			sc.add(a.start, a.end, nameRule(a.name, st))
		}
		return
	}
	if !a.val.quoted || !strings.HasPrefix(rest, `" -> "`) && !strings.HasPrefix(rest, `\" -> \"`) {
		return
	}
	a.start = a.end + strings.IndexByte(rest, '>') + 2
	if a.readValue() {
		if r := a.val.judge(a.name, st); r != nil {
			sc.add(a.start, a.end, r)
		}
	}
}

// isNumber reports whether the value is a JSON number. Its placeholder must be a
// string.
func (a *assignment) isNumber() bool {
	return a.quote == '"' && a.op == opColon && !a.val.quoted && run(a.val.text, 0, len(a.val.text), isDigit) == len(a.val.text)
}

// maxExpression is the maximum number of bytes of an expression that are
// searched for literals.
const maxExpression = 160

// literals looks for random values in quotes on the rest of a line: the
// default of getenv("KEY", "…"), of a || "…", of Field(default="…").
func (sc *scan) literals(a *assignment, st strength) {
	s := a.s
	limit := min(len(s), a.start+maxExpression)
	lines := a.isContainer()
	for i := a.start; i < limit && (s[i] != '\n' || lines) && s[i] != ';'; i++ {
		if lines && i > a.start+1 && (s[i] == ']' || s[i] == '}') {
			return
		}
		if !isQuote(s[i]) {
			continue
		}
		end := closeQuote(s, i+1, s[i], 0)
		if v := dropPlaceholders(s[i+1 : end]); isLiteralSecret(v, st) && !isStandIn(v) && !isReference(v) {
			r, v := nameRule(a.name, st), *a
			sc.add(i+1, end, r)
			v.set(i+1, end, true)
			sc.continued(&v, r)
		}
		i = end
	}
}

// isLiteralSecret reports whether a literal in an expression is a secret by its form.
func isLiteralSecret(v string, st strength) bool {
	return looksRandom(v) || st >= telling && len(v) >= 8 && (isGenerated(v) || isUnmistakable(v, st)) || st == password && isChosenWord(v) || st >= telling && isCredential(v)
}

// isContainer reports whether the value is a list, or a map of several secrets, which may
// have many lines.
func (a *assignment) isContainer() bool {
	c := a.s[a.start]
	return c == '[' || c == '{' && (endsFold(a.name, "s") || endsFold(a.name, "password"))
}

// isSignature reports whether name is the parameter that signs a URL.
func isSignature(name string) bool { return endsFold(name, "signature") || endsFold(name, "sig") }

// inQuery reports whether the name at i is a parameter in the query of a URL.
func inQuery(s string, i int) bool { return i > 0 && (s[i-1] == '?' || s[i-1] == '&') }

// bareValue reports whether the value after a bare "pass" or "pwd" may be a
// password and not the name of a test or a folder.
func (a *assignment) bareValue() bool {
	if a.op == opBlank && a.val.quoted && isInvented(a.val.text) && a.afterUser() {
		return true // user "bob" pass "…"
	}
	if isGenerated(a.val.text) || a.val.quoted && isMadeUp(a.val.text) || a.val.env && endsFold(a.name, "pwd") && isGibberish(a.val.text, 10) || a.val.text[0] == '$' && len(a.val.text) > 1 && isGenerated(a.val.text[1:]) {
		return a.op != opBlank && (a.op != opProse || a.told && isCredential(a.val.text))
	}
	if a.op == opEquals && (isMadeUp(a.val.text) || isDigest(a.val.text) || isUUID(a.val.text)) && a.afterUser() {
		return true
	}
	return a.op != opBlank && a.op != opProse && profileOf(a.val.text).digits > 0 && (a.val.quoted || a.op == opEquals || a.afterUser()) && a.val.text[0] != '#'
}

// afterUser reports whether a word for a user, a login or a host is in the 64 bytes
// before the name.
func (a *assignment) afterUser() bool {
	before := a.s[max(0, a.from-64):a.from]
	for _, w := range [...]string{"user", "User", "login", "Login", "email", "Email", "USER", "uid=", "Uid=", "UID=", "UID =", "Uid =", "uid =", "User Id", "host", "Host"} {
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
	for start > least && inName[s[start-1]] {
		start--
	}
	if start > 0 && s[start-1] == '\\' && strings.IndexByte("nrt", s[start]) >= 0 {
		start++ // the end of an escape: \nPASSWORD=
	}
	for start < end && (s[start] == '-' || s[start] == '.') {
		start++
	}
	for most := min(len(s), end+maxName); end < most && inName[s[end]]; {
		end++
	}
	for end > start && (s[end-1] == '-' || s[end-1] == '.') {
		end--
	}
	a.name, a.from, a.to = s[start:end], start, end
	if strings.EqualFold(a.name, "key") {
		a.ownedKey()
	}
}

// ownedKey adds the word before "key" to the name, as in "API key" and "public
// key".
func (a *assignment) ownedKey() {
	if a.from == 0 || a.s[a.from-1] != ' ' {
		return
	}
	from := a.from - 1
	for least := max(0, from-len("encryption")); from > least && isLetter(a.s[from-1]); {
		from--
	}
	var buf [len("encryption")]byte
	word := buf[:a.from-1-from]
	for i := range word {
		word[i] = lower(a.s[from+i])
	}
	switch string(word) {
	case "api", "secret", "access", "private", "encryption", "setup", "signing", "unseal", "recovery", "root", "license", "public", "foreign", "cache":
		a.from = from
		a.name = a.s[from:a.to]
	}
}

func isNameByte(c byte) bool { return inName[c] }

// inName marks the bytes of names.
var inName = func() (t [256]bool) {
	for c := range 256 {
		t[c] = isWord(byte(c)) || c == '-' || c == '.'
	}
	return t
}()

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
	if st := a.named(); st > weak {
		if r := v.judge(a.name, st); r != nil {
			sc.add(open, i-1, r)
		}
	}
}
