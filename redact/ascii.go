package redact

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isLower(c | 0x20) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isSpace(c byte) bool  { return isBlank(c) || c == '\n' || c == '\r' || c == '\v' || c == '\f' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isBase64 reports whether c belongs to one of the two alphabets of base64, without the
// padding.
func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// run returns the end of the longest run of bytes of s, from at on, for which
// in returns true; it has at most limit bytes.
func run(s string, at, limit int, in func(byte) bool) int {
	end := min(len(s), at+limit)
	for at < end && in(s[at]) {
		at++
	}
	return at
}
