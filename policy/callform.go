package policy

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a placeholder that names the call it stands for, in characters.
const (
	callFormMost = 160 // the whole placeholder
	callToolMost = 40
)

// Answered describes the call that a result answers, as far as placeholders
// mention it.
type Answered struct {
	Tool   string // the name of the tool
	Target string // what the call was made on, on one line
	Status string // "ok" or "error", for custom templates
}

// renderCall writes
//
//	[observation masked — 4812 chars · bash "go test ./..." · exit 1 · recall 3f9a2c1b70de]
//
// and leaves out what is not known. It cuts the target so that the whole text
// has at most 160 characters.
func renderCall(k *Mark, answered Answered) string {
	head := "[observation masked — " + strconv.Itoa(k.Chars) + " chars"
	tail := "]"
	if k.Form == FormCallRecall {
		tail = " · recall " + k.Ref + "]"
	}
	if k.Ended {
		tail = " · exit " + strconv.Itoa(k.Exit) + tail
	}
	tool := strings.ReplaceAll(cutRunes(oneLine(answered.Tool), callToolMost), " ", "_")
	if tool == "" {
		return head + tail
	}
	head += " · " + tool
	const around = len(` ""`)
	target := cutRunes(oneLine(answered.Target), callFormMost-runes(head)-runes(tail)-around)
	if target == "" {
		return head + tail
	}
	return head + ` "` + target + `"` + tail
}

// oneLine prepares text for use in a placeholder: it returns one line without
// invisible characters and without the characters that delimit the form.
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

// plainForm returns the short counterpart of a form that names a call. Other
// forms are returned unchanged.
func plainForm(form string) string {
	switch form {
	case FormCall:
		return FormObservation
	case FormCallRecall:
		return FormRecall
	}
	return form
}
