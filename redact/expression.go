package redact

import "strings"

// fallback finds the value that stands in for a missing variable:
//
//	getenv("API_KEY") or "VALUE"    env("API_KEY").unwrap_or("VALUE")
func (sc *scan) fallback(a *assignment) bool {
	s := a.s
	from := a.closeName(a.to)
	if from >= len(s) || s[from] != ')' && s[from] != ']' {
		return false
	}
	end := run(s, from, maxFallback, func(c byte) bool { return isWord(c) || strings.IndexByte(" .?|:&!()]", c) >= 0 })
	begin, _ := openQuote(s, min(end, len(s)-1))
	if begin == 0 || !hasFallback(s[from:end]) {
		return false
	}
	v := *a
	v.op, v.start = opEquals, end
	if st := a.named(); st >= telling && v.readValue() {
		if r := v.val.judge(a.name, st); r != nil {
			sc.add(v.start, v.end, r)
			return true
		}
	}
	return false
}

// literalBefore finds the literal in the argument before the name: set("VALUE", key: "apiToken").
func (sc *scan) literalBefore(a *assignment) {
	s, st := a.s, a.named()
	i := a.from - 1
	for least := max(0, i-maxNote); i > least && (isWord(s[i-1]) || isBlank(s[i-1]) || s[i-1] == ':' || s[i-1] == '='); {
		i--
	}
	if i < 3 || s[i-1] != ',' || !isQuote(s[i-2]) {
		return
	}
	to := i - 2
	from := max(0, to-maxRecord)
	open := strings.LastIndexByte(s[from:to], s[to])
	if open < 1 || s[from+open-1] != '(' {
		return
	}
	sc.spend(to - from)
	if from += open + 1; isLiteralSecret(s[from:to], st) && !isStandIn(s[from:to]) && !isReference(s[from:to]) {
		sc.add(from, to, nameRule(a.name, st))
	}
}

// maxFallback is the maximum length of the code between a name and its fallback.
const maxFallback = 40

// hasFallback reports whether the code between a name and a literal selects the literal
// if the name has no value.
func hasFallback(code string) bool {
	for _, op := range [...]string{"??", "||", " or ", "?:", "lse(", "unwrap_or", "efault("} {
		if strings.Contains(code, op) {
			return true
		}
	}
	return false
}

// maxParts is the maximum number of literals of which a value is composed.
const maxParts = 20

// continued adds the literals that follow the literal of a secret as its other parts:
// "VALUE" + "VALUE", or one literal on each line.
func (sc *scan) continued(a *assignment, r *rule) {
	s := a.s
	if !a.val.quoted || a.op == opTag || a.start == 0 || !isQuote(s[a.start-1]) {
		return
	}
	q, end := s[a.start-1], a.end
	for range maxParts {
		i := end + 1
		j := run(s, i, maxNote*4, func(c byte) bool { return isSpace(c) || strings.IndexByte("+.\\&", c) >= 0 })
		if j <= i || j >= len(s) || s[j] != q {
			return
		}
		gap := s[i:j]
		end = closeQuote(s, j+1, q, 0)
		sc.spend(end - i)
		if end >= len(s) || !strings.ContainsAny(gap, "+.&") && (strings.IndexByte(gap, '\n') < 0 || !isDense(s[j+1:end])) {
			return
		}
		if k := skipBlanks(s, end+1); k < len(s) && (s[k] == ':' || s[k] == '=') || strings.ContainsAny(s[j+1:end], " \\") {
			return // another name, or a text
		}
		sc.add(j+1, end, r)
	}
}

// unpacked finds the value of a name in a list of names, in the list of values behind the
// operator: user, password = "bob", "VALUE". It reports whether there are such lists.
func (sc *scan) unpacked(a *assignment) bool {
	s := a.s
	if a.quote != 0 || a.from < 2 || s[a.from-1] != ' ' && s[a.from-1] != ',' || s[a.from-2] != ',' && s[a.from-1] != ',' {
		return false
	}
	i := run(s, a.to, 2, func(c byte) bool { return c == ']' || c == ')' })
	i = passAny(s, skipBlanks(s, i), ":= ", "= ")
	if i < 0 {
		return false
	}
	n := 0
	for at := a.from; ; n++ {
		before := strings.TrimSuffix(s[max(0, at-maxName):at], " ")
		if !strings.HasSuffix(before, ",") {
			break
		}
		at -= len(s[max(0, at-maxName):at]) - len(before) + 1
		end := at
		for least := max(0, at-maxName); at > least && isWord(s[at-1]); {
			at--
		}
		if at == end {
			return false
		}
	}
	st := none
	if n > 0 && n <= 8 {
		st = a.named()
	}
	if st < telling {
		return false
	}
	sc.spend(maxExpression)
	sc.nth(a, st, i, n)
	return true
}

// nth adds the n-th literal of the list of expressions at i.
func (sc *scan) nth(a *assignment, st strength, i, n int) {
	s := a.s
	limit := min(len(s), i+maxExpression)
	i = run(s, i, 1, func(c byte) bool { return c == '[' || c == '(' })
	for ; i < limit; n-- {
		i = skipBlanks(s, i)
		begin, depth := openQuote(s, min(i, len(s)-1))
		if n == 0 {
			v := *a
			v.op, v.start = opEquals, i
			if begin > 0 && v.readValue() {
				if r := v.val.judge(a.name, st); r != nil {
					sc.add(v.start, v.end, r)
				}
			}
			return
		}
		if begin > 0 {
			i = closeQuote(s, begin, s[begin-1], depth) + depth + 1
		}
		comma := strings.IndexAny(s[min(i, limit):limit], ",\n")
		if comma < 0 || s[i+comma] == '\n' {
			return
		}
		i += comma + 1
	}
}
