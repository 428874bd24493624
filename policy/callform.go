package policy

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
)

// Bounds of a placeholder that names the call it stands for, in characters.
const (
	callFormMost = 160 // the whole placeholder
	callToolMost = 40
	callSaysMost = 60 // the quoted outcome
	callNameMost = 40 // what of the target stays beside a quoted outcome
)

// Answered describes the call that a result answers, as far as placeholders
// mention it.
type Answered struct {
	Tool   string // the name of the tool
	Target string // what the call was made on, on one line
	Status string // "ok" or "error", for custom templates
	Result string // the text that the placeholder replaces
}

// renderCall writes
//
//	[observation masked — 4812 chars · bash "go test ./..." · says "FAIL store 0.4s" · exit 1 · recall 3f9a2c1b70de]
//
// and leaves out what is not known. It cuts the target and the quotation so that
// the whole text has at most 160 characters.
func renderCall(k *Mark, answered Answered) (string, error) {
	head := "[observation masked — " + strconv.Itoa(k.Chars) + " chars"
	tail := "]"
	if k.Form == FormCallRecall || k.Form == formCallSaysRec {
		tail = " · recall " + k.Ref + "]"
	}
	if k.Ended {
		tail = " · exit " + strconv.Itoa(k.Exit) + tail
	}
	if k.SaysFrom < 0 || k.SaysTo < k.SaysFrom || k.SaysTo > len(answered.Result) {
		return "", fmt.Errorf("%w: range [%d:%d] of %d bytes", ErrEdit, k.SaysFrom, k.SaysTo, len(answered.Result))
	}
	tool := strings.ReplaceAll(cutRunes(oneLine(answered.Tool), callToolMost), " ", "_")
	if tool == "" {
		return head + tail, nil
	}
	head += " · " + tool
	const around = len(` ""`)
	target := oneLine(answered.Target)
	room := callFormMost - runes(head) - runes(tail) - around
	const says = ` · says "`
	if quoted := oneLine(testrun.Uncolored(answered.Result[k.SaysFrom:k.SaysTo])); quoted != "" && target != "" {
		most := room - min(runes(target), callNameMost) - runes(says) - 1
		if quoted = cutRunes(quoted, min(most, callSaysMost)); quoted != "" {
			tail = says + quoted + `"` + tail
			room -= runes(says) + runes(quoted) + 1
		}
	}
	if target = cutRunes(target, room); target == "" {
		return head + tail, nil
	}
	return head + ` "` + target + `"` + tail, nil
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
	`(?: · ([^\s"\[\]·]+)(?: "([^"\[\]·]+)"(?: · says "([^"\[\]·]+)")?)?)?(?: · exit (0|-?[1-9][0-9]{0,9}))?(?: · recall ([0-9a-f]{12}))?\]\z`)

// parseCall recognizes what renderCall writes.
func parseCall(text string) (Mark, bool) {
	if len(text) > callFormMost*utf8.UTFMax || !strings.HasPrefix(text, "[observation masked — ") || runes(text) > callFormMost {
		return Mark{}, false
	}
	found := callForm.FindStringSubmatch(text)
	if found == nil {
		return Mark{}, false
	}
	for _, quoted := range found[2:5] {
		if quoted != oneLine(quoted) {
			return Mark{}, false
		}
	}
	k := Mark{Form: FormCall, Ref: found[6], Ended: found[5] != ""}
	k.Chars, _ = strconv.Atoi(found[1])
	k.Exit, _ = strconv.Atoi(found[5])
	if k.Ref != "" {
		k.Form = FormCallRecall
	}
	if found[4] != "" {
		k.Form = saying(k.Form)
	}
	return k, true
}

// plainForm returns the short counterpart of a form that names a call. Other
// forms are returned unchanged.
func plainForm(form string) string {
	switch form {
	case FormCall, formCallSays:
		return FormObservation
	case FormCallRecall, formCallSaysRec:
		return FormRecall
	}
	return form
}

// saying returns the version of a form that quotes an outcome.
func saying(form string) string {
	if form == FormCallRecall {
		return formCallSaysRec
	}
	return formCallSays
}
