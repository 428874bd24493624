package redact

import "strings"

// usingPassword finds the password of DB2: connect to NAME user NAME using VALUE.
func usingPassword(sc *scan, _, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	i := argumentEnd(s, skipBlanks(s, end), stop)
	for k, word := range [...]string{" user ", " using "} {
		if i >= stop || !hasFold(s[i:stop], word) {
			return
		}
		if i += len(word); k == 0 {
			i = argumentEnd(s, i, stop)
		}
	}
	sc.spend(i - end)
	if i < stop && isDense(s[i:argumentEnd(s, i, stop)]) {
		sc.chosen(i)
	}
}

// slashedNames finds the passwords in the arguments NAME/VALUE of the tools of Oracle.
func slashedNames(sc *scan, start, end int) {
	s := sc.s
	if start > 0 && s[start] != '>' && isWord(s[start-1]) && !escaped(s, start) {
		return
	}
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	for i, n := skipBlanks(s, end), 0; i < stop && n < 12; n++ {
		to := argumentEnd(s, i, stop)
		from := run(s, i, 1, isQuote)
		if eq := strings.IndexByte(s[from:to], '='); eq > 0 && hasFold(s[from:], "userid") {
			from += eq + 1
		}
		slash := run(s, from, maxName, isWord)
		if slash > from && slash < to && s[slash] == '/' {
			pass := s[slash+1 : to]
			if at := strings.LastIndexByte(pass, '@'); at > 3 {
				pass = pass[:at]
			}
			pass = strings.TrimRight(pass, `"'`)
			if strings.IndexByte(pass, '/') < 0 && !isMember(pass) {
				sc.literal(slash+1, slash+1+len(pass))
			}
		}
		i = skipBlanks(s, to)
	}
}

// nickserv finds the password in the dialog of a user of IRC with the service for names.
func nickserv(sc *scan, _, end int) {
	s := sc.s
	to := end + lineLength(s[end:min(len(s), end+maxRecord)])
	sc.spend(to - end)
	for _, word := range [...]string{"identify ", "ghost ", "release ", "recover ", "register "} {
		for i := end; i+len(word) < to && i < end+maxNote; i++ {
			if !hasFold(s[i:], word) {
				continue
			}
			i += len(word)
			name := argumentEnd(s, i, to)
			if word != "register " && name < to && s[name] == ' ' {
				i = skipBlanks(s, name)
			}
			sc.chosen(i)
			return
		}
	}
}

// protocolPasswords finds the passwords of a user of SNMP, each of which follows the name of
// its algorithm: createUser NAME SHA "VALUE" AES "VALUE".
func protocolPasswords(sc *scan, _, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	after := false
	for i, n := skipBlanks(s, end), 0; i < stop && n < 16; n++ {
		to := argumentEnd(s, i, stop)
		arg := s[i:to]
		switch word, _, _ := strings.Cut(strings.ToUpper(arg[:min(len(arg), 8)]), "-"); {
		case word == "MD5" || word == "SHA" || word == "AES" || word == "DES" || word == "3DES":
			after = true
		case after && run(arg, 0, len(arg), isDigit) == len(arg): // the length of a key
		case after:
			sc.placed(i)
			after = false
		}
		i = skipBlanks(s, to)
	}
}

// aclPasswords finds the passwords of a user of Redis: ACL SETUSER NAME on >VALUE.
func aclPasswords(sc *scan, _, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	for i, n := skipBlanks(s, end), 0; i < stop && n < 16; n++ {
		to := argumentEnd(s, i, stop)
		if from := run(s, i, 1, isQuote); from+1 < to && strings.IndexByte("><#", s[from]) >= 0 {
			from++
			sc.placed(from)
		}
		i = skipBlanks(s, to)
	}
}

// setConfig finds the value of: pulumi config set NAME VALUE, if the command or the name
// says that it is a secret.
func setConfig(sc *scan, start, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	args := s[end:stop]
	secret := strings.Contains(args, "--secret")
	i := skipBlanks(s, end)
	for i < stop && s[i] == '-' {
		i = skipBlanks(s, argumentEnd(s, i, stop))
	}
	to := argumentEnd(s, i, stop)
	name := s[i:to]
	if !secret && nameStrength(name[strings.LastIndexByte(name, ':')+1:]) < telling {
		return
	}
	positional(1)(sc, start, end)
}

