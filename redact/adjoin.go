package redact

import "strings"

// flaggedCredential finds a value that can only be a password in the flag -p of any command, or
// in /p of a command of Windows. In other commands -p and /p mean a port, a path or a project,
// and -P is also the flag for a public key.
func flaggedCredential(sc *scan, start, end int) {
	s := sc.s
	if s[start+2] != 'p' {
		return
	}
	i := skipBlanks(s, end)
	to := argumentEnd(s, i, min(len(s), i+maxName))
	if to < i+8 || to == i+maxName {
		return
	}
	sc.spend(2 * (to - i))
	if t := strings.Trim(s[i:to], `"'`); isCredential(t) && (isUnmistakable(t, password) || profileOf(t).symbols > 0) {
		sc.chosen(i)
	}
}

// echoedLogin finds the password that is echoed into a command about a login: echo 'VALUE' |
// p4 login. The hit ends with the opening quote.
func echoedLogin(sc *scan, _, end int) {
	s := sc.s
	to := closeQuote(s, end, s[end-1], 0)
	sc.spend(to - end)
	if to-end < 6 || to-end > maxName || to+2 >= len(s) || s[to] != s[end-1] || strings.ContainsAny(s[end:to], ":$") {
		return
	}
	bar := skipBlanks(s, to+1)
	if bar >= len(s) || s[bar] != '|' {
		return
	}
	command := s[bar+1 : max(bar+1, commandEnd(s, bar+1))]
	sc.spend(len(command))
	for _, word := range [...]string{" login", "auth", "unlock", "passw", "stdin-pass", "join", "decrypt"} {
		if strings.Contains(command, word) {
			sc.placed(end - 1)
			return
		}
	}
}

// wifiCode finds the password in the text of a QR code for a network: WIFI:T:WPA;S:NAME;P:VALUE;;
func wifiCode(sc *scan, _, end int) {
	s := sc.s
	line := s[end:min(len(s), end+maxRecord)]
	line = line[:lineLength(line)]
	sc.spend(len(line))
	if i := strings.Index(line, ";P:"); i >= 0 {
		from := end + i + len(";P:")
		if to := run(s, from, maxName, func(c byte) bool { return c > ' ' && c != ';' && c != '"' }); to < len(s) && s[to] == ';' {
			sc.literal(from, to)
		}
	}
}

// secondLiteral finds the password in the second of two literals: AT+CWJAP="NAME","VALUE",
// sp_addlogin 'NAME', 'VALUE'.
func secondLiteral(sc *scan, _, end int) {
	s := sc.s
	i := run(s, end, 3, func(c byte) bool { return c == '=' || isBlank(c) || c == 'N' })
	begin, depth := openQuote(s, i)
	if begin == 0 {
		return
	}
	i = closeQuote(s, begin, s[begin-1], depth) + depth + 1
	sc.spend(i - end)
	if i < len(s) && s[i] == ',' {
		if i = skipBlanks(s, i+1); i < len(s) && s[i] == 'N' {
			i++
		}
		if begin, _ = openQuote(s, i); begin > 0 {
			sc.chosen(i)
		}
	}
}

// namedPair finds the password of NAME:VALUE after a flag or a key for credentials, if it mixes
// letters and digits.
func namedPair(sc *scan, _, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	to := argumentEnd(s, i, min(len(s), i+maxName))
	if _, pass, found := strings.Cut(s[i:to], ":"); found && isInvented(strings.Trim(pass, `"'`)) && strings.IndexByte(pass, '/') < 0 {
		sc.pair(i)
	}
}

// joinedUser finds the password of curl in -uNAME:VALUE, without a blank.
func joinedUser(sc *scan, start, end int) {
	s := sc.s
	if end >= len(s) || s[end] != ' ' || start > 0 && isWord(s[start-1]) && !escaped(s, start) {
		return
	}
	stop := commandEnd(s, end)
	sc.spend(stop - end)
	i := strings.Index(s[end:stop], " -u")
	if i < 0 {
		return
	}
	i += end + len(" -u")
	name := run(s, i, maxName, isNameByte)
	if name > i+1 && name < stop && s[name] == ':' {
		sc.pair(i)
	}
}

