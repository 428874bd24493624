package main

import (
	"fmt"
	"strings"
)

// layers prints the table of tokens by layer.
func (r *reportWriter) layers() {
	b, a := r.res.Before, r.res.After
	rows := []layer{
		{"system", b.System, a.System},
		{"developer", b.Developer, a.Developer},
		{"tool schemas", b.ToolsSchema, a.ToolsSchema},
		{"summary", b.Summary, a.Summary},
		{"user", b.User, a.User},
		{"assistant", b.Assistant, a.Assistant},
		{"tool results", b.ToolResults, a.ToolResults},
		{"overhead", b.Overhead, a.Overhead},
	}
	changed, scale := b.Total != a.Total, max(r.res.MaxTokens, a.Total)
	if changed {
		scale = max(b.Total, a.Total)
		fmt.Fprintln(r, r.style.dim("                  before     after"))
	}
	for _, row := range rows {
		if row.before+row.after > 0 {
			r.row(row, changed, amount, scale)
		}
	}
	r.row(layer{"total", b.Total, a.Total}, changed, func(n int) string { return r.style.bold(count(n)) }, scale)
	r.row(layer{"messages", b.Messages, a.Messages}, changed, count, 0)
	r.WriteByte('\n')
}

// layer is one row of the table.
type layer struct {
	name          string
	before, after int
}

func (r *reportWriter) row(l layer, changed bool, format func(int) string, scale int) {
	fmt.Fprint(r, left(l.name, noteColumns))
	if changed {
		fmt.Fprint(r, pad(format(l.before), count(l.before), numberColumns+2))
	}
	line := pad(format(l.after), count(l.after), numberColumns)
	if !changed {
		line = "  " + line
	}
	if bar := r.bar(l.before, l.after, scale); bar != "" {
		line += "  " + bar
	}
	fmt.Fprintln(r, line)
}

// pad fills a colored number up to n columns.
func pad(painted, plain string, n int) string {
	if !strings.Contains(painted, plain) {
		plain = painted // a dash in place of zero
	}
	return strings.Repeat(" ", max(n-columnsOf(plain), 0)) + painted
}

const numberColumns = 10

// barColumns is the width of the longest bar.
const barColumns = 40

// bar draws remaining tokens as solid blocks and removed tokens as light blocks.
func (r *reportWriter) bar(before, after, scale int) string {
	if scale == 0 {
		return ""
	}
	cells := func(n int) int {
		if n > 0 {
			return max(1, (n*barColumns+scale/2)/scale)
		}
		return 0
	}
	solid := cells(after)
	return r.style.green(strings.Repeat("█", solid)) + r.style.dim(strings.Repeat("░", max(0, cells(before)-solid)))
}
