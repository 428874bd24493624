package redact

import (
	"encoding/base64"
	"strings"
)

var (
	bearerRule = &rule{id: "bearer", kind: "bearer_token"}
	basicRule  = &rule{id: "basic-auth", kind: "basic_auth", rank: byShape}
	jwtRule    = &rule{id: "jwt", kind: "jwt", rank: byShape}
)

// bearer finds the token after the word Bearer.
func (sc *scan) bearer(start, end int) {
	from, to, ok := sc.scheme(start, end)
	if !ok {
		return
	}
	v := value{text: sc.s[from:to], quoted: true}
	if len(v.text) >= 8 && v.secret(telling) && profileOf(v.text).digits > 0 && !isSetting(v.text) {
		sc.add(from, to, bearerRule)
	}
}

// isSetting reports whether s is the next field of an answer, with a number: expires_in=3600.
func isSetting(s string) bool {
	number := s[strings.IndexByte(s, '=')+1:]
	return isPairOf(s) && run(number, 0, len(number), isDigit) == len(number)
}

// basic finds the encoded name and password after the word Basic.
func (sc *scan) basic(start, end int) {
	from, to, ok := sc.scheme(start, end)
	if !ok {
		return
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(sc.s[from:to], "="))
	if err == nil && len(raw) >= 4 && isPair(string(raw)) {
		sc.add(from, to, basicRule)
	}
}

var authorizationRule = &rule{id: "authorization", kind: "authorization"}

// authorization finds the credentials of an Authorization header, with any scheme.
func (sc *scan) authorization(_, end int) {
	s := sc.s
	i := passQuotes(s, end, 3, false)
	if i >= len(s) || s[i] != ':' && s[i] != '=' && s[i] != ',' {
		return
	}
	i = passQuotes(s, i+1, 5, false)
	if i > end && s[i-1] == '\n' {
		return
	}
	if hasFold(s[i:], "digest ") {
		sc.digestResponse(i)
	}
	if word := run(s, i, 24, isNameByte); word < len(s) && isBlank(s[word]) {
		i = skipBlanks(s, word)
	}
	to := plainEnd(s, i)
	sc.spend(4 * (to - i))
	for to > i && strings.IndexByte(",;)}]", s[to-1]) >= 0 {
		to--
	}
	v := dropPlaceholders(s[i:to])
	if p := profileOf(v); len(v) < 8 || len(v) > maxValue || p.digits == 0 || p.letters == 0 || isStandIn(v) || isReference(v) || isCode(v) || isPairOf(v) || v[len(v)-1] == ':' {
		return
	}
	sc.add(i, to, authorizationRule)
}

// digestResponse finds the response to a challenge, from which a password can be guessed:
// Digest username="bob", …, response="VALUE".
func (sc *scan) digestResponse(i int) {
	s := sc.s
	line := s[i:min(len(s), i+maxContext)]
	line = line[:lineLength(line)]
	sc.spend(len(line))
	for _, mark := range [...]string{`response="`, `response=\"`} {
		if at := strings.Index(line, mark); at >= 0 {
			from := i + at + len(mark)
			if to := run(s, from, 65, isHex); to-from == 32 || to-from == 64 {
				sc.add(from, to, authorizationRule)
			}
		}
	}
}

// isPair reports whether s is printable ASCII and has the form name:password.
func isPair(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return strings.IndexByte(s, ':') >= 0
}

// isEncodedPair reports whether s is the base64 of name:password, as Docker
// stores it.
func isEncodedPair(s string) bool {
	if len(s) < 12 || len(s) > maxNeedle {
		return false
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && isPair(string(raw))
}

// scheme reads the value after the name of an authorization scheme.
func (sc *scan) scheme(start, end int) (from, to int, ok bool) {
	s := sc.s
	if start > 0 && isWord(s[start-1]) && !escaped(s, start) || end >= len(s) || !isBlank(s[end]) {
		return 0, 0, false
	}
	from = skipBlanks(s, end)
	to = run(s, from, maxValue, func(c byte) bool { return isBase64(c) || c == '.' || c == '~' || c == '=' || c == '%' || c == ':' })
	for to > from && (s[to-1] == '.' || s[to-1] == ':') {
		to--
	}
	sc.spend(to - from)
	return from, to, to > from
}

// escaped reports whether the byte before i is the letter of an escape: \n, \t.
func escaped(s string, i int) bool {
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0
}

// jwt finds a JSON web token: two or three (five when encrypted) segments. The first
// segment is JSON in base64.
func (sc *scan) jwt(start, _ int) {
	s := sc.s
	if s[start:start+3] != "eyJ" || start > 0 && isWord(s[start-1]) && s[start-1] != '_' && !escaped(s, start) {
		return
	}
	i := run(s, start, maxValue, isBase64)
	sc.spend(i - start)
	if i-start < 12 {
		return
	}
	dots := 0
	for dots < 4 && i+1 < len(s) && s[i] == '.' && (isBase64(s[i+1]) || s[i+1] == '.') {
		j := run(s, i+1, maxValue, isBase64)
		if dots == 0 && j-i < 9 {
			return
		}
		sc.spend(j - i)
		i = j
		dots++
	}
	if dots == 0 {
		return
	}
	if i < len(s) && s[i] == '.' && dots == 1 && (i+1 == len(s) || !isAlnum(s[i+1])) {
		i++ // no signature (alg none)
	}
	sc.add(start, i, jwtRule)
}

// encodedJWT finds a JSON web token that is encoded in base64 once more.
func (sc *scan) encodedJWT(start, _ int) {
	s := sc.s
	if s[start:start+4] != "ZXlK" || start > 0 && isWord(s[start-1]) && !escaped(s, start) {
		return
	}
	to := run(s, start, maxValue, isBase64)
	sc.spend(4 * (to - start))
	if to-start < 40 {
		return
	}
	text := s[start : start+(to-start)/4*4]
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		raw, err = base64.URLEncoding.DecodeString(text)
	}
	if dot := strings.Index(string(raw), ".ey"); err == nil && dot > 0 {
		sc.add(start, run(s, to, 2, func(c byte) bool { return c == '=' }), jwtRule)
	}
}
