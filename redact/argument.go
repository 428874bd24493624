package redact

import "strings"

// pairFlag returns the action that finds the value of a flag that takes a name
// and a password.
func pairFlag(name string, sep byte) action {
	return func(sc *scan, _, end int) {
		if at := sc.flag(end, name); at > 0 {
			sc.pairBy(skipBlanks(sc.s, at), string(sep))
		}
	}
}

// positional returns the action that finds the password in the n-th argument,
// counted from zero, without flags. An argument that could be a word is
// ignored, because sentences also name commands.
func positional(n int) action {
	return func(sc *scan, start, end int) {
		if start > 0 && isWord(sc.s[start-1]) && !escaped(sc.s, start) {
			return
		}
		stop := commandEnd(sc.s, end)
		sc.spend(2 * (stop - end))
		i := skipBlanks(sc.s, end)
		for k := 0; i < stop; k++ {
			for i < stop && sc.s[i] == '-' {
				i = skipBlanks(sc.s, argumentEnd(sc.s, i, stop))
			}
			if k == n {
				if !isPairOf(strings.TrimLeft(sc.s[i:argumentEnd(sc.s, i, stop)], "\"'")) {
					sc.chosen(i)
				}
				return
			}
			i = skipBlanks(sc.s, argumentEnd(sc.s, i, stop))
		}
	}
}

// argumentEnd returns the end of the argument at i.
func argumentEnd(s string, i, stop int) int {
	if i < stop && isQuote(s[i]) {
		return min(stop, closeQuote(s, i+1, s[i], 0)+1)
	}
	for i < stop && !isSpace(s[i]) {
		i++
	}
	return i
}

// chosen adds the argument at i as a password if it looks like a password: it has a
// digit, a symbol, or letters that are unusual in words.
func (sc *scan) chosen(i int) {
	a := assignment{s: sc.s, to: i, op: opFlag, start: i}
	if i >= len(sc.s) || strings.IndexByte("-/:?\n", sc.s[i]) >= 0 || !a.readValue() {
		return
	}
	if a.isChosen() {
		sc.add(a.start, a.end, commandRule)
	}
}

// placed adds the argument at i as a password. Its place holds nothing but passwords, so a
// generated value counts even if it has the form of a digest or a UUID.
func (sc *scan) placed(i int) {
	a := assignment{s: sc.s, to: i, op: opFlag, start: i}
	if i < len(sc.s) && a.readValue() && a.isPlaced() {
		sc.add(a.start, a.end, commandRule)
	}
}

// isPlaced is like isChosen, except that a digest or a UUID is a password, too.
func (a *assignment) isPlaced() bool {
	return a.isChosen() || isDigest(a.val.text) || isUUID(a.val.text)
}

// isChosen reports whether a value has the form of a password. It is for a value whose
// position already suggests a password.
func (a *assignment) isChosen() bool {
	a.val.env = false
	p := profileOf(a.val.text)
	return (p.digits > 0 && p.letters > 1 || p.symbols > 0 && p.letters > 3 || isMadeUp(a.val.text)) && a.val.secret(password) && !isDigest(a.val.text) && !hasUUID(a.val.text)
}

// slashed finds the password of: sqlplus name/password@host.
func slashed(sc *scan, _, end int) {
	i := skipBlanks(sc.s, end)
	for i < len(sc.s) && sc.s[i] == '-' { // -s, -L
		i = skipBlanks(sc.s, argumentEnd(sc.s, i, min(len(sc.s), i+20)))
	}
	stop := argumentEnd(sc.s, i, min(len(sc.s), i+200))
	name, rest, found := strings.Cut(sc.s[i:stop], "/")
	if at := strings.LastIndexByte(rest, '@'); found && name != "" && at > 3 {
		from := i + len(name) + 1
		sc.literal(from, from+at)
	}
}

// fromLiterals finds the values of: kubectl create secret generic name
// --from-literal=key=value. Whatever the key, the value is part of a secret.
func (sc *scan) fromLiterals(_, end int) {
	const flag = "--from-literal"
	stop := commandEnd(sc.s, end)
	sc.spend(2 * (stop - end))
	for i := end; ; {
		at := strings.Index(sc.s[i:stop], flag)
		if at < 0 {
			return
		}
		i += at + len(flag)
		key := run(sc.s, i, 1, func(c byte) bool { return c == '=' || isBlank(c) })
		key = run(sc.s, key, 1, isQuote)
		to := run(sc.s, key, maxName, isNameByte)
		if to == key || to >= stop || sc.s[to] != '=' {
			continue
		}
		var w nameWords
		if w.split(sc.s[key:to]); !describes(w.at(w.n - 1)) {
			sc.placed(to + 1)
		}
	}
}

