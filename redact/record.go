package redact

import (
	"encoding/base64"
	"strings"
)

var (
	cryptRule = &rule{id: "crypt-hash", kind: "password_hash", rank: byShape}
	ntlmRule  = &rule{id: "ntlm-hash", kind: "password_hash", rank: byShape}
	saslRule  = &rule{id: "sasl", kind: "password"}
)

// records lists the words of files and protocols that have a password at a
// known place.
var records = []struct {
	word string
	run  action
}{
	{"identified ", (*scan).identified},
	{"@tcp(", (*scan).dsn},
	{"@unix(", (*scan).dsn},
	{"create table", (*scan).created},
	{"insert into", (*scan).inserted},
	{"copy ", (*scan).inserted},
	{"convertto-securestring", (*scan).secureString},
	{"$1$", crypt(22, 22)},
	{"$5$", crypt(43, 43)},
	{"$6$", crypt(86, 86)},
	{"$y$", crypt(43, 43)},
	{"$apr1$", crypt(22, 22)},
	{"$2a$", crypt(53, 53)},
	{"$2b$", crypt(53, 53)},
	{"$2y$", crypt(53, 53)},
	{"$argon2", crypt(20, 200)},
	{"{ssha", (*scan).schemeHash},
	{"{sha}", (*scan).schemeHash},
	{"{smd5}", (*scan).schemeHash},
	{"aad3b435b51404eeaad3b435b51404ee:", (*scan).ntlm},
	{"ntlm", (*scan).ntlm},
	{"-hashes", (*scan).ntlm},
	{":0101000000000000", (*scan).netNTLM},
	{":5432:", (*scan).pgpass},
	{":5433:", (*scan).pgpass},
	{":6432:", (*scan).pgpass},
	{"*:*:", (*scan).pgpass},
	{"key content", (*scan).behindColon},
	{"snmp-server community ", func(sc *scan, _, end int) { sc.chosen(end) }},
	{"password 7 ", (*scan).cisco},
	{"secret 7 ", (*scan).cisco},
	{"secret 0 ", func(sc *scan, _, end int) { sc.chosen(end) }},
	{"password 0 ", func(sc *scan, _, end int) { sc.chosen(end) }},
	{"cat ", (*scan).printed},
	{"op read ", (*scan).printed},
	{"pass show ", (*scan).printed},
	{"pwgen ", (*scan).printed},
	{"admin initial-password", (*scan).printed},
	{"openssl rand ", (*scan).printed},
	{"base64 -d", (*scan).printed},
	{"base64 --d", (*scan).printed},
	{"get -field", (*scan).printed},
	{"read -field", (*scan).printed},
	{"gcloud secrets", (*scan).printed},
	{"secret-value", (*scan).printed},
	{"-decryption", (*scan).printed},
	{"secret-tool", (*scan).printed},
	{"-generic-password", (*scan).printed},
	{"keyvault secret show", (*scan).printed},
	{"/reset", linked},
	{"password-reset/", linked},
	{"magic", linked},
	{"/hooks/", linked},
	{"pass ", (*scan).passDialog},
	{"auth ", (*scan).authDialog},
	{" login ", (*scan).loginDialog},
	{"auth plain ", (*scan).sasl},
	{"ugfzc3dvcmq6", (*scan).saslLogin},
}

// identified finds the password of SQL: IDENTIFIED BY 'password',
// IDENTIFIED WITH plugin BY 'password'.
func (sc *scan) identified(_, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	if i+5 < len(s) && strings.EqualFold(s[i:i+5], "with ") {
		i = skipBlanks(s, run(s, skipBlanks(s, i+5), maxName, isWord))
	}
	if i+3 >= len(s) || !strings.EqualFold(s[i:i+3], "by ") && !strings.EqualFold(s[i:i+3], "as ") {
		return
	}
	i = skipBlanks(s, i+3)
	if i+9 < len(s) && strings.EqualFold(s[i:i+9], "password ") {
		i = skipBlanks(s, i+9)
	}
	if begin, _ := openQuote(s, i); begin == 0 {
		if statesUser(s[max(0, end-maxRecord):end]) {
			sc.chosen(i)
		}
		return
	}
	if s[i] == '`' {
		return
	}
	a := assignment{s: s, to: i, op: opBlank, start: i}
	if a.readValue() && a.val.secret(password) {
		sc.add(a.start, a.end, passwordRule)
	}
}

