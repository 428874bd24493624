package strategy

import "strings"

// purpose is what an assistant said a call was for.
func purpose(text string) string {
	s := unlabeled(lastSentence(text))
	if quality(s) < 0.15 {
		return ""
	}
	return plainly(s)
}

// begun are how sentences begin that say what a call is for. It is said
// without them.
var begun = []string{"now let me ", "let me ", "now i'll ", "i'll ", "i’ll ", "now i’ll ", "now i will ", "i will ", "now i need to ", "i need to ", "now i'm going to ", "i'm going to ", "let's ", "now let's ",
	"next, i'll ", "next i'll ", "first, let me ", "first let me ", "now ", "also ", "then "}

// plainly is what a call is for: "Let me check the tests" is "check the tests".
func plainly(s string) string {
	for again := true; again; {
		again = false
		for _, b := range begun {
			if len(s) > len(b) && strings.EqualFold(s[:len(b)], b) {
				s, again = s[len(b):], true
			}
		}
	}
	if len(s) < leastPurpose {
		return ""
	}
	return s
}

// saidBefore is what stands behind a deed: the words that were said before it.
func saidBefore(why string) string { return " — said before: “" + why + "”" }

// leastPurpose is the shortest purpose that says something, in bytes.
const leastPurpose = 16

// outcomeWords stand in sentences that say how a run came out.
var outcomeWords = []string{" pass", "succe", " fail", " green", "works", "clean", "0 issues"}

// claims reports whether a sentence may state an outcome. Beside a command it
// would read as the outcome of that one.
func claims(t string) bool { return hasAny(strings.ToLower(t), outcomeWords) }
