package strategy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A textEdit is an edit in the text of a message, below the path of a file: the lines to
// search for, and the lines that replace them.
type textEdit struct{ path, old, new string }

// Marks of a search/replace block, each at the beginning of a line.
const (
	blockFrom = "<<<<<<< "
	blockTo   = ">>>>>>> "
	blockMid  = "======="
)

// textEdits returns the whole search/replace blocks of a text.
func textEdits(text string) (out []textEdit) {
	if !strings.Contains(text, blockFrom) {
		return nil
	}
	path, at := "", 0
	from, rule, mid := -1, -1, -1 // begin and end of the old lines, and begin of the new lines; -1 outside of them
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		plain := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(plain, blockFrom):
			from, mid = at, -1
		case from < 0:
			path = pathAbove(plain, path)
		case mid < 0 && plain == blockMid:
			rule, mid = start, at
		case mid >= 0 && strings.HasPrefix(plain, blockTo):
			if path != "" {
				out = append(out, textEdit{path, text[from:rule], text[mid:start]})
			}
			from, mid = -1, -1
		}
	}
	return out
}

// pathAbove returns the path that a line above a block names. A fence and an empty line may
// come between the path and the block, and one path may apply to several blocks.
func pathAbove(line, before string) string {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "```") {
		return before
	}
	line = strings.Trim(line, "`*#: ")
	if strings.ContainsAny(line, " \t()") || !fileops.IsPath(line) {
		return ""
	}
	return line
}

// appliedHead begins a line in which a program reports that it applied a text edit.
// commitHead begins a line about the commit of the edit: "Commit 1a2b3c4 Cut the list".
const (
	appliedHead = "Applied edit to "
	commitHead  = "Commit "
)

// actions records the edits or the action that a message without calls has in its text:
// some agents read them there. It clears a text that consists only of tags.
func (b *reader) actions(step *Step) {
	if b.wrote, step.Text = writtenCalls(step.Text); len(b.wrote) == 0 {
		b.wrote, step.Text = actionAtEnd(step.Text)
	}
	b.edits = textEdits(step.Text)
	step.Blocks = editedIn(b.edits)
	if len(b.edits) == 0 && actsInText(step.Text) {
		b.acted = actionIn(step.Text)
	}
	if markupOnly(step.Text) {
		step.Text = ""
	}
}

// applied adds calls to the previous message: one for each file whose edits, in the text
// of that message, were applied according to text, and one for each commit.
func (b *reader) applied(text string) {
	edits := b.edits
	b.edits = nil
	n := len(b.h.Steps)
	if len(edits) == 0 || n == 0 {
		return
	}
	last := &b.h.Steps[n-1]
	switch line := firstLine(text); {
	case strings.Contains(text, appliedHead):
		last.Calls = append(last.Calls, callsOf(edits, text)...)
	case prose.BeginsAny(line, allApplied):
		last.Calls = append(append(last.Calls, perFile(edits, line)...), commitIn(line)...)
	case reportsEdits(text):
		last.Calls = append(last.Calls, partlyApplied(edits, text)...)
	default:
		return
	}
	last.Blocks = slices.DeleteFunc(last.Blocks, func(path string) bool {
		return slices.ContainsFunc(last.Calls, func(c Call) bool { return c.spoken && c.arg("file_path") == path })
	})
}

// allApplied begins messages in which a program reports that it applied all text edits.
var allApplied = []string{"I committed the changes with git hash ", "I updated the files."}

// commitIn returns the commit that a report about applied edits names.
func commitIn(line string) []Call {
	rest, ok := strings.CutPrefix(line, allApplied[0])
	hash, subject, named := strings.Cut(rest, " & commit msg: ")
	if !ok || !named {
		return nil
	}
	return []Call{{Tool: "shell", Args: []Arg{{"command", "git commit"}}, Result: commitHead + hash + " " + subject, Answered: true, Exit: -1, spoken: true}}
}

// reportsEdits matches the report of a program about the text edits of the message before: it
// committed them, or it did not find their old lines.
func reportsEdits(text string) bool {
	line := firstLine(text)
	return strings.HasPrefix(line, allApplied[0]) || strings.HasPrefix(line, "# ") && strings.Contains(line, " SEARCH/REPLACE block") && strings.HasSuffix(line, " failed to match!")
}

