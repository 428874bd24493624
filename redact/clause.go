package redact

import "strings"

// unread finds the value of a name without an operator, or with words between them: on
// the line below, after a prompt, or elsewhere in the clause.
func (sc *scan) unread(a *assignment, s strength) {
	sc.announced(a, s)
	sc.spoken(a)
}

// spoken finds the value of a name in a sentence.
func (sc *scan) spoken(a *assignment) {
	if s := spokenStrength(a.name); s >= telling && a.quote == 0 && isSpoken(a) && !sc.prompted(a, s) {
		if endsFold(a.name, "creds") || endsFold(a.name, "credentials") {
			sc.userAndPassword(a.to)
		}
		sc.beside(a, s)
	}
}

// spokenStrength is nameStrength for the words of sentences.
func spokenStrength(name string) strength {
	var buf [12]byte
	if name == "pw" || name == "PW" {
		return password
	}
	if len(name) < 5 || len(name) >= len(buf) {
		if strings.IndexByte(name, ' ') >= 0 {
			return nameStrength(name)
		}
		return none
	}
	for i := range len(name) {
		buf[i] = lower(name[i])
	}
	switch string(buf[:len(name)]) {
	case "password", "passwords", "passphrase", "passcode", "passwd", "passwort":
		return password
	case "secret", "token", "credential", "credentials", "creds", "apikey", "api key", "access key", "secret key", "private key":
		return telling
	}
	return none
}

// maxPrompt is the maximum length of the words between a name and the colon of its value.
const maxPrompt = 80

// prompted finds the only word after the colon of a prompt or a message, whose other
// words tell what the name is for:
//
//	[sudo] password for bob: VALUE
//	A temporary password is generated for root@localhost: VALUE
func (sc *scan) prompted(a *assignment, s strength) bool {
	if a.to+4 >= len(a.s) || !isBlank(a.s[a.to]) || strings.IndexByte("foiwahtug(", a.s[a.to+1]) < 0 {
		return false
	}
	to := a.to + lineLength(a.s[a.to:min(len(a.s), a.to+maxPrompt+maxAnswer)])
	sc.spend(to - a.to)
	colon := strings.LastIndex(a.s[a.to:to], ": ")
	if colon < 0 || colon > maxPrompt || !isComplement(a.s[a.to:a.to+colon]) {
		return false
	}
	v := *a
	v.op, v.told, v.start = opProse, true, skipBlanks(a.s, a.to+colon+2)
	if v.start >= to || !v.readValue() || strings.TrimRight(a.s[min(to, max(v.end, v.start)):to], " \t\r.\"'`,;)") != "" {
		return false
	}
	if v.end-v.start < 6 || !v.proseValue() || !v.val.secret(s) {
		return false
	}
	sc.add(v.start, v.end, nameRule(a.name, s))
	return true
}

// lineLength returns the length of the first line of s.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// isComplement reports whether s continues a name in a sentence: for bob, of the server,
// is generated for root@localhost.
func isComplement(s string) bool {
	word, rest, _ := strings.Cut(strings.TrimLeft(s, " "), " ")
	switch word {
	case "for", "of", "to", "on", "at", "in", "is", "was", "has", "used", "generated", "(for":
		return rest != "" && !strings.ContainsAny(s, "=;{}<>") && strings.Count(s, " ") <= 12
	}
	return false
}

// maxClause is the maximum distance between a name and its value in a clause.
const maxClause = 100

// beside finds a value that can be neither a word nor a name, in the same clause as a name in a
// sentence: "just paste this in: VALUE, it is the webhook secret".
func (sc *scan) beside(a *assignment, s strength) {
	if !hasMixedWord(a.s, max(0, a.from-maxClause), a.from, true) && !hasMixedWord(a.s, a.to, min(len(a.s), a.to+maxClause), false) {
		return
	}
	from, to := clauseAround(a.s, a.from, a.to)
	sc.spend(2 * (to - from))
	judged := false
	for i := from; i < to; {
		end := run(a.s, i, to-i, func(c byte) bool { return !isSpace(c) })
		if at, stop := bareWord(a.s, i, end); stop-at >= 8 && (stop <= a.from || at >= a.to) && profileOf(a.s[at:stop]).digits > 0 {
			if !judged && (!isSpeech(a.s[from:to]) || namesDigests(a.s[from:to])) {
				return
			}
			judged = true
			if isDigest(a.s[at:stop]) && isHandedOver(a.s[from:at]) {
				sc.add(at, stop, nameRule(a.name, s))
			} else {
				sc.unmistakable(a, s, at, stop)
			}
		}
		i = end + 1
	}
}

// hasMixedWord reports whether a word in s[from:to] has at least eight bytes and a digit. If last
// is true, it reads only the last line of the range, otherwise only the first line.
func hasMixedWord(s string, from, to int, last bool) bool {
	if nl := strings.LastIndexByte(s[from:to], '\n'); last && nl >= 0 {
		from += nl + 1
	}
	start, digit := from, -1
	for i := from; i < to; i++ {
		switch c := s[i]; {
		case c > '9':
		case c >= '0':
			digit = i
		case c <= ' ':
			if digit >= start && i-start >= 8 {
				return true
			}
			if c == '\n' {
				return false
			}
			start = i + 1
		}
	}
	return digit >= start && to-start >= 8
}

