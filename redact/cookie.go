package redact

import "strings"

var cookieRule = &rule{id: "cookie", kind: "cookie"}

// minCookie is the minimum length of a value that can identify a user to a
// server. A shorter value is assumed to be a setting.
const minCookie = 16

// isCookieValue reports whether the value of a cookie may be a secret: it is long, and
// consists neither of words nor of the counters of a web analytics service.
func isCookieValue(s string) bool {
	p := profileOf(s)
	return len(s) >= minCookie && len(s) <= maxValue && p.blanks == 0 && p.letters > 3 && !isStandIn(s) && !isReference(s) && !isPlaceholder(s) &&
		(p.digits > 0 && (p.turns*6 >= len(s) || len(s) >= 40) || isGibberish(s, 12)) && !strings.HasPrefix(s, "GA1.")
}

// cookies finds the values in a cookie header, or in the cookie argument of a
// command.
func (sc *scan) cookies(start, end int) {
	s := sc.s
	i := passQuotes(s, end, 2, false)
	if i >= len(s) || s[i] != ':' && s[i] != '=' {
		return
	}
	set := i > start && start >= 4 && strings.EqualFold(s[start-4:start], "set-")
	i = passQuotes(s, i+1, 3, false)
	sc.jar(i, set)
}

// jar finds the values of the pairs from i to the end of the line. With set, for a
// Set-Cookie header, only the first pair is the cookie; the other pairs are its
// attributes.
func (sc *scan) jar(i int, set bool) {
	s := sc.s
	stop := min(len(s), i+maxValue)
	for i < stop {
		name := run(s, i, 2*maxName, func(c byte) bool { return isNameByte(c) || strings.IndexByte("%$!*~[]", c) >= 0 })
		if name == i || name >= stop || s[name] != '=' {
			return
		}
		from := name + 1
		if from < stop && s[from] == '"' {
			from++
		}
		to := run(s, from, stop-from, func(c byte) bool { return c > ' ' && strings.IndexByte("\"';,\\<>`", c) < 0 })
		sc.spend(2 * (to - i))
		if isCookieValue(dropPlaceholders(s[from:to])) {
			sc.add(from, to, cookieRule)
		}
		if set || to >= stop || s[to] != ';' {
			return
		}
		i = skipBlanks(s, to+1)
	}
}

// cookieFlag finds the cookies of: curl -b 'name=value'.
func (sc *scan) cookieFlag(_, end int) {
	for _, name := range [...]string{" -b ", " --cookie "} {
		if at := sc.flag(end, name); at > 0 {
			sc.jar(passQuotes(sc.s, at, 2, false), false)
		}
	}
}

// jarLine finds the value in a line of a cookie file: domain, flag, path, flag,
// time, name, value, separated by tabs.
func (sc *scan) jarLine(start, _ int) {
	from, to := lineAt(sc.s, start)
	sc.spend(to - from)
	fields := strings.SplitN(sc.s[from:to], "\t", 7)
	if len(fields) < 7 || to-from > maxValue || fields[1] != "TRUE" && fields[1] != "FALSE" {
		return
	}
	value := strings.TrimRight(fields[6], "\r")
	at := to - len(fields[6])
	if isCookieValue(value) {
		sc.add(at, at+len(value), cookieRule)
	}
}

// cookieMap finds the values of: cookies = {"name": "value"}.
func (sc *scan) cookieMap(_, end int) {
	s := sc.s
	i := skipBlanks(s, passQuotes(s, end, 2, false))
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return
	}
	i = skipBlanks(s, i+1)
	if i >= len(s) || s[i] != '{' {
		return
	}
	stop := min(len(s), i+maxRow)
	if shut := strings.IndexByte(s[i:stop], '}'); shut >= 0 {
		stop = i + shut
	}
	sc.spend(stop - i)
	for i++; i < stop; i++ {
		if !isQuote(s[i]) {
			continue
		}
		to := closeQuote(s, i+1, s[i], 0)
		if to >= stop {
			return
		}
		if isCookieValue(s[i+1 : to]) {
			sc.add(i+1, to, cookieRule)
		}
		i = to
	}
}

// onCookies adds the words of cookies to a vocabulary.
func onCookies(b *vocabularyBuilder) {
	b.on("cookie", (*scan).cookies)
	b.on("cookies", (*scan).cookieMap)
	b.on("curl", (*scan).cookieFlag)
	b.on("\ttrue\t", (*scan).jarLine)
	b.on("\tfalse\t", (*scan).jarLine)
}
