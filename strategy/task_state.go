package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Sections of task_state.
const (
	stateGoals = iota
	stateEntities
	stateConstraints
	stateDecisions
	stateActions
	stateSources
)

// taskState, the default, records what a successor needs to continue the task.
var taskState = register(Strategy{
	Name: "task_state",
	Sections: []Section{
		{Title: "Goals and success criteria", Share: 0.06},
		{Title: "Key entities", Share: 0.35},
		{Title: "Constraints", Share: 0.08},
		{Title: "Decisions", Share: 0.12},
		{Title: "Outstanding actions and blockers", Share: 0.2},
		{Title: "Sources", Share: 0.05},
	},
	Instructions: `Record the state of the task so that work can go on from it.
- Goals and success criteria: what the user wants, and how one can tell that it is reached.
- Key entities: identifiers, file names, branches, environments, each with the few words that say what it is.
- Constraints: what must, must never, or may only be done, in the user's own words.
- Decisions: what was decided, and why.
- Outstanding actions and blockers: every item begins with [open], [blocked] or [done]. What was done and must not be done again is [done].
- Sources: where the facts come from: steps, files, URLs.`,
	Examples: []Example{
		{
			History: `[s1] user: The nightly job billing-sync fails since Monday. Find out why and fix it. Never touch the prod database.
[s2] assistant: calls bash "kubectl logs job/billing-sync" → exit 0, 40 lines
    KeyError: 'vat_id' at sync/map.py line 88
[s3] assistant: The new partner feed has no vat_id. I'll default it to null because the column is nullable.
    calls edit sync/map.py → ok, 1 line
[s4] assistant: calls bash "pytest tests/test_map.py" → exit 1, 12 lines
    AssertionError: expected None, got ''`,
			Summary: `## Goals and success criteria
- Find out why the nightly job billing-sync fails since Monday, and fix it [s1]
## Key entities
- sync/map.py (edited): maps the partner feed; KeyError 'vat_id' was at line 88 [s2]
- tests/test_map.py: test of the mapping
## Constraints
- Never touch the prod database [s1]
## Decisions
- Default vat_id to null, because the new partner feed lacks it and the column is nullable [s3]
## Outstanding actions and blockers
- [open] tests/test_map.py fails: expected None, got '' [s4]
- [done] sync/map.py edited [s3]
## Sources
- kubectl logs job/billing-sync [s2]`,
		},
		{
			History: `[s7] user: Book the cheapest direct flight for reservation ZX81QT, at most 400 dollars.
[s8] assistant: calls search_direct_flight "MUC" → ok, 9 lines
    HAT227 312 USD, HAT301 389 USD
[s9] assistant: calls update_reservation_flights ZX81QT → ok, 3 lines
[s10] user: Thanks. Can I add a bag?`,
			Summary: `## Goals and success criteria
- Cheapest direct flight for reservation ZX81QT [s7]; then add a bag [s10]
## Key entities
- Reservation ZX81QT; flights HAT227 (312 USD, chosen), HAT301 (389 USD)
## Constraints
- At most 400 dollars [s7]
## Decisions
- HAT227, because it is the cheapest direct one [s9]
## Outstanding actions and blockers
- [done] reservation ZX81QT changed to HAT227; do not repeat [s9]
- [open] add a bag [s10]
## Sources
- search_direct_flight from MUC [s8]`,
		},
	},
	Extract: extractState,
})

func extractState(h *History) []Line {
	var out []Line
	for _, f := range h.goals() {
		out = append(out, Line{Section: stateGoals, Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.constraints() {
		out = append(out, Line{Section: stateConstraints, Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.decisions() {
		out = append(out, Line{Section: stateDecisions, Text: f.Text + " " + stepID(f.Step) + h.against(f), Value: f.Value, Order: f.Step})
	}
	out = append(out, h.selectionLines(stateDecisions, selection.line)...)
	out = append(out, h.actionLines(stateActions)...)
	out = append(out, h.fileLines(stateEntities)...)
	return append(out, h.sourceLines(stateSources)...)
}

// listing reports whether a line is a list of identifiers: "Title: a.go b.go".
func listing(line string) bool {
	title, entries, ok := strings.Cut(line, ": ")
	if !ok || len(title) > 40 {
		return false
	}
	for _, word := range strings.Fields(entries) {
		if !ident.Whole(word) {
			return false
		}
	}
	return true
}

// actionLines returns the items of work, and the finished effects that must not be
// repeated.
func (h *History) actionLines(section int) []Line {
	var out []Line
	out = append(out, h.planLines(section)...)
	for _, f := range h.effects() {
		out = append(out, Line{Section: section, Text: effectMark(f.Text) + f.Text, Value: f.Value, Order: 20_000 + f.Step})
	}
	return out
}

// sourceLines returns lines that cite the sources of facts: pages and queries.
func (h *History) sourceLines(section int) []Line {
	var out []Line
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			if !c.Answered || c.Outcome == Failed || c.Effect() || c.sends() {
				continue
			}
			if u := c.arg("url"); u != "" && errorPage(body(c.Result)) != "" {
				out = append(out, Line{Section: section, Text: u + " could not be fetched: " + prose.Clip(errorPage(body(c.Result)), maxErrorLine) + " " + stepID(s.ID), Value: 0.3 * h.recency(s.ID), Order: s.ID})
			} else if u != "" {
				out = append(out, Line{Section: section, Text: "fetched " + u + titled(c) + " " + stepID(s.ID), Value: 0.1 * h.recency(s.ID), Order: s.ID})
			} else if q := c.arg("query"); q != "" && !seeksTools(c.Tool) && !inQueryLanguage(q) {
				out = append(out, Line{Section: section, Text: "asked " + c.Tool + " for " + prose.Quoted(q, maxTarget) + " " + stepID(s.ID), Value: 0.1 * h.recency(s.ID), Order: s.ID})
			}
		}
	}
	return out
}

// seeksTools reports whether a tool only finds other tools, and so is not a source of
// facts.
func seeksTools(tool string) bool {
	low := strings.ReplaceAll(strings.ToLower(tool), "_", "")
	return low == "toolsearch" || low == "searchtools"
}

// inQueryLanguage reports whether a query is written for a database and not for a search.
func inQueryLanguage(q string) bool {
	return strings.ContainsAny(q, "{}") || questions.MatchString(q) || statements.MatchString(q)
}

// questions matches a statement of SQL that only reads.
var questions = lazy.Compile(`(?i)^\s*(?:select\s[^?]*(?:\sfrom\s|\()|explain\s+(?:select|update|insert|delete|with|analyze)\s|with\s+\S+\s+as\s*\()`)

// titled returns the title of a fetched page.
func titled(c *Call) string {
	for line := range strings.Lines(c.Result[:min(len(c.Result), 600)]) {
		if t, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok && len(t) > 3 && !untitled(strings.TrimSpace(line)) {
			return ", " + prose.Quoted(t, 80)
		}
	}
	return ""
}

// namesCommand reports whether a sentence names a command: words in backticks,
// or a command that tests, builds or lints.
func namesCommand(t string) bool {
	low := strings.ToLower(t)
	for _, c := range checks.Commands {
		if strings.Contains(low, c) {
			return true
		}
	}
	_, rest, ok := strings.Cut(t, "`")
	code, _, _ := strings.Cut(rest, "`")
	return ok && strings.Contains(code, " ")
}
