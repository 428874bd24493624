package tidy

import "strings"

// failing are the words that state an error, in lower case. The tables below hold their
// first two letters.
var failing = []string{"error", "errors", "err", "exception", "failed", "fail", "fails", "failure", "failures", "failing", "fatal", "panic", "traceback", "critical", "denied", "segfault"}

// The places where a mention of an error can begin, as bits.
const (
	aWord  uint8 = 1 << iota // a word of failing
	aName                    // the end of an error's name
	aCross                   // a mark of isCross
)

// opens holds the mentions that can begin with a byte. follows holds the mentions that can
// begin after a byte.
var opens, follows = func() (opens, follows [256]uint8) {
	for _, w := range failing {
		opens[w[0]] |= aWord
		opens[w[0]-'a'+'A'] |= aWord
	}
	opens['E'] |= aName
	opens["✗"[0]] |= aCross
	for i := range follows {
		follows[i] = aCross
		if !inName[i] {
			follows[i] |= aWord
		}
		if isLetter(byte(i)) {
			follows[i] |= aName
		}
	}
	return opens, follows
}()

// secondLetters holds the second letters of the words in failing.
var secondLetters = func() (t [256]bool) {
	for _, w := range failing {
		t[w[1]], t[w[1]-'a'+'A'] = true, true
	}
	return t
}()

// holdsError reports whether a line states an error and does not report a
// success.
func holdsError(s string) bool { return mentionsError(s) && !isPass(unprefixed(s)) }

// mentionsError reports whether a line names an error. It accepts a word of failing that
// is not part of a path or a name and not negated ("0 failed"), a name that ends in
// Error or Exception before a colon, or a cross mark.
func mentionsError(s string) bool {
	before := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		is := opens[c] & follows[before]
		before = c
		switch {
		case is == 0:
		case is&aWord != 0:
			if i+1 < len(s) && secondLetters[s[i+1]] && statesFailure(s, i) {
				return true
			}
		case is&aName != 0:
			if namesError(s[i:]) {
				return true
			}
		case isCross(s[i:]):
			return true
		}
	}
	return false
}

// isCross reports whether a text begins with a mark for a failure.
func isCross(s string) bool {
	return strings.HasPrefix(s, "✗") || strings.HasPrefix(s, "✖") || strings.HasPrefix(s, "❌")
}

// namesError reports whether a text begins with the end of an error's name and a
// colon.
func namesError(s string) bool {
	return strings.HasPrefix(s, "Error:") || strings.HasPrefix(s, "Exception:")
}

// statesFailure reports whether the word that begins at i says that something failed.
func statesFailure(s string, i int) bool {
	end := i + 1
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	w := s[i:end]
	if len(w) > len("traceback") || end < len(s) && inName[s[end]] && !(s[end] == '.' && (end+1 == len(s) || s[end+1] == ' ')) {
		return false
	}
	return isFailing(w) && !isNegated(s[:i], s[end:])
}

// isFailing reports whether a word is in failing, ignoring case.
func isFailing(w string) bool {
	for _, f := range failing {
		if len(f) == len(w) && f[0] == w[0]|0x20 && strings.EqualFold(f, w) {
			return true
		}
	}
	return false
}

// isEmptyValue reports whether a text after a word gives the word an empty value, like
// "error": null in JSON.
func isEmptyValue(after string) bool {
	after = strings.TrimLeft(strings.TrimPrefix(after, `"`), " ")
	if after == "" || after[0] != ':' && after[0] != '=' {
		return false
	}
	after = strings.TrimLeft(after[1:], " ")
	for _, v := range []string{"null", "false", "None", "nil", "<nil>", `""`, "[]", "{}"} {
		if strings.HasPrefix(after, v) && (len(after) == len(v) || !inName[after[len(v)]]) {
			return true
		}
	}
	return false
}

// isNegated reports whether the text before or after a word says that its count is zero, or
// that it has no value.
func isNegated(before, after string) bool {
	const longest = 16 // more than the length of a negating word
	before = strings.TrimRight(before, " \t:=")
	before = before[max(len(before)-longest, 0):]
	word := before[strings.LastIndexAny(before, " \t,;([|")+1:]
	switch strings.ToLower(word) {
	case "0", "no", "without", "zero":
		return true
	}
	if isEmptyValue(after) {
		return true
	}
	after = strings.TrimLeft(after, ":= \t")
	return strings.HasPrefix(after, "0") && (len(after) == 1 || !isDigit(after[1]) && after[1] != 'x' && after[1] != '.')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// inName reports whether a byte next to a word makes the word a part of a name or a
// path.
var inName = func() (t [256]bool) {
	for i := range t {
		c := byte(i)
		t[i] = isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '/' || c == '.' || c == '$' || c >= 0x80
	}
	return t
}()
