package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Sections of code_delta.
const (
	deltaChanges = iota
	deltaWhy
	deltaChecks
	deltaFollow
)

// deltaChecksTitle is the title of the section of checks. A strategy with this section
// does not repeat the checks in another section.
const deltaChecksTitle = "Tests and builds"

// codeDelta records the changes of the code. Paths, operations and results come
// from the tool calls.
var codeDelta = register(Strategy{
	Name: "code_delta",
	Sections: []Section{
		{Title: "Changes", Share: 0.5},
		{Title: "Why", Share: 0.2},
		{Title: deltaChecksTitle, Share: 0.15},
		{Title: "Follow-ups", Share: 0.15},
	},
	Instructions: `Record what became of the code, one line a file:
file_path: what changed (functions, APIs, side effects)
- Changes: only files that the calls really created, edited or deleted; [created], [edited] or [deleted] comes first. Files that were only read are not changes.
- Why: the reason of each change.
- Tests and builds: the last result of each command.
- Follow-ups: what is left; every item begins with [open], [blocked] or [done].`,
	Examples: []Example{
		{
			History: `[s1] user: Add a --json flag to the report command.
[s2] assistant: calls read cmd/report.go → ok, 120 lines
[s3] assistant: The table is built in render(); I'll split it so that JSON can share the rows.
    calls edit cmd/report.go → ok, 1 line
    calls write cmd/report_json.go → ok, 1 line
[s4] assistant: calls bash "go test ./cmd" → exit 0, 2 lines`,
			Summary: `## Changes
- [edited] cmd/report.go: render() split so that the rows are shared; flag --json [s3]
- [created] cmd/report_json.go: JSON output of the report [s3]
## Why
- JSON must show the same rows as the table [s3]
## Tests and builds
- go test ./cmd → passed [s4]`,
		},
		{
			History: `[s5] user: Get rid of the legacy client.
[s6] assistant: calls bash "git rm lib/legacy_client.py" → exit 0, 1 line
[s7] assistant: calls bash "pytest" → exit 1, 30 lines
    ImportError: cannot import name 'LegacyClient' from 'lib' (lib/__init__.py)`,
			Summary: `## Changes
- [deleted] lib/legacy_client.py: LegacyClient is gone [s6]
## Why
- The user wants to be rid of the legacy client [s5]
## Tests and builds
- pytest → failed: ImportError: cannot import name 'LegacyClient' from 'lib' (lib/__init__.py) [s7]
## Follow-ups
- [open] remove the import of LegacyClient in lib/__init__.py [s7]`,
		},
	},
	Extract: extractDelta,
})

func extractDelta(h *History) []Line {
	out := h.changeLines()
	for _, f := range h.goals() {
		out = append(out, Line{Section: deltaWhy, Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.decisions() {
		out = append(out, Line{Section: deltaWhy, Text: f.Text + " " + stepID(f.Step) + h.against(f), Value: f.Value * 0.8, Order: f.Step})
	}
	out = append(out, h.selectionLines(deltaWhy, selection.line)...)
	for _, l := range h.checkLines(deltaChecks) {
		l.Text = strings.Replace(l.Text, "` ", "` → ", 1)
		out = append(out, l)
	}
	out = append(out, h.planLines(deltaFollow)...)
	for _, f := range h.effects() {
		out = append(out, Line{Section: deltaFollow, Text: effectMark(f.Text) + f.Text, Value: f.Value, Order: 20_000 + f.Step})
	}
	return out
}

// changeLines returns lines about the changed files. The first 2*alone files have a line
// each. The other files share the lines of their folders.
func (h *History) changeLines() []Line {
	var out []Line
	why := h.reasons()
	n, said := 0, ""
	var rest []fileState
	for _, f := range h.fileStates() {
		if f.Op < fileops.Edited {
			continue
		}
		if n++; n > 2*alone {
			rest = append(rest, f)
			continue
		}
		op := f.Op
		if f.Undone {
			op = fileops.TookBack
		}
		text := "[" + op.String() + "] " + f.Path
		if f.From != "" {
			text += ", before it `" + f.From + "`"
		}
		reason := why[h.key(f.Path)].suffix(f.Last)
		if reason == said { // do not repeat the reason of the file before
			reason = ""
		} else {
			said = reason
		}
		if what := f.what(reason); what != "" {
			text += ": " + what
		}
		value := fileValue * h.recency(f.Last)
		if throwaway(f.Path) {
			value *= throwawayShare
		}
		out = append(out, Line{Section: deltaChanges, Text: text + cite(f.Last), Value: value, Order: n})
	}
	return append(out, h.folderLines(rest, deltaChanges)...)
}

// throwawayShare is the value of a throwaway file, as a share of the value of another file.
const throwawayShare = 0.3

// declaredHere is the maximum number of declared names in a line.
const declaredHere = 3

// what returns a suffix that describes the change of a file: the declared names and the
// reason.
func (s *fileState) what(why string) string {
	what := ""
	if s.Op != fileops.Deleted {
		what = someOf(s.Funcs, declaredHere)
		if what == "" {
			what = fileops.QuotedNew(s.Added)
		}
	}
	return strings.TrimPrefix(what+why, " — ")
}

// someOf names the first n of some names, and counts the others.
func someOf(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + " and " + itoa(len(names)-n) + " more"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// lastSentence returns the last sentence of a text. Right before a call, it
// states the purpose of the call.
func lastSentence(text string) string {
	last := ""
	prose.Sentences(text, func(t string, heading bool) {
		if !heading && len(t) > 15 {
			last = t
		}
	})
	return prose.Clip(prose.Squash(strings.TrimSuffix(last, ":")), 160)
}
