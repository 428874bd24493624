package invariant

import (
	"strconv"
	"strings"
)

// signs mark lines of a reduced result that are not complete lines of the
// original.
var signs = []string{"⋮", "[tidied — ", " × ", "[base64, ", " … ", "[the same ", "[only what is not as in ", "@@ -"}

// tidied returns the reason why is, the new text, can't be the reduced form of
// was, the old text; "" = it can. A reduced text is shorter, and each of its
// lines has a sign or only words of the original.
func tidied(was, is string) string {
	if len(is) >= len(was) {
		return "the reduced text is not shorter"
	}
	for line := range strings.SplitSeq(is, "\n") {
		if strings.Contains(was, line) || hasSign(line) {
			continue
		}
		for word := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimPrefix(line, "+"), ":")) {
			if !strings.Contains(was, word) {
				return "the reduced text says " + strconv.Quote(line[:min(len(line), 120)]) + ", which the original does not"
			}
		}
	}
	return ""
}

func hasSign(line string) bool {
	for _, s := range signs {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

// isCut reports whether a text holds the marker of a truncation.
func isCut(text string) bool {
	return headMarker.MatchString(text) || tailMarker.MatchString(text) || bothMarker.MatchString(text)
}
