package strategy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A change holds the facts about a change of a file that affect quotations of its text.
type change struct {
	step    int
	whole   bool     // the file was rewritten, or deleted
	removed []string // lines, or parts of lines, that are gone
}

// Names of arguments of editors.
var (
	oldTextArgs   = []string{"old_string", "old_str", "oldText", "oldString", "old_text"}
	wholeTextArgs = []string{"content", "contents", "file_text"}
)

// changesOf returns the changes of each file, by its key.
func (h *History) changesOf() map[string][]change {
	if h.changes != nil {
		return h.changes
	}
	h.changes = map[string][]change{}
	h.eachCall(func(s *Step, c *Call) {
		for _, f := range c.files {
			if f.Op < fileops.Edited || f.Op == fileops.Renamed {
				continue
			}
			removed := c.removed()
			written := c.Command() == "" && len(removed) == 0 && c.arg(wholeTextArgs...) != ""
			key := h.key(f.Path)
			h.changes[key] = append(h.changes[key], change{s.ID, written || f.Op != fileops.Edited, removed})
		}
	})
	return h.changes
}

// removed returns the lines that a call of an editor replaces, without the lines that the
// new text also contains.
func (c *Call) removed() []string {
	var old, now []string
	for _, a := range c.Args {
		switch {
		case slices.Contains(oldTextArgs, a.Name):
			old = append(old, strings.Split(a.Value, "\n")...)
		case slices.Contains(newTextArgs, a.Name):
			now = append(now, strings.Split(a.Value, "\n")...)
		case patchArgs[a.Name]:
			for line := range strings.Lines(a.Value) {
				if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
					old = append(old, line[1:])
				}
			}
		}
	}
	for i := range now {
		now[i] = asQuoted(now[i])
	}
	var out []string
	for _, line := range old {
		if line = asQuoted(line); len(line) >= leastRemoved && !slices.Contains(now, line) {
			out = append(out, line)
		}
	}
	return out
}

// leastRemoved is the minimum length of a removed line that identifies its place, in
// bytes. Shorter lines, such as a bracket, appear in many places.
const leastRemoved = 4

// asQuoted returns a line in the form of quotations.
func asQuoted(line string) string { return strings.ReplaceAll(prose.Squash(line), "`", "'") }

// since returns the quotations of a file, read in a step, that still hold, and the step of
// the first change since then; 0 if no call changed the file. It drops quotations of
// replaced text. It removes line numbers from the others, because the change may have
// moved the lines.
func (h *History) since(path string, step int, quotes []string, numbered bool) (left []string, changed int) {
	var after []change
	for _, c := range h.changesOf()[h.key(path)] {
		if c.step > step {
			after = append(after, c)
		}
	}
	if len(after) == 0 {
		return quotes, 0
	}
	for _, q := range quotes {
		q = withoutNumber(q, numbered)
		if text := strings.TrimSuffix(strings.TrimPrefix(q, "… "), " …"); !slices.ContainsFunc(after, func(c change) bool { return c.replaces(text) }) {
			left = append(left, q)
		}
	}
	return left, after[0].step
}

// replaces reports whether a change replaced a text, or a part of it.
func (c *change) replaces(text string) bool {
	return c.whole || slices.ContainsFunc(c.removed, func(line string) bool { return strings.Contains(text, line) || strings.Contains(line, text) })
}

// Forms of the numbers that tools put before lines. A number without a mark after it may
// be a part of the text.
var (
	markedNumber = regexp.MustCompile(`^\d+(?:→|[:-])\s*`)
	bareNumber   = regexp.MustCompile(`^\d+\s+`)
	numberedHead = regexp.MustCompile(`^\s*1\t`)
)

func withoutNumber(quote string, numbered bool) string {
	quote = markedNumber.ReplaceAllString(quote, "")
	if numbered {
		quote = bareNumber.ReplaceAllString(quote, "")
	}
	return quote
}

// hadBefore precedes the step of a change, in a line that quotes an earlier state of a
// file.
const hadBefore = " had, before the edit "

// current removes outdated lines from a quotation of a place, and returns the verb for the
// remaining lines.
func (h *History) current(p place, q *quotation, verb string) string {
	if p.call.step < 0 || p.call.step >= len(h.Steps) || p.call.call >= len(h.Steps[p.call.step].Calls) {
		return verb
	}
	s := &h.Steps[p.call.step]
	c := &s.Calls[p.call.call]
	if len(c.files) != 1 || p.where != textShown || verb != " has " {
		return verb
	}
	left, changed := h.since(c.files[0].Path, s.ID, q.lines, numberedHead.MatchString(body(c.Result)))
	if q.lines = left; changed > 0 {
		return hadBefore + stepID(changed) + ", "
	}
	return verb
}

// hasOf splits a line of the previous summary that quotes a file: "`path` has “a” and
// “b” [s2]". ok is false for other lines.
func hasOf(line string) (path, quotes, rest string, ok bool) {
	path = subject(line)
	after, ok := strings.CutPrefix(line, "`"+path+"` has “")
	end := strings.LastIndex(after, "”")
	if path == "" || !ok || end < 0 {
		return "", "", "", false
	}
	return path, after[:end], after[end+len("”"):], true
}

// quotesNow updates a line of the previous summary that quotes a file: it returns the line
// without quotations that later changes replaced, "" if no quotation is left. It returns
// other lines unchanged.
func (h *History) quotesNow(line string) string {
	if path := subject(line); path != "" && strings.HasPrefix(line, "`"+path+"`"+readsVerb) && len(h.changesOf()[h.key(path)]) > 0 {
		return "" // an excerpt of many lines
	}
	path, quotes, rest, ok := hasOf(line)
	if !ok {
		return line
	}
	left, changed := h.since(path, 0, strings.Split(quotes, "” and “"), false)
	switch {
	case changed == 0:
		return line
	case len(left) == 0:
		return ""
	}
	q := quotation{lines: left}
	return "`" + path + "`" + hadBefore + stepID(changed) + ", " + q.String() + rest
}
