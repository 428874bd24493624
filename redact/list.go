package redact

import "strings"

// list collects the strings of a JSON array, which may be the arguments of a command or
// a name and its value.
type list struct {
	start int             // the first string
	at    [maxList]uint16 // starts of the strings, relative to the first
	n     int
	other bool // the array has other elements, or is too long
}

const (
	maxList     = 32
	maxListText = 2 << 10
)

// note records the element at the position of w, which begins with c.
func (l *list) note(w *walker, c byte) {
	if l.n == 0 {
		l.start = w.i
	}
	if c != '"' || l.n == maxList || w.i-l.start > maxListText {
		l.other = true
		return
	}
	l.at[l.n] = uint16(w.i - l.start)
	l.n++
}

// listed searches the strings of an array together: ["mysql", "-u", "bob", "-pVALUE"] is
// a command line, and ["password", "VALUE"] is a name with its value.
func (w *walker) listed(name string, l *list) {
	if l.n < 2 || l.other || w.muted || w.d.known != nil || w.i-l.start > maxListText {
		return
	}
	end := w.i
	defer func() { w.i = end }()
	flags := false
	all, texts := make([]literal, l.n), make([]string, l.n)
	for k := range l.n {
		w.i = l.start + int(l.at[k])
		all[k] = w.text()
		texts[k] = w.decoded(all[k])
		flags = flags || len(texts[k]) > 1 && texts[k][0] == '-' && (isLetter(texts[k][1]) || texts[k][1] == '-')
	}
	if flags {
		w.command(all, texts)
	}
	w.row(name, all, texts)
	for k, before := range texts[:l.n-1] {
		if value := texts[k+1]; isBesideName(before, value, l.n == 2) {
			w.take(all[k+1], nameRule(before, nameStrength(before)))
		}
	}
}

// isBesideName reports whether text is a secret because the name of a secret stands before it in
// a list. In a list of two, the text is most likely the value of the name.
func isBesideName(name, text string, pair bool) bool {
	st := nameStrength(name)
	if st < telling || !isNameLike(name) || nameStrength(text) > none || len(text) > maxContext {
		return false
	}
	v := value{text: text, quoted: true}
	if !pair && !isDense(text) {
		return false
	}
	return v.secret(telling) || st == password && len(text) >= 8 && isInvented(text) && v.secret(password)
}

// isNameLike reports whether s has only characters of names.
func isNameLike(s string) bool { return len(s) <= maxName && run(s, 0, len(s), isNameByte) == len(s) }

// command searches the elements of an array as one command line.
func (w *walker) command(all []literal, texts []string) {
	at, size := make([]int, len(texts)), 0
	for k, text := range texts {
		at[k] = size
		size += len(text) + 1
	}
	line := strings.ReplaceAll(strings.Join(texts, " "), "\n", " ")
	for _, f := range w.d.sc.within(line) {
		for k, text := range texts {
			if from, to := f.start-at[k], f.end-at[k]; from >= 0 && to <= len(text) {
				if k > 0 && f.rule.kind == commandRule.kind && endsEarly(texts[k-1], text, from, to) {
					to = len(text)
				}
				w.spans(all[k], text, []span{{start: from, end: to, rule: f.rule}}, 0)
			}
		}
	}
}

// endsEarly reports whether a password that was found in text[from:to] goes on to the end of the
// argument: the value of a flag can have blanks, which end it in a command line only. It returns
// false for an argument that is itself a command line, or has a name before the password.
func endsEarly(before, text string, from, to int) bool {
	if to == len(text) || !isBlank(text[to]) || strings.ContainsAny(text[:from], " \t\n") {
		return false
	}
	return strings.HasPrefix(text, "-") || strings.HasPrefix(before, "-") && !strings.Contains(text[:from], "=")
}

// tableHead is an array of the names of columns, one of which is the name of a secret.
type tableHead struct {
	name string
	n, k int // the number of columns, and the index of that name
}

// row finds the secret in a row of a table in arrays: {"columns": ["login", "password"],
// "rows": [["bob", "VALUE"]]}.
func (w *walker) row(key string, all []literal, texts []string) {
	if isHeadKey(key) {
		w.heads = tableHead{}
	} else if h := w.heads; h.n == len(texts) {
		v := value{text: texts[h.k], quoted: true}
		if r := v.judge(h.name, nameStrength(h.name)); r != nil && !isNameWord(texts[h.k]) {
			w.take(all[h.k], r)
			return
		}
	}
	if !isHeadKey(key) {
		return
	}
	for k, text := range texts {
		if !isNameLike(text) || text == "" || isDigit(text[0]) {
			return
		}
		if nameStrength(text) >= telling {
			w.heads = tableHead{text, len(texts), k}
		}
	}
}

// isHeadKey reports whether a key names the list of the columns of a table.
func isHeadKey(key string) bool {
	switch strings.ToLower(key) {
	case "columns", "cols", "fields", "header", "headers", "head", "keys", "names", "schema":
		return true
	}
	return false
}
