package redact

import "strings"

// chosenFlag is passwordFlag for commands that sentences mention, too, and for flags
// with more than one meaning: the value must look like a password.
func chosenFlag(name string) action {
	return func(sc *scan, _, end int) {
		if at := sc.flag(end-1, name); at > 0 {
			if at = skipBlanks(sc.s, at); at < len(sc.s) && strings.IndexByte("-/:?\n", sc.s[at]) < 0 {
				sc.placed(at)
			}
		}
	}
}

// userFlag finds the password in -p or -P of a command that has a flag for the user.
// Both flags have other meanings, such as a port or a project, so that only a value
// with mixed letters and digits counts.
func (sc *scan) userFlag(_, end int) {
	s := sc.s
	if i := skipBlanks(s, end); i >= len(s) || s[i] == '-' || isSpace(s[i]) {
		return
	}
	for _, name := range [...]string{" -p ", " -P ", " -p", " -P"} {
		at := sc.flag(end, name)
		if at == 0 || at >= len(s) || name[len(name)-1] != ' ' && isBlank(s[at]) {
			continue
		}
		a := assignment{s: s, to: at, op: opFlag, start: skipBlanks(s, at)}
		if a.start < len(s) && s[a.start] != '-' && s[a.start] != '=' && a.readValue() && isDense(a.val.text) && a.isChosen() && !(name[len(name)-1] != ' ' && isOptionWord(a.val.text)) {
			sc.add(a.start, a.end, commandRule)
		}
	}
}

// isOptionWord reports whether the text after a flag, without a blank between them, is
// more likely a part of a word: -project2, -Pprofile9.
func isOptionWord(s string) bool {
	return isNumbered(s) || isMember(s) || strings.IndexByte(s, '=') > 0
}

// isDense reports whether s mixes letters and digits, or symbols, more than ports,
// paths, versions and names of projects do.
func isDense(s string) bool {
	p := profileOf(s)
	if strings.ContainsAny(s, "/:") || p.blanks > 0 || len(s) < 6 {
		return false
	}
	return p.digits > 0 && p.upper > 0 && p.lower > 0 || p.digits > 1 && p.turns > 3 || p.digits > 0 && p.symbols > 0 || p.joints == 0 && isGibberish(s, 10) || isWordAndYear(s) || isNumberBetweenWords(s)
}

// isNumberBetweenWords reports whether s is two words with three digits or more between them:
// walnut4821harbor.
func isNumberBetweenWords(s string) bool {
	first := run(s, 0, len(s), isLower)
	number := run(s, first, len(s), isDigit)
	return first >= 4 && number-first >= 3 && len(s)-number >= 4 && run(s, number, len(s), isLower) == len(s)
}

// stored finds the value that a command puts into a store of secrets: NAME=VALUE, the
// value of --body or --value, or the text in a pipe.
func (sc *scan) stored(start, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	for i := skipBlanks(s, end); i < stop; {
		to := argumentEnd(s, i, stop)
		if to == i {
			break
		}
		switch arg := s[i:to]; {
		case arg == "--body" || arg == "--value" || arg == "-b":
			sc.placed(skipBlanks(s, to))
		case isEnvName(arg[:max(0, strings.IndexByte(arg, '='))]):
			sc.placed(i + strings.IndexByte(arg, '=') + 1)
			if i += strings.IndexByte(arg, '=') + 1; i < stop && isQuote(s[i]) {
				to = argumentEnd(s, i, stop)
			}
		}
		i = skipBlanks(s, to)
	}
	sc.piped(start, end)
}

// substituted finds the password in the output of a command that stands for a file:
// --password-file=<(echo VALUE).
func (sc *scan) substituted(start, end int) {
	head, in := strings.CutSuffix(sc.s[max(0, start-24):start], "<")
	if !in {
		return
	}
	if i := strings.LastIndexByte(head, ' '); fieldStrength(head[i+1:]) == password {
		i := end
		if strings.HasPrefix(sc.s[i:], "-n ") {
			i += len("-n ")
		}
		sc.placed(i)
	}
}

// besideUser finds the password in: login: NAME / VALUE.
func besideUser(sc *scan, _, end int) {
	i := argumentEnd(sc.s, end, min(len(sc.s), end+maxName))
	if i == end || !strings.HasPrefix(sc.s[i:], " / ") {
		return
	}
	i += len(" / ")
	if isDense(sc.s[i:argumentEnd(sc.s, i, min(len(sc.s), i+maxName))]) {
		sc.chosen(i)
	}
}

// userAndPassword finds the password after a name and a slash or a colon, in the rest of a
// line about an account: log in with bob / VALUE, creds for the wiki: bob:VALUE.
func (sc *scan) userAndPassword(i int) {
	sc.pairIn(i, i+lineLength(sc.s[i:min(len(sc.s), i+maxClause)]))
}

