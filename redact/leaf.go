package redact

import (
	"cmp"
	"strings"
)

var secretDataRule = &rule{id: "kubernetes-secret", kind: "k8s_secret"}

// maxContext is the maximum length of a value that is searched together with
// its key, as one text with both.
const maxContext = 512

// leaf finds the secrets of one string.
func (w *walker) leaf(name string, lit literal) {
	if lit.to-lit.from < 3 || w.wasClean(name, lit) {
		return
	}
	text := w.decoded(lit)
	switch {
	case w.d.record && isRecordDigest(text):
		return
	case w.d.names.whole(text) && nameStrength(name) <= weak:
		return
	case w.d.known != nil:
		if !w.nested(lit, text) {
			w.spans(lit, text, w.d.findKnown(text), 0)
		}
		return
	}
	if w.nested(lit, text) {
		return
	}
	if r := (value{text: text, quoted: true}).judge(name, nameStrength(name)); r != nil {
		w.spans(lit, text, []span{{end: len(text), rule: r}}, 0)
	}
	if name == "" || len(text) > maxContext || len(name) > maxName || strings.IndexByte(text, '\n') >= 0 {
		w.spans(lit, text, w.d.sc.find(text), 0)
		return
	}
	head := len(name) + 5
	w.spans(lit, text, w.d.sc.find(`"`+name+`": "`+text), head)
}

// wasClean reports whether the previous pass searched the same string under the
// same name and found nothing.
func (w *walker) wasClean(name string, lit literal) bool {
	return w.d.again && w.d.known == nil && !hasPlaceholder(w.s[lit.from:lit.to]) && !hasPlaceholder(name)
}

// nested searches JSON within a string. It reports whether the string is JSON.
func (w *walker) nested(lit literal, text string) bool {
	inner := document{sc: w.d.sc, known: w.d.known, used: w.d.used, record: w.d.record, names: w.d.names, level: w.d.level + 1}
	found, ok := inner.walk(text)
	if !ok {
		return false
	}
	c := cursor{raw: w.s[lit.from:lit.to], by: &inJSON, base: lit.from}
	for _, e := range join(found) {
		e.start, e.end = c.offset(e.start, false), c.offset(e.end, true)
		e.quote = escapeQuote(e.quote)
		w.found = append(w.found, e)
	}
	return true
}