// impacket finds the password of: psexec.py domain/name:password@host.
func impacket(sc *scan, _, end int) {
	stop := commandEnd(sc.s, end)
	sc.spend(stop - end)
	at := strings.LastIndexByte(sc.s[end:stop], '@')
	if at < 0 {
		return
	}
	if colon := strings.IndexByte(sc.s[end:end+at], ':'); colon >= 0 {
		sc.literal(end+colon+1, end+at)
	}
}

// literal adds s[from:to], without the quotes around it, if it is a password.
func (sc *scan) literal(from, to int) {
	for to-from > 1 && isQuote(sc.s[from]) && sc.s[to-1] == sc.s[from] {
		from, to = from+1, to-1
	}
	a := assignment{s: sc.s, start: from, end: to, val: value{text: sc.s[from:to], quoted: true}}
	if a.isChosen() {
		sc.add(from, to, commandRule)
	}
}

// maxPipe is the maximum number of bytes before a command that are searched for
// the input piped into it.
const maxPipe = 512

// piped finds a password that a command gets from a pipe or a here-string: echo
// password | sudo -S, docker login --password-stdin <<< password.
func (sc *scan) piped(start, end int) {
	s := sc.s
	if s[start:end] == "sudo -s" || start > 0 && isAlnum(s[start-1]) {
		return // a shell, or another command
	}
	stop := commandEnd(s, end)
	from := max(0, start-maxPipe)
	if nl := strings.LastIndexByte(s[from:start], '\n'); nl >= 0 {
		from += nl + 1
	}
	sc.spend(2 * (stop - from))
	if i := strings.Index(s[end:stop], "<<<"); i >= 0 {
		sc.chosen(skipBlanks(s, end+i+3))
	}
	bar := strings.LastIndexByte(s[from:start], '|')
	if bar < 0 {
		return
	}
	if i := echoed(s, from, from+bar); i > 0 {
		sc.echo(i, strings.HasPrefix(s[start:], "chpasswd"))
	}
}

// echoed returns the start of the argument of the last echo or printf in
// s[from:to], 0 if there is none.
func echoed(s string, from, to int) int {
	at := -1
	for _, word := range [...]string{"echo ", "printf ", "Write-Output "} {
		if i := strings.LastIndex(s[from:to], word); i >= 0 {
			at = max(at, from+i+len(word))
		}
	}
	if at < 0 {
		return 0
	}
	at = skipBlanks(s, at)
	for at < to && s[at] == '-' {
		at = skipBlanks(s, argumentEnd(s, at, to))
	}
	if format := argumentEnd(s, at, to); strings.Contains(s[at:format], "%s") {
		at = skipBlanks(s, format)
	}
	if at >= to {
		return 0
	}
	return at
}

// echo adds the password in an echoed argument: password, or name:password.
func (sc *scan) echo(i int, pair bool) {
	a := assignment{s: sc.s, to: i, op: opFlag, start: i}
	if !a.readValue() {
		return
	}
	if pair {
		name, _, both := strings.Cut(a.val.text, ":")
		if !both {
			return
		}
		a.start += len(name) + 1
		a.val.text = a.val.text[len(name)+1:]
	}
	if a.isPlaced() {
		sc.add(a.start, a.end, commandRule)
	}
}

// expect finds the answer of an expect script to a password prompt.
func (sc *scan) expect(_, end int) {
	s := sc.s
	line := lineEnd(s, end)
	if !strings.Contains(s[end:line], "assword") && !strings.Contains(s[end:line], "assphrase") {
		return
	}
	rest := s[line:min(len(s), line+200)]
	if i := strings.Index(rest, "send"); i >= 0 {
		if q := strings.IndexAny(rest[i:], `"'`); q >= 0 && q < 12 {
			i += line + q
			to := closeQuote(s, i+1, s[i], 0)
			sc.spend(to - i)
			for _, cr := range [...]string{`\n`, `\r`} {
				to = i + 1 + len(strings.TrimSuffix(s[i+1:to], cr))
			}
			sc.literal(i+1, to)
		}
	}
}
