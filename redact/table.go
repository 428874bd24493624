package redact

import "strings"

// column finds the values below a name that heads a column of CSV, of a table
// with bars, or of a table aligned with blanks.
func (sc *scan) column(a *assignment) {
	s := sc.s
	from, to := lineAt(s, a.from)
	sc.headEnd = to
	sc.spend(to - from)
	if to >= len(s) || to-from > 1<<10 || a.from-from > 1<<9 {
		return
	}
	if s[from] == '#' && sc.commentHead(a, from, to) {
		return
	}
	head := s[from:to]
	for _, sep := range [...]string{"|", "│", "┃", "\t", ";", ","} {
		if n := strings.Count(head, sep); n > 0 && isCell(head, a.from-from, a.to-from, sep) {
			if !isHead(head, sep) || isBar(sep) && !isRule(strings.TrimRight(s[to+1:nextLine(s, to+1, len(s))], "\r\n")) {
				return
			}
			k := strings.Count(head[:a.from-from], sep)
			if sep == "┃" {
				sep = "│" // a head in bold lines
			}
			sc.cells(a, to+1, sep, n, k)
			return
		}
	}
	if strings.Contains(head, "  ") && (isCapitals(head) || isTitled(head) || isUnderline(s[to+1:nextLine(s, to+1, len(s))])) && isCell(head, a.from-from, a.to-from, " ") {
		sc.aligned(a, to+1, a.from-from)
	}
}

// isHead reports whether every cell of a row is a name.
func isHead(row, sep string) bool {
	row = strings.TrimRight(row, " \t\r")
	if isBar(sep) {
		row = strings.Trim(row, " "+sep)
	}
	cells := 0
	for cell := range strings.SplitSeq(row, sep) {
		name := strings.Trim(cell, " \"'`*")
		if name == "" || len(name) > 40 || !isLetter(name[0]) && name[0] != '_' && name[0] != '#' && name[0] < 0x80 || len(cell) > len(name) && isBlank(row[0]) && !isBar(sep) {
			return false
		}
		if end := run(name, 0, len(name), func(c byte) bool { return isWord(c) || c == ' ' || c == '-' || c == '.' || c == '#' || c >= 0x80 }); end < len(name) {
			return false
		}
		cells++
	}
	return cells > 1
}

// isBar reports whether a separator is a line between the columns of a table.
func isBar(sep string) bool { return sep == "|" || len(sep) > 1 }

// isCapitals reports whether a row consists of names in capitals, like the head
// of a tool's list.
func isCapitals(row string) bool {
	return run(row, 0, len(row), func(c byte) bool { return isUpper(c) || isDigit(c) || strings.IndexByte(" _-()\r", c) >= 0 }) == len(row)
}

// isTitled reports whether a row consists of three or more words in one column each, which
// begin with a capital letter.
func isTitled(row string) bool {
	n := 0
	for cell := range strings.SplitSeq(row, "  ") {
		if cell = strings.Trim(cell, " \r"); cell == "" {
			continue
		}
		if !isUpper(cell[0]) || run(cell, 1, len(cell), isLower) < len(cell) {
			return false
		}
		n++
	}
	return n > 2
}

// isUnderline reports whether a row underlines the columns of a head: ====  ====.
func isUnderline(row string) bool {
	row = strings.TrimSpace(row)
	return strings.Contains(row, " ") && (strings.Trim(row, "= ") == "" || strings.Trim(row, "- ") == "")
}

// lineAt returns the line that contains i, without its line end.
func lineAt(s string, i int) (from, to int) {
	from = strings.LastIndexByte(s[:i], '\n') + 1
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return from, i + j
	}
	return from, len(s)
}

// isCell reports whether head[from:to] is a cell or the end of one. Only
// letters, blanks and quotes may precede it in the cell; only blanks and quotes
// may follow it.
func isCell(head string, from, to int, sep string) bool {
	for from > 0 && !strings.HasSuffix(head[:from], sep) {
		if c := head[from-1]; !isQuote(c) && c != ' ' && !isLetter(c) {
			return false
		}
		from--
	}
	for to < len(head) && !strings.HasPrefix(head[to:], sep) {
		if c := head[to]; !isQuote(c) && c != ' ' && c != '\r' {
			return false
		}
		to++
	}
	return true
}

const (
	maxRows = 1000
	maxRow  = 2 << 10
)

// cells examines the k-th cell of the rows from i on, up to the first row
// without n separators.
func (sc *scan) cells(a *assignment, i int, sep string, n, k int) {
	s := sc.s
	for range maxRows {
		if i >= len(s) {
			return
		}
		from, to := lineAt(s, i)
		i = to + 1
		sc.spend(3 * (to - from))
		row := s[from:to]
		if isRule(row) {
			continue
		}
		if to-from > maxRow || countOutside(row, sep) != n {
			return
		}
		at, end := cellAt(row, sep, k)
		sc.cell(a, from+at, from+end)
	}
}

// isRule reports whether a row is the line below a head: ---+---, |:--|--:|.
func isRule(row string) bool {
	if strings.Contains(row, "──") || strings.Contains(row, "━━") || strings.Contains(row, "══") {
		return strings.Trim(row, " ├┼┤┌┬┐└┴┘─━┏┳┓┡╇┩┣╋┫═╞╪╡╟╫╢╠╬╣\r") == ""
	}
	return strings.Contains(row, "--") && run(row, 0, len(row), func(c byte) bool { return strings.IndexByte("-+|: =\r", c) >= 0 }) == len(row)
}