// escapeQuote escapes a quote for the string around it.
func escapeQuote(q string) string {
	return strings.ReplaceAll(strings.ReplaceAll(q, `\`, `\\`), `"`, `\"`)
}

// spans adds the findings in the decoded text of a string. head is the offset
// of the text in the scanned string.
func (w *walker) spans(lit literal, text string, found []span, head int) {
	c := cursor{raw: w.s[lit.from:lit.to], by: &inJSON, base: lit.from}
	for _, f := range found {
		f.start, f.end = max(0, f.start-head), min(len(text), f.end-head)
		if f.start >= f.end || w.d.names.hold(text, f) {
			continue
		}
		e := f.in(text)
		e.start, e.end = c.offset(f.start, false), c.offset(f.end, true)
		e.quote = escapeQuote(e.quote)
		w.found = append(w.found, e)
	}
}

// numberLeaf finds passwords, and personal data, that are numbers.
func (w *walker) numberLeaf(name string, lit literal) {
	digits := w.s[lit.from:lit.to]
	if w.d.known != nil || len(digits) < 4 {
		return
	}
	e := span{start: lit.from, end: lit.to, secret: digits, quote: `"`}
	if nameStrength(name) == password && !isStandIn(digits) {
		e.rule = passwordRule
	} else if len(digits) >= 12 && w.d.sc.r.opts.PII {
		if found := w.d.sc.find(digits); len(found) > 0 {
			e.rule = found[0].rule
		}
	}
	if e.rule != nil {
		w.found = append(w.found, e)
	}
}

// isRecordDigest reports whether s is a hex digest in the form that this
// project writes.
func isRecordDigest(s string) bool {
	return len(s) >= 12 && len(s) <= 64 && run(s, 0, len(s), isTag) == len(s)
}

// members collects the members of an object that explain one another.
type members struct {
	pair          string
	secret        bool  // kind: Secret
	data          []int // starts of data and stringData
	value, valEnd int   // the string in "value"
	named         bool
	parent        string   // the key of the object
	label         bool     // a member names the field of a password
	cookie        bool     // a member marks the object as a cookie
	jwk           bool     // a member marks the object as a JSON web key
	parts         [][2]int // the secret parts of such a key
	from          int      // start of the object
	known         bool     // rated is set
	rated         strength // of parent
	user          bool     // a member called "u" is a string
	account       bool     // a member called "username" is a string
	accountKey    int      // the string in "key"
	azure         bool     // a member has the name of a key of an account of Azure
	random        bool     // the object describes a generated password of Terraform
	short         int      // the string in "p"
	sealed        string   // a name for the value, because a member says that it is a secret
}

// note records the last member that was read; its value begins at from.
func (m *members) note(w *walker, name string, from int) {
	switch name {
	case "kind":
		m.secret = w.s[from:w.i] == `"Secret"`
	case "data", "stringData":
		m.data = append(m.data, from)
	case "httpOnly", "sameSite", "hostOnly", "httponly":
		m.cookie = true
	case "kty":
		m.jwk = true
	case "d", "p", "q", "dp", "dq", "qi", "k":
		if w.s[from] == '"' && w.i-from > 20 {
			m.parts = append(m.parts, [2]int{from, w.i})
		}
		if w.s[from] == '"' && name == "p" {
			m.short = from
		}
	case "element", "selector", "label", "into", "target", "locator", "placeholder":
		if w.s[from] == '"' && w.i-from < maxName {
			m.label = m.label || fieldStrength(w.s[from+1:w.i-1]) == password
		}
	case "u", "e":
		m.user = m.user || w.s[from] == '"'
	case "id":
		if w.s[from] == '"' && strings.Contains(w.s[from:w.i], ".vault.azure.net/secrets/") {
			m.pair, m.named = "secret", true
		}
	}
	m.notePair(w, name, from)
	m.noteService(w, name, from)
	if w.s[from] == '"' && m.parent != "" && w.i-from < maxName*2 && m.ofSecrets() && !describes([]byte(strings.ToLower(name))) {
		w.i = from
		if lit := w.text(); isCredential(w.decoded(lit)) {
			w.take(lit, nameRule(m.parent, m.rated))
		}
	}
}

// noteService records the members by which some programs and services mark a key or a
// password, and takes a password that Terraform generated.
func (m *members) noteService(w *walker, name string, from int) {
	switch name {
	case "username":
		m.account = w.s[from] == '"'
	case "key":
		if w.s[from] == '"' && w.i-from > 30 {
			m.accountKey = from
		}
	case "keyName":
		m.azure = true
	case "type", "Type":
		m.random = w.s[from:w.i] == `"random_password"`
		w.random = w.random || m.random
		m.sealed = cmp.Or(sealedName(w.s[from:w.i]), m.sealed)
	case "sensitive", "isSecret", "masked":
		if w.s[from] == 't' {
			m.sealed = cmp.Or(m.sealed, "secret")
		}
	case "result":
		if w.random && w.s[from] == '"' && !w.muted && w.d.known == nil {
			w.i = from
			w.take(w.text(), passwordRule)
		}
	}
}

// ofSecrets reports whether the key of the object names several secrets: {"credentials":
// {"bob": "…"}}.
func (m *members) ofSecrets() bool {
	if !m.known {
		m.known, m.rated = true, nameStrength(m.parent)
	}
	return m.rated >= telling
}

// notePair records the members that name the value of another member, and that value. The
// value may be in an object of its own: {"label": "API token", "current": {"value": "…"}}.
func (m *members) notePair(w *walker, name string, from int) {
	switch {
	case len(name) > maxKey:
	case w.s[from] == '[':
		if j := skipSpaces(w.s, from+1); w.s[j] == '"' && strings.EqualFold(name, "values") && w.i-from < maxContext {
			m.value, m.valEnd = j, w.i
		}
	case w.s[from] == '{':
		if w.innerEnd == w.i && m.valEnd == 0 && isValueKey(name) {
			m.value, m.valEnd = w.inner, w.innerEnd
		}
	case w.s[from] != '"' || w.i-from > maxPlain:
	case isValueKey(name) && !isResultDigest(name, w.s[from+1:w.i-1]):
		m.value, m.valEnd = from, w.i
	case w.i-from < maxName && isNameKey(name):
		text := w.s[from+1 : w.i-1]
		if st := nameStrength(text); !m.named && (st > none || isPairKey(name)) || st > nameStrength(m.pair) && (st == password || !strings.EqualFold(name, "type")) {
			m.pair, m.named = text, true
		}
	}
}

// maxKey is the maximum length of the keys of a name and value pair.
const maxKey = 24

// together searches the values that other members explain.
func (w *walker) together(m *members) {
	if w.d.known != nil || w.muted {
		return
	}
	end := w.i
	w.end = end
	if m.secret {
		for _, from := range m.data {
			w.secretData(from)
		}
	}
	w.explained(m)
	if m.named && m.valEnd == 0 && w.innerEnd > m.from && nameStrength(m.pair) >= telling {
		w.i, w.innerEnd = w.inner, 0
		if lit := w.text(); isCredential(w.decoded(lit)) {
			w.take(lit, nameRule(m.pair, nameStrength(m.pair)))
		}
	}
	w.services(m)
	if m.user && m.short > 0 {
		w.i = m.short
		lit := w.text()
		if text := w.decoded(lit); isCredential(text) || isUnmistakable(text, password) {
			w.take(lit, passwordRule)
		}
	}
	w.pair(m)
	w.i = end
}

// services adds the keys that noteService recorded.
func (w *walker) services(m *members) {
	if m.random {
		w.random = false
	}
	if m.azure && m.valEnd-m.value > 42 {
		m.pair, m.named = "access_key", true
	}
	if m.account && m.accountKey > 0 {
		w.i = m.accountKey
		if lit := w.text(); isDigest(w.decoded(lit)) {
			w.take(lit, apiKeyRule)
		}
	}
}

// explained adds the secret parts of a JSON web key, and the value of the object
// if other members, or the key of the object, mark it as a secret.
func (w *walker) explained(m *members) {
	if m.jwk {
		for _, p := range m.parts {
			w.i = p[0]
			w.take(w.text(), pemRule)
		}
	}
	if !m.named && m.valEnd > 0 {
		w.inner, w.innerEnd = m.value, w.end
	}
	byParent := !m.named && nameStrength(m.parent) >= telling
	if m.valEnd == 0 || !m.cookie && !m.label && !byParent {
		return
	}
	w.i = m.value
	lit := w.text()
	text := w.decoded(lit)
	if looksLikeJSON(text) {
		return // the keys within it are more precise
	}
	v := assignment{val: value{text: text, quoted: true}}
	switch {
	case m.cookie && isCookieValue(text):
		w.take(lit, cookieRule)
	case m.label && v.isChosen():
		w.take(lit, passwordRule)
	case byParent:
		w.i = m.value
		w.leaf(m.parent, w.text())
	}
}

// take adds a whole string as a secret.
func (w *walker) take(lit literal, r *rule) {
	if text := w.decoded(lit); text != "" && !isPlaceholder(text) {
		w.spans(lit, text, []span{{end: len(text), rule: r}}, 0)
	}
}

// secretData adds the strings of the object that begins at from, up to the
// first object or array. The object has been read before.
func (w *walker) secretData(from int) {
	w.i = from
	if w.s[from] != '{' {
		return
	}
	w.i++
	for w.skip() == '"' {
		w.text()
		w.skip()
		w.i++
		switch w.skip() {
		case '{', '[':
			return
		case '"':
			w.secretLeaf(w.text())
		default:
			w.value("", 1)
		}
		if w.skip() == ',' {
			w.i++
		}
		w.skip()
	}
}

// secretLeaf adds a whole string as a secret of Kubernetes.
func (w *walker) secretLeaf(lit literal) { w.take(lit, secretDataRule) }
