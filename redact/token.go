package redact

import "strings"

// tokenShape is a token that its prefix gives away wherever it stands.
type tokenShape struct {
	rule     rule
	prefix   string
	body     func(byte) bool
	min, max int    // of the body
	marker   string // that a body of full length has in it
	full     int
	mark     byte // that stands at body[markAt]; 0 = none does
	markAt   int
	form     func(string) bool // of the body; nil = any
}

func (t *tokenShape) trigger() string { return strings.ToLower(t.prefix) }

// match looks for the body behind the prefix.
func (t *tokenShape) match(sc *scan, start, end int) {
	s := sc.s
	if s[start:end] != t.prefix || start > 0 && isAlnum(s[start-1]) && !escaped(s, start) {
		return
	}
	if t.mark != 0 && (end+t.markAt >= len(s) || s[end+t.markAt] != t.mark) {
		return
	}
	to := run(s, end, t.max+1, t.body)
	for to > end && (s[to-1] == '.' || s[to-1] == '-') {
		to--
	}
	if to-end < t.min || to-end > t.max || isFiller(s[end:to]) {
		return
	}
	if t.form != nil && !t.form(s[end:to]) {
		return
	}
	if t.marker != "" && to-end >= t.full && !strings.Contains(s[end:to], t.marker) {
		return
	}
	sc.add(start, to, &t.rule)
}

// isFiller reports whether the body of a token is no token: xxxx, 0000, words
// without a digit.
func isFiller(s string) bool {
	return distinct(s) < 5 || strings.HasSuffix(s, "EXAMPLE") || hasFill(s, 4) || isIdentifier(s) && !mixed(s)
}

// mixed reports whether letters change case as often as only a generator does.
func mixed(s string) bool {
	p := profileOf(s)
	return p.upper > 0 && p.lower > 0 && p.turns*4 >= len(s)
}

func isURLSafe(c byte) bool  { return isWord(c) || c == '-' }
func isDotted(c byte) bool   { return isWord(c) || c == '-' || c == '.' }
func isB64(c byte) bool      { return isAlnum(c) || c == '+' || c == '/' }
func isPadded(c byte) bool   { return isURLSafe(c) || c == '=' }
func isCookie(c byte) bool   { return isB64(c) || c == '%' || c == '-' || c == '_' || c == '=' }
func isLowAlnum(c byte) bool { return isLower(c) || isDigit(c) }
func isUUIDByte(c byte) bool { return isHex(c) || c == '-' }

// isPadded64 covers base64 with the separators that a token may have.
func isPadded64(c byte) bool { return isB64(c) || c == '_' || c == '-' || c == '=' }
func isDollar(c byte) bool   { return isAlnum(c) || c == '$' }
func isSession(c byte) bool  { return isAlnum(c) || c == '.' || c == '_' || c == '!' }
func isUpAlnum(c byte) bool  { return isUpper(c) || isDigit(c) }
func isFly(c byte) bool      { return isPadded64(c) || c == ',' }

const unbounded = 4096

// shape makes a tokenShape; its rule is named after the kind.
func shape(kind, prefix string, body func(byte) bool, least, most int) tokenShape {
	return tokenShape{rule: rule{id: strings.ReplaceAll(kind, "_", "-"), kind: kind, rank: byShape}, prefix: prefix, body: body, min: least, max: most}
}

// exactly makes the shape of a token whose body has n characters.
func exactly(kind, prefix string, body func(byte) bool, n int) tokenShape {
	return shape(kind, prefix, body, n, n)
}

// uuid makes the shape of a token that is a prefix and a UUID.
func uuid(kind, prefix string) tokenShape {
	s := exactly(kind, prefix, isUUIDByte, 36)
	s.form = isUUID
	return s
}

// marked makes the shape of a token of parts: mark stands at body[at].
func marked(kind, prefix string, body func(byte) bool, n int, mark byte, at int) tokenShape {
	s := exactly(kind, prefix, body, n)
	s.mark, s.markAt = mark, at
	return s
}

// openai makes the shape of a key that is longer than a hundred characters
// with "OpenAI" in base64 in the middle. A shorter one may have been cut off.
func openai(prefix string) tokenShape {
	s := shape("openai_key", prefix, isURLSafe, 24, unbounded)
	s.marker, s.full = "T3BlbkFJ", 100
	return s
}