// statesUser reports whether the text before a password is the head of a statement of SQL about a
// user, which may have several lines. In a sentence something is "identified by" anything.
func statesUser(head string) bool {
	if strings.HasSuffix(head, "IDENTIFIED ") {
		return true
	}
	head = strings.ToLower(head[strings.LastIndexByte(head, ';')+1:])
	return strings.Contains(head, "create ") || strings.Contains(head, "alter ") || strings.Contains(head, "grant ")
}

// secureString finds the argument of PowerShell's ConvertTo-SecureString.
func (sc *scan) secureString(_, end int) {
	i := skipBlanks(sc.s, end)
	for i < len(sc.s) && sc.s[i] == '-' {
		i = skipBlanks(sc.s, argumentEnd(sc.s, i, len(sc.s)))
	}
	sc.chosen(i)
}

// crypt returns the action that finds a password hash in the format of crypt.
// The last part of the hash has least to most characters.
func crypt(least, most int) action {
	return func(sc *scan, start, end int) {
		to := run(sc.s, end, 300, isCrypt)
		sc.spend(to - end)
		last := to - (strings.LastIndexByte(sc.s[start:to], '$') + start + 1)
		if last >= least && last <= most && profileOf(sc.s[to-last:to]).digits > 0 {
			sc.add(start, to, cryptRule)
		}
	}
}

// schemeHash finds a password hash after its scheme in braces, as in LDAP.
func (sc *scan) schemeHash(_, end int) {
	from := run(sc.s, end, 5, func(c byte) bool { return isDigit(c) || c == '}' })
	to := run(sc.s, from, 200, func(c byte) bool { return isB64(c) || c == '=' })
	if from > 0 && sc.s[from-1] == '}' && to-from >= 24 {
		sc.add(from, to, cryptRule)
	}
}

func isCrypt(c byte) bool { return isAlnum(c) || strings.IndexByte("./$=,+-", c) >= 0 }

// ntlm finds the hash after its name, or after the hash of an empty password.
func (sc *scan) ntlm(_, end int) {
	s := sc.s
	i := run(s, end, 12, func(c byte) bool { return isBlank(c) || c == ':' || c == '=' })
	to := run(s, i, 33, isHex)
	if to-i == 32 && (i > end || s[end-1] == ':') && profileOf(s[i:to]).letters > 0 {
		sc.add(i, to, ntlmRule)
	}
}

// netNTLM finds the two halves of a response to a challenge.
func (sc *scan) netNTLM(start, end int) {
	s := sc.s
	if start < 33 || run(s, start-32, 32, isHex) != start || s[start-33] != ':' {
		return
	}
	to := run(s, end, maxValue, isHex)
	sc.spend(to - start)
	sc.add(start-32, start, ntlmRule)
	sc.add(start+1, to, ntlmRule)
}

// pgpass finds the last field of a line host:port:database:name:password.
func (sc *scan) pgpass(start, end int) {
	s := sc.s
	from := strings.LastIndexAny(s[max(0, start-200):start], "\n\" '") + 1 + max(0, start-200)
	to := end + len(s[end:min(len(s), end+300)])
	if i := strings.IndexByte(s[end:to], '\n'); i >= 0 {
		to = end + i
	}
	sc.spend(to - from)
	fields := strings.SplitN(s[from:to], ":", 5)
	if len(fields) < 5 || strings.ContainsAny(fields[2], "/ ") {
		return
	}
	last := strings.TrimRight(fields[4], " \r")
	at := from + len(s[from:to]) - len(fields[4])
	if strings.IndexByte(last, ' ') < 0 {
		sc.literal(at, at+len(last))
	}
}

// behindColon adds the value after a colon if it is a password.
func (sc *scan) behindColon(_, end int) {
	i := skipBlanks(sc.s, end)
	if i < len(sc.s) && sc.s[i] == ':' {
		sc.chosen(skipBlanks(sc.s, i+1))
	}
}

