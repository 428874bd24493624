package policy

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a placeholder that says which call it stands for, in characters.
const (
	callFormMost = 160 // all of it
	callToolMost = 40
)

// Answered is the call that a result answers, as far as placeholders speak of
// it.
type Answered struct {
	Tool   string // its name
	Target string // what it was done to, see [Target]
	Status string // "ok" or "error", for templates of the user's own
}

// renderCall writes
//
//	[observation masked — 4812 chars · bash "go test ./..." · exit 1 · recall 3f9a2c1b70de]
//
// without what is not known. The target is cut so that all of it has at most
// 160 characters.
func renderCall(k *Mark, of Answered) string {
	head := "[observation masked — " + strconv.Itoa(k.Chars) + " chars"
	tail := "]"
	if k.Form == FormCallRecall {
		tail = " · recall " + k.Ref + "]"
	}
	if k.Ended {
		tail = " · exit " + strconv.Itoa(k.Exit) + tail
	}
	tool := strings.ReplaceAll(cutRunes(oneLine(of.Tool), callToolMost), " ", "_")
	if tool == "" {
		return head + tail
	}
	head += " · " + tool
	const around = len(` ""`)
	target := cutRunes(oneLine(of.Target), callFormMost-runes(head)-runes(tail)-around)
	if target == "" {
		return head + tail
	}
	return head + ` "` + target + `"` + tail
}

// oneLine makes text fit to stand in a placeholder: one line, nothing that a
// reader does not see, and none of the characters that the form itself is made
// of.
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

// cutRunes returns s in at most n characters; one that is cut ends with "…".
func cutRunes(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if runes(s) <= n {
		return s
	}
	return strings.TrimRight(s[:runePrefix(s, n-1)], " ") + "…"
}

var callForm = regexp.MustCompile(`\A\[observation masked — (0|[1-9][0-9]{0,17}) chars` +
	`(?: · ([^\s"\[\]·]+)(?: "([^"\[\]·]+)")?)?(?: · exit (0|-?[1-9][0-9]{0,9}))?(?: · recall ([0-9a-f]{12}))?\]\z`)

// parseCall recognizes what renderCall writes.
func parseCall(text string) (Mark, bool) {
	if len(text) > callFormMost*utf8.UTFMax || !strings.HasPrefix(text, "[observation masked — ") || runes(text) > callFormMost {
		return Mark{}, false
	}
	found := callForm.FindStringSubmatch(text)
	if found == nil || found[3] != oneLine(found[3]) || found[2] != oneLine(found[2]) {
		return Mark{}, false
	}
	k := Mark{Form: FormCall, Ref: found[5], Ended: found[4] != ""}
	k.Chars, _ = strconv.Atoi(found[1])
	k.Exit, _ = strconv.Atoi(found[4])
	if k.Ref != "" {
		_, err := hex.DecodeString(k.Ref)
		k.Form = FormCallRecall
		return k, err == nil
	}
	return k, true
}

// plainForm is the short form of a placeholder that names a call.
func plainForm(form string) string {
	switch form {
	case FormCall:
		return FormObservation
	case FormCallRecall:
		return FormRecall
	}
	return form
}
