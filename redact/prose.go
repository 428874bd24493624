package redact

import "strings"

// isProse reports whether s consists of words, as in forms, messages and
// documentation: "Must be at least 8 characters!". Prose has digits only in
// separate numbers, so a passphrase with a digit in a word is not prose.
func isProse(s string) bool {
	if strings.IndexByte(s, ' ') < 0 || len(s) > 400 {
		return false
	}
	words := 0
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, ".,:;!?()[]\"'#+*/&-–—…")
		switch {
		case w == "":
		case isPlainWord(w):
			words++
		case !isFigure(w):
			return false
		}
	}
	return words > 0
}

// isPlainWord reports whether w is letters, with hyphens, apostrophes or
// slashes between them, and its case is not as mixed as in generated text.
func isPlainWord(w string) bool {
	inner := 0 // capitals after the first letter
	for i := range len(w) {
		c := w[i]
		if !isLetter(c) && c != '-' && c != '\'' && c != '/' && c < 0x80 {
			return false
		}
		if i > 0 && isUpper(c) {
			inner++
		}
	}
	return len(w) <= 24 && (inner*3 <= len(w) || inner == len(w)-1)
}

// isFigure reports whether w is a number as sentences write it: 8, 1/3, v2.0,
// 6-digit.
func isFigure(w string) bool {
	digits := 0
	w = strings.TrimPrefix(w, "v")
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == '.' || r == '/' || r == '-' || r == ':' || r == '%' }) {
		if run(part, 0, len(part), isDigit) == len(part) {
			digits += len(part)
		} else if !isPlainWord(part) {
			return false
		}
	}
	return digits > 0 && digits <= 8
}

var digestNames = []string{"sha1:", "sha224:", "sha256:", "sha384:", "sha512:", "md5:", "blake2b:", "blake3:", "sha1-", "sha256-", "sha384-", "sha512-"}

// isNamedDigest reports whether s is a hash with the name of its function.
func isNamedDigest(s string) bool {
	for _, name := range digestNames {
		if rest, ok := strings.CutPrefix(s, name); ok {
			return len(rest) >= 27 && run(strings.TrimRight(rest, "="), 0, len(rest), isB64) >= len(rest)-2
		}
	}
	return false
}
