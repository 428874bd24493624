package redact

import "strings"

// keyFlag finds the key that a server shares with a router: tacacs-server host ADDRESS key VALUE.
func keyFlag(sc *scan, start, end int) {
	if at := sc.flag(end, " key "); at > 0 {
		encodedKey(sc, start, at)
	}
}

// keyOption finds the key of a wireless network of OpenWrt: uci set wireless.radio0.key='VALUE'.
func keyOption(sc *scan, _, end int) {
	if at := sc.flag(end, ".key="); at > 0 {
		sc.placed(at)
	}
}

// lastPair finds the password in the last argument of a command, NAME:VALUE.
func lastPair(sc *scan, _, end int) {
	stop := commandEnd(sc.s, end)
	for stop > end && isSpace(sc.s[stop-1]) {
		stop--
	}
	sc.spend(stop - end)
	if i := strings.LastIndexByte(sc.s[end:stop], ' '); i >= 0 && strings.IndexByte(sc.s[end+i:stop], ':') > 0 {
		sc.pair(end + i + 1)
	}
}

// quotedPair finds the password in NAME:VALUE in the configuration of curl. The hit ends with
// the opening quote.
func quotedPair(sc *scan, start, end int) {
	s := sc.s
	if start > 0 && isWord(s[start-1]) && !escaped(s, start) {
		return
	}
	to := closeQuote(s, end, '"', 0)
	sc.spend(to - end)
	if name, pass, found := strings.Cut(s[end:to], ":"); found && (isNameLike(name) || isAddress(name)) && isInvented(pass) && !strings.ContainsAny(pass, "/:") {
		sc.literal(end+len(name)+1, to)
	}
}

// seedArgument finds the seed of one-time codes in the last argument of a command.
func seedArgument(sc *scan, _, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(stop - end)
	i := end + strings.LastIndexByte(strings.TrimRight(s[end:stop], " \r"), ' ') + 1
	to := run(s, i, maxNeedle, func(c byte) bool { return isAlnum(c) || c == '=' })
	if to-i >= 16 && profileOf(s[i:to]).digits > 0 {
		sc.add(i, to, seedRule)
	}
}

// signedUpdate finds the key of an update of a zone: nsupdate -y ALGORITHM:NAME:VALUE.
func signedUpdate(sc *scan, _, end int) {
	s := sc.s
	at := sc.flag(end, "-y ")
	if at == 0 {
		return
	}
	to := argumentEnd(s, at, commandEnd(s, at))
	if i := strings.LastIndexByte(s[at:to], ':'); i > 0 {
		sc.placed(at + i + 1)
	}
}

// place finds a password that directly follows the hit.
func place(sc *scan, _, end int) { sc.placed(end) }

// identity finds the password in NAME:VALUE of a setting of Yarn: npmAuthIdent: "NAME:VALUE".
func identity(sc *scan, _, end int) {
	i := run(sc.s, end, 2, func(c byte) bool { return isQuote(c) || c == ':' })
	if i > end {
		sc.pair(skipBlanks(sc.s, i))
	}
}

// maxKeys is the maximum number of arguments of send-keys that are read.
const maxKeys = 8

// keysSent finds a password that is typed into a terminal: tmux send-keys "VALUE" Enter.
func keysSent(sc *scan, _, end int) {
	s := sc.s
	stop := commandEnd(s, end)
	sc.spend(2 * (stop - end))
	i := skipBlanks(s, end)
	for n := 0; n < maxKeys && i < stop; n++ {
		to := argumentEnd(s, i, stop)
		if t := strings.Trim(s[i:to], `"'`); isCredential(t) && (isUnmistakable(t, password) || isGenerated(t)) {
			sc.placed(i)
			return
		}
		i = max(i+1, skipBlanks(s, to))
	}
}

// typedBelow finds the text that a test types into the field that it tapped on:
// - tapOn: "Password"
// - inputText: "VALUE"
func typedBelow(sc *scan, start, end int) {
	if head := sc.s[max(0, start-maxNearby):start]; strings.Contains(head, "assword") || strings.Contains(head, "asscode") {
		sc.placed(skipBlanks(sc.s, end))
	}
}

// passLine finds the password in a line of its own, Pass VALUE, in a file that has the name of
// the user in a line before it.
func passLine(sc *scan, start, end int) {
	s := sc.s
	if s[start:end] == "Pass " && lineStarts(s, start) && strings.Contains(s[max(0, start-maxRecord):start], "\nUser ") {
		sc.chosen(end)
	}
}

// onPlaces adds the words of this file to a vocabulary.
func onPlaces(b *vocabularyBuilder) {
	for _, r := range [...]struct {
		word string
		run  action
	}{
		{"tacacs-server ", keyFlag}, {"radius-server ", keyFlag}, {"uci set wireless", keyOption}, {"bundle config ", lastPair}, {"stats auth ", func(sc *scan, _, end int) { sc.pair(end) }}, {`user = "`, quotedPair}, {`user="`, quotedPair},
		{"rclone obscure ", positional(0)}, {"rclone reveal ", positional(0)}, {"qpdf --encrypt ", positional(0)}, {"qpdf --encrypt ", positional(1)}, {"user_pw ", positional(0)}, {"owner_pw ", positional(0)}, {"input_pw ", positional(0)},
		{"zfs load-key", (*scan).piped}, {"store-secret", (*scan).piped}, {"env add ", (*scan).piped}, {"variable set", (*scan).stored},
		{"cypher-shell", passwordFlag(" -p ", true)}, {"beeline", passwordFlag(" -p ", true)}, {"nuget add source", passwordFlag(" -p ", true)}, {"psexec", passwordFlag(" -p ", true)}, {"netdom ", passwordFlag(" /passwordd:", false)}, {"netdom ", passwordFlag(" /passwordo:", false)},
		{"oathtool ", seedArgument}, {"nsupdate ", signedUpdate}, {"send-keys ", keysSent}, {"inputtext: ", typedBelow}, {"issecret=true]", place}, {"gopass show ", (*scan).printed}, {"pass ", passLine},
		{"xauth password ", positional(0)}, {"ipsec secret ", positional(0)}, {"-password password ", place}, {":6379> auth ", place}, {"authident", identity}, {"logging in with ", login}, {"logging in as ", login},
	} {
		b.on(r.word, r.run)
	}
}