// pairIn finds a name and a password in s[i:to].
func (sc *scan) pairIn(i, to int) {
	s := sc.s
	sc.spend(to - i)
	for _, sep := range [...]string{" / ", "/", ":"} {
		at := strings.Index(s[i:to], sep)
		if at < 1 {
			continue
		}
		from := i + at + len(sep)
		end := run(s, from, maxName, func(c byte) bool { return !isSpace(c) && !isQuote(c) })
		from, end = bareWord(s, from, end)
		if name := s[i+at-1]; !isAlnum(name) && !isQuote(name) || sep != " / " && strings.Contains(s[i:to], "://") {
			continue
		}
		if t := s[from:end]; len(t) >= 8 && !strings.ContainsAny(t, "/:=") && (isUnmistakable(t, password) || isDense(t) && sep == " / " || isCredential(t) || len(t) >= 10 && isGenerated(t) && !isTechnical(t)) {
			sc.literal(from, end)
			return
		}
	}
}

// loginBefore finds the password in the part of a line before a word about a login: use
// bob / VALUE to log in.
func loginBefore(sc *scan, start, _ int) {
	from := max(lineStart(sc.s, start), start-maxClause)
	sc.pairIn(from, start)
}

// fields finds the values of: vault kv put path key=VALUE.
func (sc *scan) fields(_, end int) {
	stop := commandEnd(sc.s, end)
	sc.spend(stop - end)
	for i := skipBlanks(sc.s, end); i < stop; {
		to := argumentEnd(sc.s, i, stop)
		if eq := strings.IndexByte(sc.s[i:to], '='); eq > 0 && isNameLike(sc.s[i:i+eq]) {
			sc.chosen(i + eq + 1)
		}
		i = max(i+1, skipBlanks(sc.s, to))
	}
}

// hereDocument finds the password in a document that is the input of a command about
// passwords.
func (sc *scan) hereDocument(start, end int) {
	s := sc.s
	if end >= len(s) || s[end] == '<' || isSpace(s[end]) {
		return
	}
	head := s[lineStart(s, start):start]
	sc.spend(len(head))
	for _, word := range [...]string{"passw", "auth", "login", "cred", "secret", "cryptsetup"} {
		if strings.Contains(head, word) {
			sc.linesBelow(start, end)
			return
		}
	}
}

// linesBelow finds a password that fills one of the three lines below i.
func (sc *scan) linesBelow(_, i int) {
	s := sc.s
	i += lineLength(s[i:min(len(s), i+maxName)])
	for n := 0; n < 3 && i < len(s) && s[i] == '\n'; n++ {
		from := i + 1
		i = from + lineLength(s[from:min(len(s), from+maxAnswer)])
		sc.spend(i - from)
		if t := strings.TrimSpace(s[from:i]); isCredential(t) {
			from += strings.Index(s[from:i], t)
			sc.add(from, from+len(t), passwordRule)
		}
	}
}

// accountList finds the passwords in a list of names and passwords: users = [("bob", "VALUE")].
func (sc *scan) accountList(_, end int) {
	s := sc.s
	i := skipBlanks(s, run(s, end, 2, func(c byte) bool { return isQuote(c) || c == '[' || c == ']' }))
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return
	}
	i = skipBlanks(s, i+1)
	if i >= len(s) || s[i] != '[' && s[i] != '{' {
		return
	}
	limit := min(len(s), i+maxExpression*2)
	sc.spend(2 * (limit - i))
	last := ""
	for ; i < limit && s[i] != ';'; i++ {
		if !isQuote(s[i]) {
			continue
		}
		to := closeQuote(s, i+1, s[i], 0)
		if to >= len(s) || s[to] != s[i] {
			return
		}
		text := s[i+1 : to]
		if last != "" && strings.Trim(s[i-2:i], ", :\t\"'") == "" && isCredential(text) && (isNameLike(last) || isAddress(last)) {
			sc.add(i+1, to, passwordRule)
		}
		last, i = text, to
	}
}

// login finds the password after a name in a sentence about a login.
func login(sc *scan, _, end int) {
	n := len(sc.found)
	sc.userAndPassword(end)
	if len(sc.found) == n {
		sc.nearTokens(end, end+lineLength(sc.s[end:min(len(sc.s), end+maxNearby)]), password, commandRule)
	}
}

// lastArgument finds a token in the last argument of a command.
func lastArgument(sc *scan, _, end int) {
	stop := commandEnd(sc.s, end)
	for stop > end && isSpace(sc.s[stop-1]) {
		stop--
	}
	if i := strings.LastIndexByte(sc.s[end:stop], ' '); i >= 0 {
		sc.placed(end + i + 1)
	}
}
