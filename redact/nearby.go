package redact

import "strings"

// maxNearby is the maximum distance between a name and a value in the same line, if nothing
// joins the two.
const maxNearby = 96

// nearby finds a value that can only be a secret in the line of a name, whatever is between
// the two: TOKEN ISSUED: VALUE (sub=bob), PIC X(12) VALUE "VALUE", "set the password to
// VALUE". It is the last resort for a name whose value was not found.
func (sc *scan) nearby(a *assignment) {
	st := a.named()
	if isBareVerb(a.name) && a.from > 0 && a.s[a.from-1] == '$' {
		st = password
	}
	if len(a.name) < 4 || st < telling || st == telling && (isBareVerb(a.name) || !sc.denseNear(a.to)) || a.namesDigest() || isGenerated(a.name) {
		return
	}
	s := a.s
	if a.from > 0 && strings.IndexByte(" \t\n\r\"'`([{<>,;:=$*./@-", s[a.from-1]) < 0 || a.to < len(s) && strings.IndexByte(" \t\n\r\"'`)]}<>,;:=.!?*(", s[a.to]) < 0 {
		return // not a word of a text
	}
	least, most := max(0, a.from-maxNearby), min(len(s), a.to+maxNearby)
	to := a.to + lineLength(s[a.to:most])
	r := nameRule(a.name, st)
	read := max(a.to, a.end) // the value itself has been read
	if a.op == opProse {
		read = a.to
	}
	if sc.nearTokens(read, to, st, r) {
		return
	}
	if st < password {
		return // beside reads what precedes such a name in a sentence
	}
	from := a.from
	for from > least && s[from-1] != '\n' {
		from--
	}
	if from == least && from > 0 {
		from = run(s, from, a.from-from, func(c byte) bool { return !endsToken[c] })
	}
	sc.nearTokens(from, a.from, st, r)
}

// nearTokens adds the first token of s[from:to] that can only be a secret. It reports
// whether there is one.
func (sc *scan) nearTokens(from, to int, st strength, r *rule) bool {
	s := sc.s
	for i := from; i < to; {
		if endsToken[s[i]] {
			i++
			continue
		}
		if s[i] == '*' {
			i++
			continue // bold letters
		}
		end, digit := i, false
		for end < len(s) && !endsToken[s[end]] {
			digit = digit || isDigit(s[end])
			end++
		}
		if digit && end-i >= 8 && end <= to && !isPartOfPath(s, i, end) && isNearSecret(s, i, &end, st) {
			sc.spend(2 * (end - i))
			sc.add(i, end, r)
			return true
		}
		i = end
	}
	return false
}

// isNearSecret reports whether the token s[i:*end] is a secret by its form. It sets *end to the
// end of the secret, without the punctuation of a sentence.
func isNearSecret(s string, i int, end *int, st strength) bool {
	t := s[i:*end]
	if s[i-min(i, 1)] == '*' {
		t = strings.TrimRight(t, "*.!?")
	}
	bare := strings.TrimRight(t, ".!?*")
	if len(bare) < 8 {
		return false
	}
	if isTicket(bare) {
		return false
	}
	sure := isQuoted(s, i, *end) || i > 1 && s[i-1] == ' ' && s[i-2] == ':' || isSpeech(s[lineStart(s, i):*end])
	if st == password && isCredential(t) && strings.ContainsAny(t, "!#$%@^~?&*") && (sure || strings.IndexByte(t, '+') < 0) {
		*end = i + len(t)
		return true
	}
	*end = i + len(bare)
	if !sure {
		return false // the name of a type or a function
	}
	if st == password {
		p := profileOf(bare)
		return isCredential(bare) && (p.turns > 2 || p.joints == 1 && isLower(bare[0]))
	}
	return len(bare) >= 16 && looksRandom(bare) && numbers(bare) > 2 && profileOf(bare).upper > 0 && isCredential(bare) && !isPrefixed(bare)
}

// isQuoted reports whether quotes enclose s[from:to].
func isQuoted(s string, from, to int) bool {
	return from > 0 && to < len(s) && isQuote(s[from-1]) && s[to] == s[from-1]
}

// isPartOfPath reports whether the token s[from:to] is a part of a path or an address, a key,
// or the name of a function.
func isPartOfPath(s string, from, to int) bool {
	if from > 0 && (strings.IndexByte("/\\@#$.&%-", s[from-1]) >= 0 || s[from-1] == ':' && from > 1 && isAlnum(s[from-2])) {
		return true
	}
	if from > 1 && s[from-1] == '[' && s[from-2] == 0x1b || hasEntity(s[from:to]) {
		return true
	}
	if to >= len(s) {
		return false
	}
	if head := s[max(0, from-8):from]; strings.Contains(head, "sha") || strings.Contains(head, "md5") {
		return true
	}
	return strings.IndexByte("/\\:(=[", s[to]) >= 0 || strings.IndexByte("\"'`", s[to]) >= 0 && to+1 < len(s) && (s[to+1] == ':' || s[to+1] == ']' || s[to+1] == '/')
}

// hasEntity reports whether t has an escape of HTML. Such text is read without its escapes.
func hasEntity(t string) bool {
	at := strings.IndexByte(t, '&')
	return at >= 0 && hasPrefix(t[at+1:], []string{"lt", "gt", "quot", "amp", "#"})
}

// endsToken marks the bytes around the tokens of a line.
var endsToken = func() (t [256]bool) {
	for c := range 256 {
		t[c] = c <= ' ' || c >= 0x7f || strings.IndexByte("\"'`()[]{}<>,;=|:/\\", byte(c)) >= 0
	}
	return t
}()

// hereString finds the password in the input of a command: kinit bob <<< VALUE.
func (sc *scan) hereString(start, end int) {
	if end >= len(sc.s) || sc.s[end] == '<' || start > 0 && sc.s[start-1] == '<' {
		return // a conflict of git
	}
	to := end + lineLength(sc.s[end:min(len(sc.s), end+maxNearby)])
	sc.nearTokens(end, to, password, commandRule)
}

// charArray finds the literal of a password in Java: "VALUE".toCharArray().
func (sc *scan) charArray(start, _ int) {
	s := sc.s
	if start < 2 || s[start-1] != '"' {
		return
	}
	from := max(0, start-1-maxName)
	if open := strings.LastIndexByte(s[from:start-1], '"'); open >= 0 && isCredential(s[from+open+1:start-1]) {
		sc.literal(from+open+1, start-1)
	}
}