// lockCode finds the digits that open a door: the key box is left of the gate, the code is VALUE.
func lockCode(sc *scan, start, end int) {
	s := sc.s
	to := run(s, end, 9, isDigit)
	if n := to - end; n < 4 || n > 8 || to < len(s) && isWord(s[to]) {
		return
	}
	head := s[max(lineStart(s, start), start-maxNearby):start]
	if isResultCode(head) {
		return
	}
	for _, word := range [...]string{"door", "gate", "key box", "keybox", "lock", "alarm", "garage", "entrance", "safe", "keypad", "lockbox"} {
		if holdsWord(head, word) {
			sc.add(end, to, passwordRule)
			return
		}
	}
}

// isResultCode reports whether the text before the word "code" makes it the result of a program:
// errorCode, exit code.
func isResultCode(head string) bool {
	head = strings.TrimRight(head, " _-")
	for _, word := range [...]string{"error", "exit", "status", "return", "result", "response", "reason", "http", "message", "event", "fault", "product", "country", "area", "zip", "postal", "vendor"} {
		if from := len(head) - len(word); endsFold(head, word) && (from == 0 || !isLetter(head[from-1]) || isUpper(head[from])) {
			return true
		}
	}
	return false
}

// holdsWord reports whether a word is in s, without letters around it, or only the s of a plural
// behind it.
func holdsWord(s, word string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return false
		}
		from := at + i
		at = from + len(word)
		if (from == 0 || !isLetter(s[from-1])) && (at == len(s) || !isLetter(s[at]) || s[at] == 's') {
			return true
		}
	}
}

// networkAnswer finds the answer to a question about the password of a network, in the message
// below it.
func networkAnswer(sc *scan, start, end int) {
	s := sc.s
	to := end + lineLength(s[end:min(len(s), end+maxNote)])
	if to >= len(s) || s[to] != '\n' || !strings.HasSuffix(strings.TrimRight(s[end:to], " \r"), "?") {
		return
	}
	head := strings.ToLower(lineHead(s, start))
	sc.spend(len(head))
	for _, word := range [...]string{"clave", "code", "key", "schlüssel", "contrase", "passe", "senha", "chiave", "codice"} {
		if strings.Contains(head, word) {
			next, stop := lineAt(s, to+1)
			next = passSpeaker(s, next, stop)
			if t := strings.TrimSpace(s[next:stop]); isDense(t) || isWordAndNumber(t) {
				sc.alone(next, stop, "password", password)
			}
			return
		}
	}
}

// counted finds a value below its name and its length, as Subversion stores passwords:
// K 8, password, V 12, VALUE.
func (sc *scan) counted(a *assignment) bool {
	s := a.s
	i := passAny(s, a.to, "\nV ", "\r\nV ")
	if i < 0 || a.named() < telling {
		return false
	}
	n := 0
	for ; i < len(s) && isDigit(s[i]) && n < maxContext; i++ {
		n = n*10 + int(s[i]-'0')
	}
	if i = passAny(s, i, "\n", "\r\n"); i < 0 || n < 4 || i+n > len(s) || strings.IndexByte(s[i:i+n], '\n') >= 0 {
		return false
	}
	sc.add(i, i+n, nameRule(a.name, a.named()))
	return true
}

// steamLogin finds the password of: steamcmd +login NAME VALUE.
func steamLogin(sc *scan, start, end int) {
	if i := argumentEnd(sc.s, end, min(len(sc.s), end+maxName)); i+1 < len(sc.s) && sc.s[i] == ' ' && sc.s[i+1] != '+' {
		positional(1)(sc, start, end)
	}
}

