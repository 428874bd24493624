package redact

import "strings"

// relayPassword finds the password of a mail relay in Postfix: [HOST]:587 NAME:VALUE. The hit
// ends with the port.
func relayPassword(sc *scan, _, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	to := argumentEnd(s, i, min(len(s), i+maxName*2))
	sc.spend(to - end)
	name, pass, found := strings.Cut(s[i:to], ":")
	if i == end || !found || name == "" || strings.ContainsAny(pass, "/") {
		return
	}
	if isAddress(name) || isDense(pass) {
		sc.literal(i+len(name)+1, to)
	}
}

// plainScheme finds a password after a scheme that marks it as plain text, in a file of Dovecot:
// NAME:{PLAIN}VALUE:1000.
func plainScheme(sc *scan, _, end int) {
	to := run(sc.s, end, maxName, func(c byte) bool { return !isSpace(c) && !isQuote(c) && c != ':' })
	sc.literal(end, to)
}

// registered finds the password of Asterisk: register => NAME:VALUE@HOST.
func registered(sc *scan, _, end int) {
	s := sc.s
	i := skipBlanks(s, end)
	to := argumentEnd(s, i, min(len(s), i+maxRecord))
	sc.spend(to - end)
	account := s[i:to]
	at := strings.LastIndexByte(account, '@')
	if at < 0 {
		return
	}
	if name, pass, found := strings.Cut(account[:at], ":"); found {
		pass, _, _ = strings.Cut(pass, ":") // the name for the authentication follows
		sc.literal(i+len(name)+1, i+len(name)+1+len(pass))
	}
}

// verifier finds the verifier of a password of Postgres in the list of users of PgBouncer:
// "NAME" "md5VALUE". The hit ends where the verifier begins.
func verifier(sc *scan, _, end int) {
	s := sc.s
	to := run(s, end, 200, func(c byte) bool { return isB64(c) || strings.IndexByte("=:$", c) >= 0 })
	if n := to - end; to < len(s) && isQuote(s[to]) && (n == 32 && isDigest(s[end:to]) || n >= 60 && strings.IndexByte(s[end:to], ':') > 0) {
		sc.add(end, to, cryptRule)
	}
}

// obscured finds a secret in the reversible encoding of Junos: $9$VALUE.
func obscured(sc *scan, start, end int) {
	s := sc.s
	to := run(s, end, maxName*2, func(c byte) bool { return isAlnum(c) || strings.IndexByte("./-", c) >= 0 })
	if t := s[end:to]; len(t) >= 8 && profileOf(t).upper > 0 && profileOf(t).lower > 0 && (to == len(s) || s[to] != '$') && (isGenerated(t) || isMadeUp(t)) {
		sc.add(start, to, cryptRule)
	}
}

// nodeToken finds the token with which a node joins a cluster of k3s: K10…::server:VALUE.
func nodeToken(sc *scan, start, end int) {
	s := sc.s
	to := run(s, end, maxName*2, func(c byte) bool { return isURLSafe(c) || c == '.' })
	if start >= 67 && s[start-67:start-64] == "K10" && run(s, start-64, 64, isTag) == start && to > end {
		sc.add(start-67, to, tokenRule)
	}
}

// crackedHash finds a password that a program has guessed, in a line of its output:
// NAME:VALUE:1105:aad3…. The hit is the hash of an empty password, which follows the password.
func crackedHash(sc *scan, start, _ int) {
	line := lineStart(sc.s, start)
	sc.spend(start - line)
	fields := strings.Split(strings.TrimSuffix(sc.s[line:start], ":"), ":")
	if n := len(fields); n >= 3 && run(fields[n-1], 0, 10, isDigit) == len(fields[n-1]) {
		from := line + len(fields[0]) + 1
		sc.literal(from, start-len(fields[n-1])-2)
	}
}

const maxCracked = 24 // lines after the name of the program

// crackedHashes finds the lines HASH:VALUE in the output of a program that guesses passwords.
func crackedHashes(sc *scan, _, end int) {
	s := sc.s
	i := end + lineLength(s[end:min(len(s), end+maxRecord)])
	for n := 0; n < maxCracked && i < len(s) && s[i] == '\n'; n++ {
		from := i + 1
		i = from + lineLength(s[from:min(len(s), from+maxAnswer)])
		sc.spend(i - from)
		hash, pass, found := strings.Cut(strings.TrimRight(s[from:i], " \r"), ":")
		if found && isDigest(hash) && strings.IndexByte(pass, ' ') < 0 {
			sc.literal(from+len(hash)+1, from+len(hash)+1+len(pass))
		}
	}
}

// validLogin finds the password in the report of a program that tries passwords:
// [+] DOMAIN\NAME:VALUE.
func validLogin(sc *scan, _, end int) {
	s := sc.s
	name := run(s, end, maxName, func(c byte) bool { return isNameByte(c) || c == '\\' || c == '@' })
	if name >= len(s) || s[name] != ':' || strings.IndexByte(s[end:name], '\\') < 0 {
		return
	}
	sc.literal(name+1, run(s, name+1, maxName, func(c byte) bool { return !isSpace(c) && c != '"' }))
}

// replayed finds the password of Redis in the log of its commands: "AUTH" "NAME" "VALUE".
func replayed(sc *scan, start, end int) {
	s := sc.s
	if start < 2 || s[start-2:start] != "] " {
		return
	}
	to := end - 1 + lineLength(s[end-1:min(len(s), end+maxRecord)])
	sc.spend(to - end)
	last := strings.TrimRight(s[end-1:to], "\r ")
	if open := strings.LastIndexByte(last[:max(0, len(last)-1)], '"'); open >= 0 {
		a := assignment{s: s, to: end, op: opFlag, start: end - 1 + open}
		if a.readValue() && a.val.secret(password) {
			sc.add(a.start, a.end, commandRule)
		}
	}
}

