package tidy

// Limits for the values of a column.
const (
	mostColumns = 16
	mostValues  = 32  // a column with more values has no outliers
	mostRare    = 3   // a value in more lines is not rare
	mostCells   = 400 // bytes of a line that are read
	mostRows    = 10_000
)

// A column is the nth word of all lines.
type column struct {
	values map[string]*value // nil = too many
	text   string            // last value
	last   *value
}

// A value is one value of a column, with the lines that have it.
type value struct {
	n     int
	lines [mostRare]int32
}

// outliers raises lines with a value that few lines have, in a column in which nearly all
// lines have one of a few values: the one row with the status "failed", the one line with
// the code 500.
func (c *choice) outliers(from, to int, rank uint8) {
	const least = 20 // lines
	if to-from < least {
		return
	}
	var columns [mostColumns]column
	for k := range columns {
		columns[k].values = map[string]*value{}
	}
	used, dead := 0, 0 // columns that lines have, and those of them with too many values
	for i := from; i < min(to, from+mostRows) && (dead < used || used == 0); i++ {
		text := c.d.lines[i].text
		text = text[:min(len(text), mostCells)]
		for k, at := 0, 0; k < mostColumns; k++ {
			for at < len(text) && cellEnd[text[at]] {
				at++
			}
			if at == len(text) {
				break
			}
			start := at
			for at < len(text) && !cellEnd[text[at]] {
				at++
			}
			used = max(used, k+1)
			if columns[k].values != nil && !columns[k].add(text[start:at], i) {
				dead++
			}
		}
	}
	for k := range columns {
		c.raiseRare(columns[k].values, rank)
	}
}

// add counts the value of line i. It returns false if there are now too many values.
func (c *column) add(text string, i int) bool {
	v := c.last
	if v == nil || text != c.text {
		if v = c.values[text]; v == nil {
			if len(c.values) == mostValues {
				c.values = nil
				return false
			}
			v = &value{}
			c.values[text] = v
		}
		c.text, c.last = text, v
	}
	if v.n < mostRare {
		v.lines[v.n] = int32(i)
	}
	v.n++
	return true
}

// raiseRare raises the lines with rare values of a column, unless there are too many of
// them.
func (c *choice) raiseRare(values map[string]*value, rank uint8) {
	all, rare := 0, 0
	for _, v := range values {
		if all += v.n; v.n <= mostRare {
			rare += v.n
		}
	}
	const share = 20
	if rare*share > all {
		return
	}
	for _, v := range values {
		if v.n <= mostRare {
			for _, i := range v.lines[:v.n] {
				c.raise(int(i), rank)
			}
		}
	}
}

// cellEnd are the bytes between the words of a line.
var cellEnd = [256]bool{' ': true, '\t': true, '|': true, ',': true, ';': true, '"': true}