// directive finds the value of a line set NAME VALUE, as in the configuration of a router:
// the line has nothing before it.
func directive(sc *scan, start, end int) {
	s := sc.s
	head := strings.TrimLeft(lineHead(s, start), " \t")
	if head != "" && !strings.HasSuffix(head, "# ") && !strings.HasSuffix(head, "> ") {
		return
	}
	i := skipBlanks(s, end)
	if t := strings.Trim(s[i:argumentEnd(s, i, min(len(s), i+maxName))], `"'`); isDense(t) && !isTechnical(t) || isCredential(t) || isPassphrase(t) {
		sc.chosen(i)
	}
}

// sealedDirective finds a password in the reversible encoding of FortiOS: set psksecret ENC VALUE.
func sealedDirective(sc *scan, start, end int) {
	s := sc.s
	if head := strings.TrimLeft(lineHead(s, start), " \t"); !strings.HasPrefix(head, "set ") {
		return
	}
	to := run(s, end, maxNeedle, func(c byte) bool { return isB64(c) || c == '=' })
	if to-end >= 16 && profileOf(s[end:to]).turns > 3 {
		sc.add(end, to, passwordRule)
	}
}

// neighborPassword finds the password of a neighbor of a router: neighbor ADDRESS password VALUE.
func neighborPassword(sc *scan, start, end int) {
	s := sc.s
	stop := end + lineLength(s[end:min(len(s), end+maxRecord)])
	if strings.TrimLeft(lineHead(s, start), " \t") != "" {
		return
	}
	i := strings.Index(s[end:stop], " password ")
	if i < 0 {
		return
	}
	i += end + len(" password ")
	if i+2 < stop && isDigit(s[i]) && s[i+1] == ' ' {
		i += 2 // the kind of encoding
	}
	sc.placed(i)
}

// encodedKey finds a key that may follow the number of its encoding: isakmp key 0 VALUE.
func encodedKey(sc *scan, _, end int) {
	s := sc.s
	if end+2 < len(s) && isDigit(s[end]) && s[end+1] == ' ' {
		end += 2
	}
	sc.chosen(end)
}

// typedInto finds the text that Robot Framework types into a field for passwords; at least
// two blanks separate its arguments: Input Password    LOCATOR    VALUE.
func typedInto(sc *scan, _, end int) {
	s := sc.s
	gap := func(i int) int { return run(s, i, maxNote, isBlank) }
	locator := gap(end)
	if locator < end+2 && !(locator > end && s[end] == '\t') {
		return
	}
	to := run(s, locator, maxName*2, func(c byte) bool { return !isBlank(c) && c != '\n' })
	value := gap(to)
	if to == locator || value < to+2 && !(value > to && s[to] == '\t') || value >= len(s) {
		return
	}
	if strings.ContainsAny(s[locator:to], "=:$/#") || isDense(s[value:argumentEnd(s, value, min(len(s), value+maxName))]) {
		sc.placed(value)
	}
}

// pipedLiteral finds the literal before: | ConvertTo-SecureString.
func pipedLiteral(sc *scan, start, _ int) {
	s := sc.s
	head := strings.TrimRight(s[max(0, start-maxName):start], " ")
	head, found := strings.CutSuffix(head, "|")
	if !found {
		return
	}
	head = strings.TrimRight(head, " ")
	if len(head) < 3 || !isQuote(head[len(head)-1]) {
		return
	}
	to := max(0, start-maxName) + len(head) - 1
	if open := strings.LastIndexByte(head[:len(head)-1], head[len(head)-1]); open >= 0 {
		sc.literal(max(0, start-maxName)+open+1, to)
	}
}

// protectedSheet finds the password of a document of Office: .Unprotect "VALUE".
func protectedSheet(sc *scan, _, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	call := i < len(s) && s[i] == '('
	if call {
		i++
	}
	if begin, depth := openQuote(s, i); begin > 0 && (!call || isDense(s[begin:closeQuote(s, begin, s[begin-1], depth)])) {
		sc.chosen(i)
	}
}

// accountToken finds the token behind the id of an account of Twilio: ("AC…", "VALUE").
func accountToken(sc *scan, _, end int) {
	s := sc.s
	to := min(len(s), end+maxRecord)
	at := strings.Index(s[end:to], "AC")
	if at < 0 {
		return
	}
	sc.spend(at + maxName)
	id := end + at + 2
	if run(s, id, 32, isTag) != id+32 {
		return
	}
	i := run(s, id+32, 8, func(c byte) bool { return isQuote(c) || isSpace(c) || c == ',' || c == ':' })
	if end := run(s, i, 33, isTag); i > id+32 && end == i+32 {
		sc.add(i, end, tokenRule)
	}
}