// traced finds the password of a dialog in the trace of system calls: write(3, "PASS VALUE\r\n".
func traced(sc *scan, _, end int) {
	if to := run(sc.s, end, maxName, func(c byte) bool { return c > ' ' && c != '"' && c != '\\' }); strings.HasPrefix(sc.s[to:], `\r\n`) {
		sc.literal(end, to)
	}
}

// newValue finds the password that a program has set: a line that says so is above the line
// New value: VALUE.
func newValue(sc *scan, start, end int) {
	s := sc.s
	line := lineStart(s, start)
	above := s[lineStart(s, max(0, line-1)):line]
	sc.spend(len(above))
	if strings.Contains(above, "assword ") {
		sc.placed(skipBlanks(s, end))
	}
}

// storageKey finds the key of an account of Azure: "keyName": "key1", …, "value": "VALUE".
func storageKey(sc *scan, _, end int) {
	s := sc.s
	to := min(len(s), end+maxRecord)
	i := strings.Index(s[end:to], `"value"`)
	sc.spend(to - end)
	if i < 0 || strings.IndexByte(s[end:end+i], '}') >= 0 {
		return
	}
	from := passQuotes(s, end+i+len(`"value"`), 3, false)
	if from = run(s, from, 4, func(c byte) bool { return c == ':' || isBlank(c) || isQuote(c) }); from >= len(s) {
		return
	}
	if key := run(s, from, 100, isB64); key-from >= 40 && looksRandom(s[from:key]) {
		sc.add(from, run(s, key, 2, func(c byte) bool { return c == '=' }), apiKeyRule)
	}
}

// randomPassword finds the value of a password that Terraform made, in its state.
func randomPassword(sc *scan, _, end int) {
	s := sc.s
	to := min(len(s), end+maxContext)
	sc.spend(to - end)
	i := strings.Index(s[end:to], `"result"`)
	if i < 0 || strings.Contains(s[end:end+i], `"type"`) {
		return
	}
	if i = passQuotes(s, end+i+len(`"result"`), 3, false); i < len(s) && s[i] == ':' {
		sc.placed(skipBlanks(s, i+1))
	}
}

// besideUserName finds the key of an account in: {"username": "NAME", "key": "VALUE"}.
func besideUserName(sc *scan, _, end int) {
	s := sc.s
	i := end
	for _, want := range [...]string{":", "", ",", `key"`, ":"} {
		i = skipSpaces(s, i)
		if want == "" {
			begin, depth := openQuote(s, i)
			if begin == 0 {
				return
			}
			i = closeQuote(s, begin, s[begin-1], depth) + depth + 1
			sc.spend(i - end)
			continue
		}
		if want == `key"` && i < len(s) && s[i] == '"' {
			i++
		}
		if i >= len(s) || !strings.HasPrefix(s[i:], want) {
			return
		}
		i += len(want)
	}
	if begin, depth := openQuote(s, skipSpaces(s, i)); begin > 0 {
		if to := closeQuote(s, begin, s[begin-1], depth); isDigest(s[begin:to]) || looksRandom(s[begin:to]) {
			sc.add(begin, to, apiKeyRule)
		}
	}
}

// optionKey finds the key of a network in OpenWrt, in a line of its own: option key 'VALUE'.
func optionKey(sc *scan, start, end int) {
	if strings.TrimLeft(lineHead(sc.s, start), " \t") == "" {
		sc.chosen(end - 1)
	}
}

// cryptKey finds the key of Magento: 'crypt' => ['key' => 'VALUE'].
func cryptKey(sc *scan, _, end int) {
	to := min(len(sc.s), end+maxName)
	if i := strings.Index(sc.s[end:to], "'key' => "); i >= 0 {
		sc.placed(end + i + len("'key' => "))
	}
}

// onProtocols adds the words of files and dialogs to a vocabulary.
func onProtocols(b *vocabularyBuilder) {
	onAdjoining(b)
	for _, port := range [...]string{"25", "465", "587", "2525"} {
		b.on("]:"+port, relayPassword)
	}
	for _, r := range [...]struct {
		word string
		run  action
	}{
		{"{plain}", plainScheme}, {"{cleartext}", plainScheme}, {"register =>", registered}, {"register=>", registered},
		{`" "md5`, verifier}, {`" "scram-sha-256$`, verifier}, {"$8$", crypt(43, 43)}, {"$9$", crypt(43, 43)}, {"$9$", obscured},
		{"::server:", nodeToken}, {"::node:", nodeToken}, {"aad3b435b51404eeaad3b435b51404ee:", crackedHash},
		{"hashcat", crackedHashes}, {"[+] ", validLogin}, {`"auth" "`, replayed}, {`"pass `, traced}, {"new value: ", newValue},
		{`"keyname"`, storageKey}, {`"random_password"`, randomPassword}, {`"username"`, besideUserName}, {"'crypt' =>", cryptKey},
		{"option key '", optionKey}, {`option key "`, optionKey},
	} {
		b.on(r.word, r.run)
	}
	for _, scheme := range [...]string{`: eap "`, `: xauth "`} {
		b.on(scheme, func(sc *scan, _, end int) { sc.chosen(end - 1) })
	}
}
