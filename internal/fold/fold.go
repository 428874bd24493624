// Package fold prints tables that fit a terminal of 80 columns, a pager and a commit
// message.
package fold

import "strings"

// most is the maximum width of a line, in columns.
const most = 80

// Table appends rows to b; the first row is the header. The first cell of a row is its
// name and is aligned left, the others are aligned right. Columns that do not fit follow
// in another table below, with the names again. A row may have fewer cells. width returns
// the number of columns of a text; nil = one for each rune.
func Table(b *strings.Builder, indent string, rows [][]string, width func(string) int) {
	if width == nil {
		width = func(s string) int { return len([]rune(s)) }
	}
	wide := widths(rows, width)
	for from := 1; from < len(wide) || from == 1; {
		to, line := from, len(indent)+wide[0]
		for to < len(wide) && (to == from || line+gap+wide[to] <= most) {
			line += gap + wide[to]
			to++
		}
		if from > 1 {
			b.WriteByte('\n')
		}
		for _, row := range rows {
			writeRow(b, indent, row, wide, from, to, width)
		}
		from = max(to, from+1)
	}
}

// gap is the number of blanks between two columns.
const gap = 2

// widths returns the width of each column.
func widths(rows [][]string, width func(string) int) (wide []int) {
	wide = []int{0}
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], width(cell))
		}
	}
	return wide
}

func writeRow(b *strings.Builder, indent string, row []string, wide []int, from, to int, width func(string) int) {
	if len(row) == 0 {
		return
	}
	line := indent + row[0] + strings.Repeat(" ", wide[0]-width(row[0]))
	for i := from; i < min(to, len(row)); i++ {
		line += strings.Repeat(" ", gap+wide[i]-width(row[i])) + row[i]
	}
	b.WriteString(strings.TrimRight(line, " "))
	b.WriteByte('\n')
}
