package invariant

import (
	"strconv"
	"strings"
)

// signs are those by which a line of a reduced result says that it is not, or
// not all of it, one of the original.
var signs = []string{"⋮", "[tidied — ", " × ", "[base64, ", " … ", "[the same ", "[only what is not as in ", "@@ -"}

// tidied says what is wrong with a text as what a reducer left of another, ""
// when nothing is: it is shorter, and each of its lines is ours, or made of words
// of the original.
func tidied(was, is string) string {
	if len(is) >= len(was) {
		return "the reduced text is not shorter"
	}
	for line := range strings.SplitSeq(is, "\n") {
		if strings.Contains(was, line) || says(line) {
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

func says(line string) bool {
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