// perFile returns one call for all edits of each file, with a result.
func perFile(edits []textEdit, result string) (out []Call) {
	for _, path := range editedIn(edits) {
		of := slices.DeleteFunc(slices.Clone(edits), func(e textEdit) bool { return e.path != path })
		if c, ok := editCall(of, path, result); ok {
			out = append(out, c)
		}
	}
	return out
}

// partlyApplied returns calls for edits of which a report quotes those that failed, and may say
// that the others were applied.
func partlyApplied(edits []textEdit, report string) []Call {
	var failed, done []textEdit
	quoted := map[string]bool{}
	for _, block := range strings.Split(report, blockFrom)[1:] {
		_, lines, _ := strings.Cut(block, "\n")
		if old, _, ok := strings.Cut("\n"+lines, "\n"+blockMid); ok {
			quoted[strings.TrimPrefix(old+"\n", "\n")] = true
		}
	}
	for _, e := range edits {
		if quoted[e.old] {
			failed = append(failed, e)
		} else {
			done = append(done, e)
		}
	}
	out := perFile(failed, "Error: the old lines were not found")
	if len(failed) > 0 && strings.Contains(report, " applied successfully") {
		out = append(out, perFile(done, "applied")...)
	}
	return out
}

// editedIn returns the files of text edits, each once.
func editedIn(edits []textEdit) (out []string) {
	for _, e := range edits {
		out = prose.AppendNew(out, e.path)
	}
	return out
}

// blockLines returns lines about text edits of which nothing says that they were applied.
func (h *History) blockLines(section int) (out []Line) {
	for i := range h.Steps {
		if s := &h.Steps[i]; len(s.Blocks) > 0 {
			out = append(out, Line{Section: section, Text: stepID(s.ID) + " wrote search/replace blocks for " + joinAnd(s.Blocks, "`") + "; whether they were applied is not stated", Value: blocksValue * h.recency(s.ID), Order: s.ID})
		}
	}
	return out
}

const blocksValue = 1.0

// callsOf returns calls for the edits in a text, one call for all edits of a file.
func callsOf(edits []textEdit, said string) (out []Call) {
	byFile := map[string][]textEdit{}
	for _, e := range edits {
		byFile[e.path] = append(byFile[e.path], e)
	}
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if path, ok := strings.CutPrefix(line, appliedHead); ok {
			if c, ok := editCall(byFile[path], path, line); ok {
				out = append(out, c)
			}
			delete(byFile, path) // the line is repeated for each block of the file
			continue
		}
		rest, ok := strings.CutPrefix(line, commitHead)
		if hash, _, more := strings.Cut(rest, " "); ok && more && len(out) > 0 && len(hash) >= 7 && strings.Trim(hash, "0123456789abcdef") == "" {
			out = append(out, Call{Tool: "shell", Args: []Arg{{"command", "git commit"}}, Result: line, Answered: true, Exit: -1, spoken: true})
		}
	}
	return out
}

// editCall returns the call that stands for all edits of a file.
func editCall(edits []textEdit, path, result string) (Call, bool) {
	c := Call{Tool: "write", Result: result, Answered: true, Exit: -1, spoken: true}
	var gone, added strings.Builder
	for _, e := range edits {
		gone.WriteString(e.old)
		added.WriteString(e.new)
		if e.old != "" {
			c.Tool = "edit"
		}
	}
	c.Args = []Arg{{"file_path", path}, {"old_string", gone.String()}, {"new_string", added.String()}}
	return c, gone.Len()+added.Len() > 0
}

// onlySpeaks reports whether a message has no calls except its text edits.
func (s *Step) onlySpeaks() bool {
	return !slices.ContainsFunc(s.Calls, func(c Call) bool { return !c.spoken })
}

// saidBefore returns the text before the text edits of a message, or the whole text if
// there are none. The text after the edits does not give their reason.
func (s *Step) saidBefore() string {
	text, _, ok := strings.Cut(s.Text, blockFrom)
	if !ok || len(s.Calls)+len(s.Blocks) == 0 || !s.onlySpeaks() {
		return s.Text
	}
	text = strings.TrimSpace(text)
	for text != "" {
		at := strings.LastIndexByte(text, '\n') + 1
		if line := text[at:]; !strings.HasPrefix(line, "```") && pathAbove(line, "") == "" {
			break
		}
		text = strings.TrimSpace(text[:at])
	}
	return text
}

// markupOnly reports whether a text consists of tags, without a word between them.
func markupOnly(text string) bool {
	if !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(markless(strings.TrimSpace(line)), unicode.IsLetter) {
			return false
		}
	}
	return true
}
