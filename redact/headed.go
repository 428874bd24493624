package redact

import "strings"

// commentHead finds the values below a name in a comment that is the head of a list, as in
// the file of secrets for CHAP: the fields of the rows are separated by blanks.
//
//	# client  server  secret  IP addresses
//	bob       vpn     VALUE   *
func (sc *scan) commentHead(a *assignment, from, to int) bool {
	s := sc.s
	head, found := strings.CutPrefix(s[from:to], "#")
	if !found || !strings.ContainsAny(head, "\t") && !strings.Contains(head, "  ") {
		return false
	}
	k, n := -1, 0
	for i := from + 1; i < to; n++ {
		i = skipBlanks(s, i)
		if i == a.from {
			k = n
		}
		for i < to && s[i] != '\t' && !strings.HasPrefix(s[i:to], "  ") {
			i++
		}
		sc.spend(1)
	}
	if k < 0 || n < 3 {
		return false
	}
	for range maxRows {
		if to >= len(s) {
			break
		}
		from, to = lineAt(s, to+1)
		sc.spend(2 * (to - from))
		if from == to || to-from > maxRow || s[from] == '#' {
			break
		}
		i := from
		for range k {
			i = skipBlanks(s, argumentEnd(s, i, to))
		}
		sc.cell(a, i, argumentEnd(s, i, to))
	}
	return true
}

// maxMarkup is the maximum number of bytes of a table in HTML that are read after its head.
const maxMarkup = 8 << 10

// markupColumn finds the cells below a name in the head of a table in HTML:
// <tr><th>login</th><th>password</th></tr><tr><td>bob</td><td>VALUE</td></tr>.
func (sc *scan) markupColumn(a *assignment) {
	s := sc.s
	if a.from == 0 || s[a.from-1] != '>' || !strings.HasPrefix(s[min(a.to, len(s)):], "</") || a.from <= sc.markupEnd {
		return
	}
	least := max(0, a.from-maxContext)
	row := lastTag(s[least:a.from], "<tr")
	if row < 0 {
		return
	}
	head := strings.ToLower(s[least+row : a.from])
	k := strings.Count(head, "<th") - 1
	if k < 0 || strings.Contains(head, "<td") {
		return
	}
	to := min(len(s), a.to+maxMarkup)
	sc.markupEnd = to
	sc.spend(4 * (to - least))
	n := -1
	for i := a.to; i < to; i++ {
		if s[i] != '<' {
			continue
		}
		switch {
		case hasFold(s[i:to], "</table"):
			sc.markupEnd = i
			return
		case hasFold(s[i:to], "<tr"):
			n = 0
		case hasFold(s[i:to], "<td") && n >= 0:
			if n == k {
				sc.markupCell(a, i, to)
			}
			n++
		}
	}
}

// markupCell examines the text of the cell that begins at i.
func (sc *scan) markupCell(a *assignment, i, to int) {
	s := sc.s
	end := strings.IndexByte(s[i:to], '>')
	if end < 0 {
		return
	}
	from := passEmphasis(s, passWrappers(s, i+end+1))
	if end = strings.IndexByte(s[from:max(from, to)], '<'); end >= 0 {
		sc.cell(a, from, from+end)
	}
}

// lastTag returns the last index of a tag in s, -1 if it is missing.
func lastTag(s, tag string) int {
	return max(strings.LastIndex(s, tag), strings.LastIndex(s, strings.ToUpper(tag)))
}

// printedPairs finds the passwords in a file of names and passwords that a command prints: in
// lines NAME:VALUE, or in the line below a name. In a file that holds nothing else, a value
// may consist of words and a number.
func (sc *scan) printedPairs(i int, only bool) {
	s := sc.s
	for n := 0; n < maxCracked && i < len(s); n++ {
		to := i + lineLength(s[i:min(len(s), i+maxAnswer)])
		sc.spend(2 * (to - i))
		name, pass, found := strings.Cut(strings.TrimRight(s[i:to], " \r"), ":")
		switch {
		case name == "" || strings.ContainsAny(name, " $"):
			return
		case found && isNameLike(name) && !strings.ContainsAny(pass, " :/") && (only || isCredential(pass)):
			sc.literal(i+len(name)+1, i+len(name)+1+len(pass))
		case n == 1 && !found && (only || !isNumbered(name) || isCredential(name)):
			sc.literal(i, i+len(name))
		}
		i = to + 1
	}
}

// listsAccounts reports whether the path of a file shows that it has names and passwords:
// vpn/auth.txt, rsyncd.secrets. It also reports whether such a file has nothing else.
func listsAccounts(path string) (yes, only bool) {
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	if name == "" || strings.ContainsAny(name, " *$|") {
		return false, false
	}
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case name, "txt", "conf", "cfg", "lst", "list":
	case "secrets", "cred", "creds", "passwd", "userlist":
		return true, true
	default:
		return false, false
	}
	for _, word := range [...]string{"secret", "auth", "cred", "login", "passw", "userlist"} {
		if strings.Contains(name, word) {
			return true, strings.HasPrefix(name, "auth") || strings.HasPrefix(name, "userlist")
		}
	}
	return false, false
}
