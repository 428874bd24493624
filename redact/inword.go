package redact

import "strings"

// isInWord reports whether a root is only a part of an ordinary word: the "auth" of author,
// the "sig" of design, the "key" of keyword. Another root in the same name has a hit of its
// own. It only saves time: nameStrength would not find a secret in such a word either.
func isInWord(s string, start, end int) bool {
	if !isLower(s[start]) {
		return false
	}
	rest := s[end:]
	before := start > 0 && isLower(s[start-1])
	next := byte(0)
	if rest != "" {
		next = rest[0]
	}
	switch s[start:end] {
	case "sid":
		return before || isLower(next)
	case "sess":
		return before
	case "sig":
		return before || isLower(next) && !strings.HasPrefix(rest, "nature")
	case "auth":
		return strings.HasPrefix(rest, "or") && !strings.HasPrefix(rest, "oriz") || strings.HasPrefix(rest, "enti")
	case "key":
		return isLower(next) && next != 's' && !before
	case "pass":
		return strings.HasPrefix(rest, "ing") || strings.HasPrefix(rest, "ed") || strings.HasPrefix(rest, "es") || strings.HasPrefix(rest, "ive")
	case "cred":
		return strings.HasPrefix(rest, "it") || strings.HasPrefix(rest, "ib")
	case "token":
		return strings.HasPrefix(rest, "iz")
	}
	return false
}
