package redact

import "strings"

// answered finds the answer to a command or an expression that ends in the name of a
// secret: it is alone on the line below a prompt. It reports whether it read one.
//
//	$ printenv DB_PASSWORD    >>> settings.DB_PASSWORD    (gdb) p cfg->password
//	VALUE                     'VALUE'                     $1 = 0x55d0 "VALUE"
func (sc *scan) answered(a *assignment) bool {
	text := a.s
	if strings.IndexByte(text[a.to:min(len(text), a.to+maxAsked)], '\n') < 0 {
		return false
	}
	end := run(text, a.to, maxAsked, func(c byte) bool { return isAlnum(c) || strings.IndexByte(" ()]'\"-_/.;`", c) >= 0 })
	if end >= len(text) || text[end] != '\n' || strings.Count(text[a.to:end], " ") > 3 {
		return false
	}
	head := lineHead(text, a.from)
	sc.spend(len(head) + maxAsked)
	s := none
	if isAsked(head) {
		s = a.named()
	}
	if s < telling {
		return false
	}
	next, to := lineAt(text, end+1)
	sc.spend(4 * (min(to, next+maxAnswer) - next))
	if to-next > maxAnswer {
		return false
	}
	v := *a
	v.op, v.told = opProse, true
	v.setAnswer(next, to)
	if v.end-v.start < 6 || hasPlaceholder(v.val.text) || strings.IndexByte(v.val.text, ' ') >= 0 || !v.proseValue() || !v.val.secret(s) {
		return false
	}
	sc.add(v.start, v.end, nameRule(a.name, s))
	return true
}

const (
	maxAsked  = 40  // bytes of a command after the name
	maxAnswer = 300 // bytes of the line with the answer
)

// isAsked reports whether head begins with the prompt of a shell, an interpreter or a
// debugger, and its command prints a value and does not search for the name.
func isAsked(head string) bool {
	if !hasPrompt(head) && !hasInnerPrompt(head) {
		return false
	}
	for _, word := range [...]string{"grep ", "rg ", "find ", "ls ", "git ", "sha", "md5", "wc ", "which ", "man ", "apropos ", "locate ", "head ", "tail ", "hash(", "len("} {
		if strings.Contains(head, word) {
			return false
		}
	}
	return true
}

// hasInnerPrompt reports whether a line begins with the prompt of an interpreter or of a
// debugger: >>> , In [3]: , irb(main):001:0> , (gdb) .
func hasInnerPrompt(line string) bool {
	line = strings.TrimLeft(line, " \t")
	end := strings.IndexByte(line, ' ')
	if end < 1 || end > 24 {
		return false
	}
	switch line[end-1] {
	case '>':
		return true
	case ')':
		return line[0] == '('
	case 'n':
		return strings.HasPrefix(line, "In [")
	}
	return false
}

// setAnswer sets the value to the answer in the line s[from:to]: the literal at its end,
// or the text after the mark of a result (=>, Out[4]:, $1 =).
func (a *assignment) setAnswer(from, to int) {
	s := a.s
	for to > from && isSpace(s[to-1]) {
		to--
	}
	from = min(to, skipBlanks(s, from))
	if to > from+1 && isQuote(s[to-1]) {
		if open := strings.IndexByte(s[from:to-1], s[to-1]); open >= 0 && open <= 24 {
			a.set(from+open+1, to-1, true)
			return
		}
	}
	for _, mark := range [...]string{"=> ", "==> ", "]: ", "= "} {
		if i := strings.Index(s[from:to], mark); i >= 0 && i <= 12 {
			from += i + len(mark)
		}
	}
	a.set(from, to, false)
}