// countOutside counts the separators outside of quotes.
func countOutside(row, sep string) int {
	n, quoted := 0, false
	for i := range len(row) {
		if row[i] == '"' {
			quoted = !quoted
		} else if !quoted && strings.HasPrefix(row[i:], sep) {
			n++
		}
	}
	return n
}

// cellAt returns the position of the k-th cell of a row.
func cellAt(row, sep string, k int) (from, to int) {
	quoted := false
	for i := range len(row) {
		if row[i] == '"' {
			quoted = !quoted
		}
		if quoted || !strings.HasPrefix(row[i:], sep) {
			continue
		}
		if k == 0 {
			return from, i
		}
		k--
		from = i + len(sep)
	}
	return from, len(row)
}

// aligned examines the value below offset in the rows from i on.
func (sc *scan) aligned(a *assignment, i, offset int) {
	s := sc.s
	for range maxRows {
		if i >= len(s) {
			return
		}
		from, to := lineAt(s, i)
		i = to + 1
		sc.spend(to - from)
		at := from + offset
		if at >= to || to-from > maxRow {
			return
		}
		if isBlank(s[at]) {
			at = skipBlanks(s, at)
		}
		for at > from && !isSpace(s[at-1]) {
			at--
		}
		if at > from && at < to {
			sc.cell(a, at, run(s, at, to-at, func(c byte) bool { return !isSpace(c) }))
		}
	}
}

// cell adds s[from:to], without the blanks and quotes around it, if it is a
// secret.
func (sc *scan) cell(a *assignment, from, to int) {
	s := sc.s
	for from < to && (isBlank(s[from]) || isQuote(s[from])) {
		from++
	}
	for from < to && (isSpace(s[to-1]) || isQuote(s[to-1])) {
		to--
	}
	if to-from < 4 || strings.IndexByte(s[from:to], ' ') >= 0 && !isPassphrase(s[from:to]) {
		return
	}
	v := assignment{s: s, start: from, end: to, val: value{text: s[from:to], quoted: true}}
	st := a.named()
	chosen := v.isChosen()
	if chosen && isBareVerb(a.name) && a.afterUser() {
		st = password
	}
	if st == password && isNumericPassword(s[from:to]) {
		sc.add(from, to, passwordRule)
		return
	}
	if chosen || st >= telling && v.val.secret(telling) {
		if r := v.val.judge(a.name, st); r != nil {
			sc.add(from, to, r)
		}
	}
}

// isNumericPassword reports whether s consists of four to twelve digits and is no year.
func isNumericPassword(s string) bool {
	return len(s) >= 4 && len(s) <= 12 && run(s, 0, len(s), isDigit) == len(s) && !(len(s) == 4 && (s[:2] == "19" || s[:2] == "20"))
}

// inserted finds the values of an SQL statement by the names of its columns:
// INSERT INTO t (name, password) VALUES ('…', '…'), COPY t (name, password)
// FROM stdin.
func (sc *scan) inserted(_, end int) {
	s := sc.s
	if table, i := sqlName(s, skipBlanks(s, end)); hasFold(s[i:], "values") {
		if table == sc.schema.table && sc.schema.column != "" {
			sc.tuples(&assignment{s: s, name: sc.schema.column}, i+len("values"), sc.schema.at)
		}
		return
	}
	limit := min(len(s), end+maxRow)
	open := strings.IndexByte(s[end:limit], '(')
	if open < 0 {
		return
	}
	open += end
	shut := strings.IndexByte(s[open:limit], ')')
	sc.spend(limit - end)
	if shut < 0 {
		return
	}
	shut += open
	k := -1
	var name string
	for i, col := range strings.Split(s[open+1:shut], ",") {
		if col = strings.Trim(col, " \t\n`\"[]"); nameStrength(col) >= telling {
			k, name = i, col
			break
		}
	}
	if k < 0 {
		return
	}
	a := assignment{s: s, name: name}
	rest := skipSpaces(s, shut+1)
	switch {
	case hasFold(s[rest:], "values"):
		sc.tuples(&a, rest+len("values"), k)
	case hasFold(s[rest:], "from stdin"):
		if nl := strings.IndexByte(s[rest:], '\n'); nl >= 0 {
			sc.cells(&a, rest+nl+1, "\t", strings.Count(s[open:shut], ","), k)
		}
	}
}

func hasFold(s, begin string) bool {
	return len(s) >= len(begin) && strings.EqualFold(s[:len(begin)], begin)
}

// tuples examines the k-th value of each (…) from i on.
func (sc *scan) tuples(a *assignment, i, k int) {
	s := sc.s
	for range maxRows {
		i = skipSpaces(s, i)
		if i >= len(s) || s[i] != '(' {
			return
		}
		from := i
		n := 0
		for i++; i < len(s) && s[i] != ')' && i < from+maxRow; {
			i = skipSpaces(s, i)
			at := i
			if begin, _ := openQuote(s, i); begin > 0 {
				i = min(len(s), closeQuote(s, begin, s[begin-1], 0)+1)
			}
			for i < len(s) && s[i] != ',' && s[i] != ')' {
				i++
			}
			if n == k {
				sc.cell(a, at, i)
			}
			if n++; i < len(s) && s[i] == ',' {
				i++
			}
		}
		sc.spend(4 * (i - from))
		if i >= len(s) || s[i] != ')' {
			return
		}
		if i = skipSpaces(s, i+1); i < len(s) && s[i] == ',' {
			i++
		}
	}
}
