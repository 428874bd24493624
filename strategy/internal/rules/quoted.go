package rules

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// saidByOther matches words in quotation marks after a verb of saying. The first group is
// the word before the verb.
var saidByOther = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([\p{L}]+)[ ,]+(?:wrote|writes|said|says|answered|replied|demands?|demanded|claims?|claimed|insists?|requested|schrieb|schreibt|sagte|sagt|meinte|meint|antwortete|fordert|forderte|(?:a |nous a |m'a )?(?:écrit|dit|répondu)|répond|escribió|escribe|dijo|dice|respondió|responde)(?:[ ,][^.!?\n"“„«]{0,30}?)? ?[:,]? ?("[^"\n]{12,}"|“[^”\n]{12,}”|„[^“”\n]{12,}[“”]|«[^»\n]{12,}»)`)
})

// speakers lists the words for the user in front of a verb of saying.
var speakers = []string{"i", "we", "ich", "wir", "je", "on", "yo", "nosotros"}

// OwnWords returns a message without the words of others that it quotes: lines after ">",
// and text in quotation marks after "X wrote". A rule or a request in a quotation does not
// come from the user.
func OwnWords(text string) string {
	if strings.Contains(text, ">") {
		lines := strings.Split(text, "\n")
		own := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			l = strings.TrimSpace(l)
			return strings.HasPrefix(l, "> ") || l == ">" || strings.HasPrefix(l, ">>")
		})
		if len(own) < len(lines) {
			text = strings.Join(own, "\n")
		}
	}
	if !strings.ContainsAny(text, "\"“„«") {
		return text
	}
	for _, m := range slices.Backward(saidByOther().FindAllStringSubmatchIndex(text, -1)) {
		if !slices.Contains(speakers, strings.ToLower(text[m[2]:m[3]])) {
			text = text[:m[4]] + "“…”" + text[m[5]:]
		}
	}
	return text
}
