package redact

import "strings"

// schema is the last table of SQL whose columns were read: its name, and the column with
// secrets.
type schema struct {
	table, column string
	at            int // index of the column
}

// maxSchema is the maximum length of the columns of a table, in bytes.
const maxSchema = 8 << 10

// created reads the columns of CREATE TABLE, for the values of INSERT INTO table VALUES (…):
// a dump of a database names the columns only once.
func (sc *scan) created(_, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	if hasFold(s[i:], "if not exists ") {
		i = skipBlanks(s, i+len("if not exists "))
	}
	table, i := sqlName(s, i)
	if table == "" || i >= len(s) || s[i] != '(' {
		return
	}
	sc.schema = schema{table: table}
	limit := min(len(s), i+maxSchema)
	from, depth, at := i+1, 0, 0
	for i++; i < limit; i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case (c == ',' || c == ')') && depth == 0:
			if sc.schema.take(s, skipSpaces(s, from), at) || c == ')' {
				sc.spend(i - end)
				return
			}
			from, at = i+1, at+1
		}
	}
	sc.spend(limit - end)
}

// take notes the column that is defined at i if its name is the name of a secret. It reports
// whether this is so.
func (t *schema) take(s string, i, at int) bool {
	name, _ := sqlName(s, i)
	if nameStrength(name) < telling {
		return false
	}
	t.column, t.at = name, at
	return true
}

// sqlName reads the name of a table or a column at i, without quotes, and returns the start
// of the text after it. The name of the schema before the name of a table is a part of it.
func sqlName(s string, i int) (name string, next int) {
	end := run(s, i, 2*maxName, func(c byte) bool { return isWord(c) || isQuote(c) || c == '.' || c == '[' || c == ']' })
	return strings.Trim(s[i:end], "`\"'[]"), skipBlanks(s, end)
}
