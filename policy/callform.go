package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
)

// Limits for a placeholder that names its call, in characters.
const (
	callFormMost = 160 // the whole placeholder
	callToolMost = 40
	callSaysMost = 60 // the quoted outcome
	callNameMost = 40 // number of characters of the target for which a quoted outcome leaves room
)

// answered holds the data that placeholders use about a result and its call.
type answered struct {
	Tool   string // the name of the tool
	Target string // the object of the call, on one line, for forms before call@3
	Made   string // the object of the call, for call@3
	Status string // "ok" or "error", for custom templates
	Result string // the text that the placeholder replaces
}

// renderCall writes
//
//	[observation masked — 4812 chars · bash "go test ./..." · says "FAIL store 0.4s" · exit 1 · recall 3f9a2c1b70de]
//
// and leaves out unknown fields. It cuts the target and the quotation so that the
// whole text has at most 160 characters.
func renderCall(k *Mark, of answered) (string, error) {
	head := "[observation masked — " + strconv.Itoa(k.Chars) + " chars"
	tail := "]"
	if plainForm(k.Form) == formRecall {
		tail = " · recall " + k.Ref + "]"
	}
	if k.Ended {
		tail = " · exit " + strconv.Itoa(k.Exit) + tail
	}
	if k.SaysFrom < 0 || k.SaysTo < k.SaysFrom || k.SaysTo > len(of.Result) {
		return "", fmt.Errorf("%w: range [%d:%d] of %d bytes", ErrEdit, k.SaysFrom, k.SaysTo, len(of.Result))
	}
	tool := strings.ReplaceAll(cutRunes(oneLine(of.Tool), callToolMost), " ", "_")
	if tool == "" {
		return head + tail, nil
	}
	head += " · " + tool
	const around = len(` ""`)
	target, quoted := k.quotes(of)
	cut := cutRunes
	if k.quotesCallUnaltered() {
		cut = cutWords
	}
	room := callFormMost - runes(head) - runes(tail) - around
	const says = ` · says "`
	if quoted != "" && target != "" {
		most := room - min(runes(target), callNameMost) - runes(says) - 1
		if quoted = cut(quoted, min(most, callSaysMost)); quoted != "" {
			tail = says + quoted + `"` + tail
			room -= runes(says) + runes(quoted) + 1
		}
	}
	if target = cut(target, room); target == "" {
		return head + tail, nil
	}
	return head + ` "` + target + `"` + tail, nil
}

// quotes returns the texts that a placeholder quotes from the call and from the
// result, before they are cut to the available room.
func (k *Mark) quotes(of answered) (target, says string) {
	says = testrun.Uncolored(of.Result[k.SaysFrom:k.SaysTo])
	if k.quotesCallUnaltered() {
		return unaltered(of.Made), visible(says)
	}
	return oneLine(of.Target), oneLine(says)
}

// quotesCallUnaltered reports whether a mark is in a form that quotes the call unaltered.
func (k *Mark) quotesCallUnaltered() bool { return k.Form == formCallMade || k.Form == formCallMadeRec }

// visible returns a text on one line without invisible characters. It replaces "·",
// which separates the fields of a placeholder, but keeps quotes and brackets.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '·':
			return '.'
		case r == utf8.RuneError, unicode.IsSpace(r), !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// unaltered is like visible, but cuts the text at the first character that visible
// would replace: a pattern with a replaced character would be another pattern.
func unaltered(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool {
		return r == '·' || r == utf8.RuneError || !unicode.IsSpace(r) && !unicode.IsPrint(r)
	})
	if at < 0 {
		return visible(s)
	}
	if s = visible(s[:at]); s != "" {
		s += "…"
	}
	return s
}

// oneLine prepares text for use in a placeholder of a form before call@3: it returns
// one line without invisible characters, quotes and brackets.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case r == '·':
			return '.'
		case r == utf8.RuneError, unicode.IsSpace(r), !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cutRunes returns at most n characters of s. A text that was cut ends with
// "…".
func cutRunes(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if runes(s) <= n {
		return s
	}
	return strings.TrimRight(s[:runePrefix(s, n-1)], " ") + "…"
}

// longWord is the length in bytes from which cutWords removes a word with digits
// instead of cutting it.
const longWord = 12

// cutWords is like cutRunes, but leaves out a long word with digits entirely instead of
// cutting it: redaction would not recognize half a key.
func cutWords(s string, n int) string {
	cut := cutRunes(s, n)
	if cut == s {
		return s
	}
	kept := strings.TrimSuffix(cut, "…")
	start := len(strings.TrimRightFunc(kept, wordPart))
	if next, _ := utf8.DecodeRuneInString(s[len(kept):]); !wordPart(next) || len(kept)-start < longWord || !strings.ContainsAny(kept[start:], "0123456789") {
		return cut
	}
	if kept = strings.TrimRight(kept[:start], " "); kept == "" {
		return ""
	}
	return kept + "…"
}

func wordPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+_-", r)
}

var callForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A\[observation masked — (0|[1-9][0-9]{0,17}) chars` +
		`(?: · ([^\s"\[\]·]+)(?: "([^·]+)"(?: · says "([^·]+)")?)?)?(?: · exit (0|-?[1-9][0-9]{0,9}))?(?: · recall ([0-9a-f]{12}))?\]\z`)
})

// parseCall recognizes the output of renderCall, in any version of the form. The
// returned mark has the newest version.
func parseCall(text string) (Mark, bool) {
	if len(text) > callFormMost*utf8.UTFMax || !strings.HasPrefix(text, "[observation masked — ") || runes(text) > callFormMost {
		return Mark{}, false
	}
	found := callForm().FindStringSubmatch(text)
	if found == nil || found[2] != oneLine(found[2]) || found[3] != visible(found[3]) || found[4] != visible(found[4]) {
		return Mark{}, false
	}
	k := Mark{Form: formCallMade, Ref: found[6], Ended: found[5] != ""}
	k.Chars, _ = strconv.Atoi(found[1])
	k.Exit, _ = strconv.Atoi(found[5])
	if k.Ref != "" {
		k.Form = formCallMadeRec
	}
	return k, true
}

// namesCall reports whether a form names the call that a result answers.
func namesCall(form string) bool { return plainForm(form) != form }

// plainForm returns the short counterpart of a form that names a call. Other
// forms are returned unchanged.
func plainForm(form string) string {
	switch form {
	case formCall, formCallSays, formCallMade:
		return formObservation
	case formCallRecall, formCallSaysRec, formCallMadeRec:
		return formRecall
	}
	return form
}

// newest returns the newest version of a form that names a call.
func newest(form string) string {
	if plainForm(form) == formRecall {
		return formCallMadeRec
	}
	return formCallMade
}
