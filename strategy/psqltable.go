package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// mostRows is the maximum number of rows of a table that a line quotes.
const mostRows = 3

// tableRows returns the first rows of the last table of an output in the form of psql, each value
// with the name of its column: "count: 2210". The name of the column alone says nothing. It returns
// "" if the output does not end with such a table, or if the table has no rows.
func tableRows(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := len(lines) - 1
	size := strings.TrimSpace(lines[last])
	if !strings.HasPrefix(size, "(") || !strings.HasSuffix(size, " row)") && !strings.HasSuffix(size, " rows)") {
		return ""
	}
	rule := last - 1
	for rule > 0 && !ruleOfRows(lines[rule]) {
		rule--
	}
	if rule < 1 || rule == last-1 {
		return ""
	}
	names := strings.Split(lines[rule-1], "|")
	var out []string
	for _, row := range lines[rule+1 : min(last, rule+1+mostRows)] {
		out = append(out, cellsOf(names, strings.Split(row, "|")))
	}
	text := strings.Join(out, "; ")
	if last-rule-1 > mostRows {
		text += " … " + size
	}
	return prose.Clip(text, maxWords)
}

// ruleOfRows reports whether a line only separates the names of the columns from the rows.
func ruleOfRows(line string) bool {
	return strings.Contains(line, "--") && strings.Trim(line, "-+ \r") == ""
}

// cellsOf returns the values of a row, each with the name of its column.
func cellsOf(names, values []string) string {
	var out []string
	for i, v := range values {
		if v = prose.Squash(v); v != "" && i < len(names) {
			out = append(out, prose.Squash(names[i])+": "+v)
		}
	}
	return strings.Join(out, ", ")
}
