package strategy

import (
	"cmp"
	"slices"
)

// brief is a strategy for a summary of a few bullets. A model that refused another
// strategy is asked again with this one.
var brief = register(Strategy{
	Name:     "brief",
	Sections: []Section{{Title: "Summary", Share: 0.5}},
	Instructions: `Write a few bullets, eight at most: what is wanted, what was done, what holds, what comes next.
Unfinished work begins with [open], finished work that must not be repeated with [done].`,
	Examples: []Example{
		{
			History: `[s1] user: Rename the package util to textutil, tests must stay green.
[s2] assistant: calls bash "git mv util textutil" → exit 0, 0 lines
[s3] assistant: calls bash "go test ./..." → exit 1, 9 lines
    cmd/main.go:14:2: package example.com/app/util is not in std`,
			Summary: `## Summary
- Wanted: rename package util to textutil; tests must stay green
- [done] git mv util textutil
- [open] cmd/main.go still imports example.com/app/util; go test ./... fails`,
		},
		{
			History: `[s4] user: What is the balance of account 4417-22?
[s5] assistant: calls get_account 4417-22 → ok, 2 lines
    balance 1830.55 EUR
[s6] assistant: It is 1830.55 EUR.
[s7] user: Transfer 200 to savings.`,
			Summary: `## Summary
- Account 4417-22 has 1830.55 EUR
- [open] transfer 200 to savings`,
		},
	},
	Extract: extractBrief,
})

func extractBrief(h *History) []Line {
	var out []Line
	for _, f := range h.goals() {
		out = append(out, Line{Text: f.Text, Value: f.Value, Order: f.Step})
	}
	for _, f := range h.constraints() {
		out = append(out, Line{Text: f.Text, Value: f.Value * 0.6, Order: 10_000 + f.Step})
	}
	for _, f := range h.decisions() {
		out = append(out, Line{Text: f.Text + h.against(f), Value: f.Value * 0.7, Order: 20_000 + f.Step})
	}
	out = append(out, h.selectionLines(0, selection.line)...)
	out = best(out, maxBrief)
	out = append(out, h.planLines(0)...)
	return append(out, h.fileLines(0)...)
}

// maxBrief is the maximum number of bullets in a brief summary, besides list
// entries.
const maxBrief = 8

// best returns the n most valuable lines, and all entries of lists.
func best(lines []Line, n int) []Line {
	byValue := slices.Clone(lines)
	slices.SortStableFunc(byValue, func(a, b Line) int { return cmp.Compare(b.Value, a.Value) })
	var out []Line
	for _, l := range byValue {
		if l.Group != "" {
			out = append(out, l)
		} else if n > 0 {
			out = append(out, l)
			n--
		}
	}
	return out
}
