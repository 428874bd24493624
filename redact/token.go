package redact

import "strings"

// tokenShape describes a token that is recognized anywhere by its prefix.
type tokenShape struct {
	rule     rule
	prefix   string
	body     func(byte) bool
	min, max int    // length of the body
	marker   string // substring that a body of at least full bytes must have
	full     int
	mark     byte // the byte at body[markAt]; 0 = any
	markAt   int
	form     func(string) bool // checks the body; nil = any body
}

func (t *tokenShape) trigger() string { return strings.ToLower(t.prefix) }

// match finds the body after the prefix.
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

// isFiller reports whether the body of a token is a filler: xxxx, 0000, words
// without a digit.
func isFiller(s string) bool {
	return distinct(s) < 5 || strings.HasSuffix(s, "EXAMPLE") || hasFill(s, 4) || isIdentifier(s) && !mixed(s)
}

// mixed reports whether letters change case as often as in generated text.
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

// isPadded64 reports whether c is in base64, or in the separators and padding
// of a token.
func isPadded64(c byte) bool { return isB64(c) || c == '_' || c == '-' || c == '=' }
func isDollar(c byte) bool   { return isAlnum(c) || c == '$' }
func isSession(c byte) bool  { return isAlnum(c) || c == '.' || c == '_' || c == '!' }
func isUpAlnum(c byte) bool  { return isUpper(c) || isDigit(c) }
func isFly(c byte) bool      { return isPadded64(c) || c == ',' }

const unbounded = 4096

// shape returns a tokenShape; its rule is named after the kind.
func shape(kind, prefix string, body func(byte) bool, least, most int) tokenShape {
	return tokenShape{rule: rule{id: strings.ReplaceAll(kind, "_", "-"), kind: kind, rank: byShape}, prefix: prefix, body: body, min: least, max: most}
}

// exactly returns the shape of a token whose body has n characters.
func exactly(kind, prefix string, body func(byte) bool, n int) tokenShape {
	return shape(kind, prefix, body, n, n)
}

// uuid returns the shape of a token that is a prefix and a UUID.
func uuid(kind, prefix string) tokenShape {
	s := exactly(kind, prefix, isUUIDByte, 36)
	s.form = isUUID
	return s
}

// marked returns the shape of a token of several parts: body[at] is mark.
func marked(kind, prefix string, body func(byte) bool, n int, mark byte, at int) tokenShape {
	s := exactly(kind, prefix, body, n)
	s.mark, s.markAt = mark, at
	return s
}

// openai returns the shape of a key of more than a hundred characters with
// "OpenAI" in base64 in the middle. A shorter key may be truncated and need not
// have it.
func openai(prefix string) tokenShape {
	s := shape("openai_key", prefix, isURLSafe, 24, unbounded)
	s.marker, s.full = "T3BlbkFJ", 100
	return s
}
