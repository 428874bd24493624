package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
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

// TaskState keeps what is needed to go on with the task: the default.
var TaskState = register(Strategy{
	Name: "task_state",
	Sections: []Section{
		{Title: "Goals and success criteria", Share: 0.08},
		{Title: "Key entities", Share: 0.5, Lists: true},
		{Title: "Constraints", Share: 0.05},
		{Title: "Decisions", Share: 0.06},
		{Title: "Outstanding actions and blockers", Share: 0.07},
		{Title: "Sources", Share: 0.1},
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
	for _, f := range h.Goals() {
		out = append(out, Line{Section: stateGoals, Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.Constraints() {
		out = append(out, Line{Section: stateConstraints, Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.Decisions() {
		out = append(out, Line{Section: stateDecisions, Text: f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
	}
	out = append(out, h.actionLines(stateActions)...)
	// What is offered first is where an identifier is listed: with what was
	// done to it, else as a source, else by its kind.
	out = append(out, h.changedLines(stateEntities)...)
	out = append(out, h.sourceLines(stateSources)...)
	return append(out, h.entityLines(stateEntities)...)
}

// entityLines lists identifiers by kind, best first. A number alone tells a
// reader nothing, so numbers are not among them.
func (h *History) entityLines(section int) []Line {
	var out []Line
	for _, e := range h.Index.Top(h.Index.Len()) {
		if e.Kind != ident.Number && e.Kind != ident.Version {
			out = append(out, Line{Section: section, Group: entityGroup(e), Text: e.Text, Order: entityOrder(e)})
		}
	}
	return out
}

func entityOrder(e *Entity) int {
	if e.Tool {
		return 50
	}
	return 20 + int(e.Kind)
}

func entityGroup(e *Entity) string {
	if e.Tool {
		return "Tools and parameters"
	}
	switch e.Kind {
	case ident.Path, ident.File:
		return "Files and paths"
	case ident.Camel, ident.Pascal, ident.Snake, ident.Member:
		return "Names in code and data"
	case ident.Hex, ident.Ticket, ident.Code, ident.Email:
		return "Ids"
	case ident.URL:
		return "URLs"
	}
	return "Other"
}

// listing reports whether a line is a list of identifiers: "Title: a.go b.go".
func listing(line string) bool {
	title, entries, ok := strings.Cut(line, ": ")
	if !ok || len(title) > 40 {
		return false
	}
	for _, word := range strings.Fields(entries) {
		if !isIdentifier(word) {
			return false
		}
	}
	return true
}

// isIdentifier reports whether a word is one identifier and nothing else.
func isIdentifier(word string) bool {
	whole := false
	ident.ScanAll(word, func(_ ident.Kind, start, end int) { whole = whole || start == 0 && end == len(word) })
	return whole
}

// actionLines are the items of work, what failed last, and what is done and
// must not be repeated.
func (h *History) actionLines(section int) []Line {
	var out []Line
	for _, it := range h.Items() {
		value := 2.0
		if it.Status == Done {
			value = 0.35
		}
		out = append(out, Line{Section: section, Text: it.Line(), Value: value * h.recency(max(it.Step, 1)), Order: int(it.Status)*10_000 + it.Step})
	}
	for _, f := range h.failures() {
		out = append(out, Line{Section: section, Text: "[open] " + f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.Next() {
		out = append(out, Line{Section: section, Text: "[open] " + f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
	}
	for _, f := range h.effects() {
		out = append(out, Line{Section: section, Text: "[done] " + f.Text, Value: f.Value, Order: 20_000 + f.Step})
	}
	return out
}

// sourceLines cite where facts come from: what was read, fetched and asked for.
func (h *History) sourceLines(section int) []Line {
	var out []Line
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			if c.Outcome != OK || c.Effect() {
				continue
			}
			value := 0.01 * h.recency(s.ID)
			for _, f := range c.Files {
				if f.Op == Read {
					out = append(out, Line{Section: section, Group: "Read", Text: f.Path, Value: value})
				}
			}
			if u := c.arg("url"); u != "" {
				out = append(out, Line{Section: section, Group: "Fetched", Text: u, Value: value, Order: 1})
			} else if q := c.arg("query"); q != "" {
				out = append(out, Line{Section: section, Text: c.Tool + " " + strconv.Quote(clip(squash(q), maxTarget)) + " " + stepID(s.ID), Value: 2 * value, Order: 2})
			}
		}
	}
	return out
}