// isSpoken reports whether the name is a word of a sentence and not of a program: it has
// one case, and blanks or punctuation around it.
func isSpoken(a *assignment) bool {
	s := a.s
	for i := 1; i < len(a.name); i++ {
		if c := a.name[i]; !isLower(c) && c != ' ' && !isUpper(c) || isUpper(c) && isLower(a.name[i-1]) {
			return false
		}
	}
	return (a.from == 0 || isSpace(s[a.from-1]) || strings.IndexByte("(*\"", s[a.from-1]) >= 0) &&
		(a.to >= len(s) || isSpace(s[a.to]) || strings.IndexByte(".,;:!?)*", s[a.to]) >= 0)
}

// clauseAround returns the sentence around s[from:to], or as much of it as is close.
func clauseAround(s string, from, to int) (start, end int) {
	start, end = from, to
	for least := max(0, from-maxClause); start > least && !endsClause(s, start-1); {
		start--
	}
	for start > 0 && start < from && !isSpace(s[start]) && !endsClause(s, start-1) {
		start++ // the window begins within a word
	}
	for most := min(len(s), to+maxClause); end < most && !endsClause(s, end); {
		end++
	}
	for end < len(s) && end > to && !isSpace(s[end]) && !endsClause(s, end) {
		end--
	}
	return start, end
}

// endsClause reports whether a line or a sentence ends with s[i].
func endsClause(s string, i int) bool {
	switch s[i] {
	case '\n', '\r', '|', '{', '}':
		return true
	case '"': // JSON
		return i+2 < len(s) && (s[i+1] == ':' || s[i+1] == ',' && s[i+2] == ' ' && i+3 < len(s) && s[i+3] == '"')
	case '.', '!', '?':
		return i+2 < len(s) && s[i+1] == ' ' && isUpper(s[i+2])
	}
	return false
}

// isSpeech reports whether s has at least three words of a language, and these are at least half
// of all its words.
func isSpeech(s string) bool {
	plain, all := 0, 0
	for w := range strings.FieldsSeq(s) {
		if all++; strings.HasPrefix(w, "--") {
			return false // a command line
		}
		if w = strings.Trim(w, ".,:;!?()'\"`*"); w != "" && isPlainWord(w) && strings.ToLower(w[1:]) == w[1:] {
			plain++
		}
	}
	return plain >= 3 && plain*2 >= all
}

// namesDigests reports whether s has a word for a digest, or for another value that is
// not a secret.
func namesDigests(s string) bool {
	for _, word := range [...]string{"hash", "digest", "checksum", "fingerprint", "commit", "encrypted", "encoded", "public", "sha", "md5", "revision", "merge", "branch", "image", "trace", "request"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// isHandedOver reports whether head ends in words after which people paste a value.
func isHandedOver(head string) bool {
	head = strings.TrimRight(head, " \"'`*")
	return strings.HasSuffix(head, ":") || strings.HasSuffix(head, " is") || strings.HasSuffix(head, " use") || strings.HasSuffix(head, " key") || strings.HasSuffix(head, " token") || strings.HasSuffix(head, " secret")
}

// bareWord returns s[from:to] without the punctuation and quotes around it.
func bareWord(s string, from, to int) (int, int) {
	for from < to && strings.IndexByte("\"'`(*<[", s[from]) >= 0 {
		from++
	}
	for to > from && strings.IndexByte("\"'`)*>],.;:", s[to-1]) >= 0 {
		to--
	}
	if to > from && (s[to-1] == '!' || s[to-1] == '?') && !isDigit(s[max(from, to-2)]) {
		to--
	}
	return from, to
}

// unmistakable adds s[from:to] if no word or name could look like it.
func (sc *scan) unmistakable(a *assignment, st strength, from, to int) {
	t := a.s[from:to]
	if strings.ContainsAny(t, "=/:,;|") || !isUnmistakable(t, st) && !(st == password && isCredential(t) && profileOf(t).symbols > 0) {
		return
	}
	v := value{text: t, quoted: true}
	if r := v.judge(a.name, st); r != nil {
		sc.add(from, to, r)
	}
}

// isUnmistakable reports whether t looks generated or, after the name of a password, like
// a chosen password with digits and symbols.
func isUnmistakable(t string, st strength) bool {
	p := profileOf(t)
	if len(t) < 8 || len(t) > maxNeedle || p.digits == 0 || p.digits == 1 && p.symbols < 2 || p.letters < 3 || p.foreign+p.blanks > 0 || strings.ContainsAny(t, "\\()[]{}<>\"'`") || isDigest(t) || hasUUID(t) {
		return false
	}
	generated := p.joints <= 2 && !isPrefixed(t) && len(t) >= 12 && (p.upper > 0 && p.lower > 0 && isGenerated(t) || looksRandom(t)) && (numbers(t) > 1 && p.turns*2 >= len(t) || isGibberish(t, 8))
	chosen := st == password && p.symbols > 0 && p.joints <= 2 && strings.IndexByte(t, '@') < 0 && (p.symbols > 1 || strings.IndexByte(t, '%') < 0)
	return (generated || chosen && !strings.ContainsAny(t, "/:,;|")) && !isMember(t) && !isVersion(t) && !isTechnical(t)
}

// isPrefixed reports whether s begins with a word and a character that joins words, as the ids of
// calls and messages do. Tokens of that form have rules of their own.
func isPrefixed(s string) bool {
	i := run(s, 0, maxNote, isLower)
	return i > 1 && i < len(s) && (s[i] == '_' || s[i] == '-')
}

// numbers counts the runs of digits in s.
func numbers(s string) int {
	n := 0
	for i := range len(s) {
		if isDigit(s[i]) && (i == 0 || !isDigit(s[i-1])) {
			n++
		}
	}
	return n
}
