package redact

import "strings"

// belongs reports whether the value v, whose key is at i, is the value of the name a in the
// record s[from:to]. A value without quotes needs a structure that shows where it ends: lines,
// the braces of YAML, a list such as name=NAME,value=VALUE, or elements with an index.
func (v *assignment) belongs(a *assignment, i, from, to int) bool {
	s := v.s
	switch {
	case v.val.quoted:
		return true
	case ownLine(s, i) && ownLine(s, a.from):
		v.wholeLine()
		return true
	case from > 0 && s[from-1] == '{' && to < len(s) && s[to] == '}':
		return i == from || strings.HasSuffix(s[from:i], ", ")
	}
	return isElement(s, i) || i == a.to+1 && s[a.to] == ','
}

// wholeLine extends a value without quotes to its line if the line consists of words in lower
// case. It also marks a single word as the value of a variable.
func (v *assignment) wholeLine() {
	end := v.start + lineLength(v.s[v.start:min(len(v.s), v.start+maxName)])
	if text := strings.TrimRight(v.s[v.start:end], " \r"); isWordPhrase(text) {
		v.set(v.start, v.start+len(text), true)
		return
	}
	v.val.env = isLowerWord(v.val.text)
}

// isElement reports whether the key at i is the one of a member of an element with an index:
// env[0].value.
func isElement(s string, i int) bool { return strings.HasSuffix(s[:i], "].") }

// judgePair is judge for the value of a name and value pair. There it accepts words that could
// be a label after any other name.
func (v value) judgePair(name string, s strength) *rule {
	if s == password && v.isWordFor(name) {
		return passwordRule
	}
	return v.judge(name, s)
}

// isWordFor reports whether v is a word or a phrase that is the password of a variable.
func (v value) isWordFor(name string) bool {
	if isEnvName(name) && len(v.text) >= 4 && isLowerWord(v.text) {
		return !commonWord(v.text)
	}
	return v.isPhraseFor(name)
}

// isPhraseFor reports whether v is a phrase in quotes, and the name says whose password it is.
func (v value) isPhraseFor(name string) bool {
	return v.quoted && namesOwner(name) && isWordPhrase(v.text)
}

// namesOwner reports whether the name of a password says whose it is: DB_PASSWORD. The labels
// of forms have names such as login.password and user_password.
func namesOwner(name string) bool {
	var w nameWords
	w.split(name)
	switch owner := w.at(w.n - 2); string(owner) {
	case "login", "user", "auth", "my":
		return false
	default:
		return ownsPassword(owner)
	}
}

// isWordPhrase reports whether s is two or three words in lower case that are rare in labels
// and sentences.
func isWordPhrase(s string) bool {
	n := 0
	for w := range strings.SplitSeq(s, " ") {
		if len(w) < 3 || !isLowerWord(w) || isNameWord(w) {
			return false
		}
		n++
	}
	return n == 2 || n == 3
}

// sealedName returns a name for the value of an object whose type, in quotes, says that the
// value is a secret: in the parameters of AWS, in 1Password and in Postman.
func sealedName(quoted string) string {
	switch quoted {
	case `"SecureString"`, `"CONCEALED"`:
		return "password"
	case `"secret"`:
		return "secret"
	}
	return ""
}

// pair searches the value of an object that has the name of the value, too, or says that the
// value is a secret.
func (w *walker) pair(m *members) {
	if m.valEnd == 0 {
		return
	}
	st := none
	if m.named {
		st = nameStrength(m.pair)
	}
	name := m.pair
	if m.sealed != "" && nameStrength(m.sealed) > st {
		name, st = m.sealed, telling
	}
	if st != none {
		w.i = m.value
		w.pairLeaf(name, w.text())
	}
}

// pairLeaf finds the secret in the string of a name and value pair.
func (w *walker) pairLeaf(name string, lit literal) {
	if nameStrength(name) == password && (value{text: w.decoded(lit), quoted: true}).isWordFor(name) {
		w.take(lit, passwordRule)
		return
	}
	w.leaf(name, lit)
}

// elementBefore finds the value in the element before the one with the name:
// <value>VALUE</value> <name>NAME</name>.
func (sc *scan) elementBefore(a *assignment) {
	first := max(0, a.from-maxRecord)
	head := a.s[first:a.from]
	if !endsFold(head, "<name>") && !endsFold(head, "<key>") {
		return
	}
	head = strings.TrimRight(head[:strings.LastIndexByte(head, '<')], " \t\r\n")
	sc.spend(len(head))
	if !endsFold(head, "</value>") {
		return
	}
	head = head[:len(head)-len("</value>")]
	open := strings.LastIndexByte(head, '>')
	if open < 0 || !endsFold(head[:open], "<value") {
		return
	}
	v := *a
	v.set(first+open+1, first+len(head), true)
	if r := v.val.judgePair(a.name, a.named()); r != nil {
		sc.add(v.start, v.end, r)
	}
}

// isMemberKey reports whether the key of a member of an object is at i, with its colon.
func isMemberKey(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	begin, depth := openQuote(s, i)
	if begin == 0 {
		return false
	}
	end := run(s, begin, maxKey, isWord) + depth
	if end >= len(s) || s[end] != s[begin-1] {
		return false
	}
	end = skipBlanks(s, end+1)
	return end < len(s) && s[end] == ':'
}

// opensTuple reports whether the name and the literal at i are the elements of a tuple:
// {password, "VALUE"}.
func (a *assignment) opensTuple(i int) bool {
	if !strings.HasSuffix(strings.TrimSuffix(a.s[:a.from], ":"), "{") || strings.IndexByte(a.name, '.') >= 0 {
		return false
	}
	end := closeQuote(a.s, i+1, '"', 0)
	return end+1 < len(a.s) && a.s[end+1] == '}'
}
