package invariant

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// misnamed returns the mistake in the call in a placeholder, or "". Tool and target
// must equal the tool and target of the result's call.
func (j *judge) misnamed(i, p int, tool, target string) string {
	if tool == "" {
		return ""
	}
	call, ok := j.answered(i, p)
	switch {
	case !ok:
		return "there is no such call. "
	case !beginsWith(skeleton(call.Name), tool):
		return "the tool is " + call.Name + ". "
	case target != "" && !holdsAll(unescaped(string(call.Args)), target):
		return "the call was made with " + string(call.Args) + ". "
	}
	return ""
}

// misquoted returns the mistake in the outcome in a placeholder, or "". The quote
// must be in one line of the original, and the status in one of its first lines or
// its last one.
func misquoted(origin, says, exit string) string {
	lines := strings.Split(strings.Trim(origin, "\n"), "\n")
	if says != "" && !anyLine(lines, says) {
		return "no line of the original says so. "
	}
	if exit == "" {
		return ""
	}
	stated := append(lines[:min(3, len(lines)):min(3, len(lines))], lines[len(lines)-1])
	for _, line := range stated {
		for _, number := range numbers.FindAllString(line, -1) {
			if number == exit {
				return ""
			}
		}
	}
	return "the original states no such status. "
}

var numbers = regexp.MustCompile(`-?[0-9]+`)

func anyLine(lines []string, says string) bool {
	for _, line := range lines {
		if holds(line, says) {
			return true
		}
	}
	return false
}

// concealed reports whether a placeholder for a run of Go tests hides a failed test.
// This judge can read only that kind of report. If an earlier compaction cut the
// original, the report may be lost.
func (j *judge) concealed(i, p int, target, says string) string {
	call, ok := j.answered(i, p)
	if !ok || target == "" || !strings.HasPrefix(target, "go test ") || strings.Contains(says, "FAIL") || len(call.Name) > 20 {
		return ""
	}
	for line := range strings.SplitSeq(j.In[i].Parts[p].Text, "\n") {
		if strings.HasPrefix(uncolored(line), "--- FAIL: ") {
			return "the tests failed. "
		}
	}
	return ""
}

// holdsAll reports whether the arguments of a call contain the target in a
// placeholder: the lines of a command, without its comments, or several arguments.
func holdsAll(args, target string) bool {
	if holds(args, target) {
		return true
	}
	lines := strings.FieldsFunc(target, func(r rune) bool { return r == '⏎' || r == ',' })
	return !slices.ContainsFunc(lines, func(line string) bool { return !holds(args, strings.TrimSpace(line)) })
}

// holds reports whether a text contains a quote, which may be cut at its end.
func holds(text, quoted string) bool {
	return strings.Contains(skeleton(text), skeleton(strings.TrimSuffix(quoted, "…")))
}

func beginsWith(text, quoted string) bool {
	return strings.HasPrefix(text, skeleton(strings.TrimSuffix(quoted, "…")))
}

// skeleton returns the letters and digits of a text, which no change of quotes,
// brackets and spaces affects.
func skeleton(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, uncolored(text))
}

var terminalCode = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

func uncolored(text string) string { return terminalCode.ReplaceAllString(text, "") }

// unescaped returns the text of a JSON value: its strings and numbers, one after the
// other.
func unescaped(value string) string {
	var b strings.Builder
	for d := json.NewDecoder(strings.NewReader(value)); ; {
		switch t, err := d.Token(); token := t.(type) {
		case string:
			b.WriteString(token)
		case nil:
			if err != nil {
				return b.String()
			}
		default:
			b.WriteString(" ")
		}
	}
}