// cisco finds a password in the reversible encoding of Cisco routers.
func (sc *scan) cisco(_, end int) {
	if to := run(sc.s, end, 120, isHex); to-end >= 8 && (to-end)%2 == 0 && (to == len(sc.s) || isSpace(sc.s[to])) {
		sc.add(end, to, passwordRule)
	}
}

// lineStarts reports whether a line begins at i, after the blanks or > that
// clients put before it.
func lineStarts(s string, i int) bool {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == '>') {
		i--
	}
	return i == 0 || s[i-1] == '\n' || strings.HasSuffix(s[:i], `":`) || strings.HasSuffix(s[:i], `": "`)
}

// passDialog finds the password of FTP and POP3: PASS password, after a dialog
// about the name.
func (sc *scan) passDialog(start, end int) {
	s := sc.s
	before := s[max(0, start-200):start]
	if s[start:end] == "PASS " && lineStarts(s, start) && (strings.Contains(before, "USER ") || strings.Contains(before, "331 ")) {
		sc.chosen(end)
	}
}

// authDialog finds the password of Redis: AUTH password, followed by the answer
// of the server.
func (sc *scan) authDialog(start, end int) {
	s := sc.s
	if to := end + strings.Index(s[end:min(len(s), end+maxName)], `\r\n`); s[start:end] == "AUTH " && start > 0 && s[start-1] == '"' && to > end {
		sc.literal(end, to)
		return
	}
	if s[start:end] != "AUTH " || !lineStarts(s, start) && !strings.HasSuffix(s[:start], "> ") {
		return
	}
	line := lineEnd(s, end)
	if rest := s[line:min(len(s), line+40)]; strings.Contains(rest, "OK") || strings.Contains(rest, "WRONGPASS") {
		if i := strings.LastIndexByte(s[end:line], ' '); i >= 0 {
			end += i + 1
		}
		sc.chosen(end)
	}
}

// loginDialog finds the password of IMAP: a1 LOGIN name@host password.
func (sc *scan) loginDialog(start, end int) {
	s := sc.s
	if s[start:end] != " LOGIN " {
		return
	}
	name := argumentEnd(s, end, min(len(s), end+200))
	if name < len(s) && s[name] == ' ' && (strings.IndexByte(s[end:name], '@') > 0 || s[end] == '"' || isTagged(s[:start])) {
		sc.chosen(skipBlanks(s, name))
	}
}

// isTagged reports whether head ends in the tag of a command of IMAP at the start of a line.
func isTagged(head string) bool {
	i := len(head)
	for i > 0 && isAlnum(head[i-1]) {
		i--
	}
	return i < len(head) && len(head)-i <= 6 && isDigit(head[len(head)-1]) && isLetter(head[i]) && lineStarts(head, i)
}

// saslLogin finds the password after the prompt "Password:" in base64.
func (sc *scan) saslLogin(_, end int) {
	from := end + 1
	if from >= len(sc.s) || sc.s[end] != '\n' && sc.s[end] != '\r' {
		return
	}
	from = skipSpaces(sc.s, from)
	for _, mark := range [...]string{"C: ", "> ", "<- ", "-> "} {
		if strings.HasPrefix(sc.s[from:], mark) {
			from += len(mark)
		}
	}
	to := run(sc.s, from, maxNeedle, func(c byte) bool { return isB64(c) || c == '=' })
	sc.spend(to - from)
	if raw, err := base64.StdEncoding.DecodeString(sc.s[from:to]); err == nil && len(raw) >= 4 && isText(string(raw)) {
		sc.add(from, to, saslRule)
	}
}

// sasl finds a name and a password in base64.
func (sc *scan) sasl(_, end int) {
	to := run(sc.s, end, maxValue, func(c byte) bool { return isB64(c) || c == '=' })
	sc.spend(4 * (to - end))
	raw, err := base64.StdEncoding.DecodeString(sc.s[end:to])
	if err == nil && (strings.Count(string(raw), "\x00") == 2 || isPair(string(raw))) {
		sc.add(end, to, saslRule)
	}
}