// upsMonitor finds the password of a monitor of NUT: MONITOR NAME@HOST 1 NAME VALUE slave.
func upsMonitor(sc *scan, start, end int) {
	s := sc.s
	if s[start:end] != "MONITOR " {
		return
	}
	if i := argumentEnd(s, end, min(len(s), end+maxName)); strings.IndexByte(s[end:i], '@') > 0 && i+1 < len(s) && isDigit(s[i+1]) {
		positional(3)(sc, start, end)
	}
}

// logon finds the password of Teradata: .logon HOST/NAME,VALUE;
func logon(sc *scan, _, end int) {
	s := sc.s
	to := run(s, end, maxName*2, func(c byte) bool { return c > ' ' && c != ';' })
	if name, pass, found := strings.Cut(s[end:to], ","); found && strings.IndexByte(name, '/') > 0 {
		sc.literal(end+len(name)+1, end+len(name)+1+len(pass))
	}
}

// replied finds the value below its name in a numbered reply of Redis: 3) "password" 4) "VALUE".
func (sc *scan) replied(a *assignment) bool {
	s := a.s
	i := a.to + 1
	if a.quote != '"' || a.from < 4 || s[a.from-3:a.from] != ") \"" || i >= len(s) || s[i] != '\n' || a.named() < telling {
		return false
	}
	i = skipBlanks(s, i+1)
	number := run(s, i, 6, isDigit)
	if number == i || !strings.HasPrefix(s[number:], ") \"") {
		return false
	}
	v := *a
	v.op, v.start = opColon, number+2
	if v.readValue() {
		if r := v.val.judge(a.name, a.named()); r != nil {
			sc.add(v.start, v.end, r)
		}
	}
	return true
}

// accountLines finds the passwords of new users in the configuration of cloud-init, in lines
// NAME:VALUE below chpasswd.
func accountLines(sc *scan, _, end int) {
	s := sc.s
	to := end + lineLength(s[end:min(len(s), end+maxNote)])
	for n := 0; n < maxCracked && to < len(s) && s[to] == '\n'; n++ {
		from := skipBlanks(s, to+1)
		to = from + lineLength(s[from:min(len(s), from+maxAnswer)])
		sc.spend(to - from)
		name, pass, found := strings.Cut(strings.TrimPrefix(s[from:to], "- "), ":")
		if found && pass != "" && isNameLike(name) && strings.IndexByte(pass, ' ') < 0 {
			sc.literal(to-len(pass), to)
		}
	}
}

// onAdjoining adds the words of this file to a vocabulary.
func onAdjoining(b *vocabularyBuilder) {
	for _, r := range [...]struct {
		word string
		run  action
	}{
		{" -p ", flaggedCredential}, {" /p ", flaggedCredential}, {"echo '", echoedLogin}, {`echo "`, echoedLogin}, {"echo -n '", echoedLogin}, {`echo -n "`, echoedLogin},
		{"wifi:t:", wifiCode}, {"wifi:s:", wifiCode}, {"at+cwjap", secondLiteral}, {"sp_addlogin", secondLiteral}, {" -auth ", namedPair}, {"login=", namedPair}, {"curl", joinedUser},
		{"code is ", lockCode}, {"code: ", lockCode}, {"wifi", networkAnswer}, {"wlan", networkAnswer}, {"wi-fi", networkAnswer},
		{"check_snmp", chosenFlag(" -C ")}, {"snmp", chosenFlag(" -c ")},
		{"basicauth ", positional(1)}, {"+login ", steamLogin}, {"monitor ", upsMonitor}, {".logon ", logon}, {"prosodyctl register ", positional(2)}, {"ejabberdctl register ", positional(2)}, {"kamctl add ", positional(1)}, {"zmprov sp ", positional(1)},
		{"-supw ", positional(0)}, {"rootpw ", positional(0)}, {"--setpw ", positional(1)}, {"chpasswd:", accountLines},
	} {
		b.on(r.word, r.run)
	}
}
