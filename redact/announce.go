package redact

import "strings"

// announced finds a value below the sentence about it. The value is alone on a line
// ("Your temporary password is", an empty line, the value), or the next line of a log
// types it into the field (click on the password field, type "VALUE").
func (sc *scan) announced(a *assignment, s strength) {
	if s < telling || isBareVerb(a.name) && !strings.HasPrefix(a.s[a.to:], "?\n") || endsFold(a.name, "s") && !isBareVerb(a.name) {
		return // a plural such as "passwords" is about secrets in general
	}
	end := strings.IndexByte(a.s[a.to:min(len(a.s), a.to+maxAnnouncement)], '\n')
	if end < 0 {
		return
	}
	end += a.to
	sc.spend(end - a.to)
	head := strings.TrimRight(a.s[a.to:end], " \t\r")
	question, asked := strings.CutSuffix(head, "?")
	if !isSentence(question) {
		sc.announcedToken(a, head, end+1)
		if !isSentence(withoutNotes(question)) {
			return
		}
	}
	next, to := lineAt(a.s, end+1)
	if asked {
		if j := passAny(a.s, next, "A: ", "> ", "- "); j > 0 {
			next = j
		}
		next = passSpeaker(a.s, next, to)
		if isBareVerb(a.name) {
			s = password
		}
		sc.alone(next, to, "password", s)
		return
	}
	if isFieldWord(strings.TrimSpace(head)) && s == password {
		sc.typed(a, next, to)
		return
	}
	if !strings.HasSuffix(head, ":") && !strings.HasSuffix(head, " is") && !strings.HasSuffix(head, " lautet") {
		return
	}
	apart := strings.TrimSpace(a.s[next:to]) == ""
	if apart && to < len(a.s) {
		next, to = lineAt(a.s, to+1)
	}
	if apart || head == ":" && s == password || head != ":" && to > next && isBlank(a.s[next]) {
		sc.alone(next, to, a.name, s)
	}
}

// maxAnnouncement is the maximum length of the rest of the line that announces a value.
const maxAnnouncement = 120

// passSpeaker skips the time and the name before a message in the export of a chat:
// [12/03/2026, 10:13] Bob: VALUE.
func passSpeaker(s string, i, to int) int {
	from := i
	if i < to && s[i] == '[' {
		end := run(s, i+1, maxNote, func(c byte) bool { return isDigit(c) || strings.IndexByte("/.-:, APM", c) >= 0 })
		if end >= to || s[end] != ']' {
			return from
		}
		i = skipBlanks(s, end+1)
	}
	end := run(s, i, maxNote, func(c byte) bool { return isLetter(c) || c == ' ' || c >= 0x80 })
	if end > i && end+1 < to && s[end] == ':' && s[end+1] == ' ' {
		return end + 2
	}
	return from
}

// announcedToken finds a long random value alone on the line below a text that ends with
// a colon and is no plain sentence.
func (sc *scan) announcedToken(a *assignment, head string, next int) {
	if !strings.HasSuffix(head, ":") || strings.Count(head, " ") < 4 {
		return
	}
	next, to := lineAt(a.s, next)
	sc.spend(4 * (min(to, next+maxNeedle) - next))
	if to-next > maxNeedle {
		return
	}
	from, end := bareWord(a.s, skipBlanks(a.s, next), to)
	if t := strings.TrimRight(a.s[from:end], " \r="); len(t) >= 32 && strings.IndexByte(t, ' ') < 0 && looksRandom(t) && run(t, 0, len(t), isPadded64) == len(t) {
		sc.add(from, end, nameRule(a.name, a.named()))
	}
}

// isSentence reports whether s is the rest of a sentence, and not of code.
func isSentence(s string) bool {
	return run(s, 0, len(s), func(c byte) bool { return isLetter(c) || isBlank(c) || c == ',' || c == ':' || c == '\'' }) == len(s)
}

// withoutNotes removes the parts in round and square brackets from a sentence: "for the [elastic]
// user (reset with bin/reset-password):". It leaves a text unchanged that has fewer than three
// words outside of brackets, such as the description of a parameter: "password (str, optional):".
func withoutNotes(s string) string {
	whole := s
	for from := strings.IndexAny(s, "(["); from >= 0; from = strings.IndexAny(s, "([") {
		n := strings.IndexAny(s[from:], ")]")
		if n < 0 {
			break
		}
		s = s[:from] + s[from+n+1:]
	}
	if len(s) < len(whole) && strings.Count(strings.TrimSpace(s), " ") < 2 {
		return whole
	}
	return s
}

// isFieldWord reports whether s is a word for the field of a form.
func isFieldWord(s string) bool {
	switch s {
	case "field", "input", "box", "textbox", "input field", "text field":
		return true
	}
	return false
}

// typed finds the text in quotes after the verb of an action in s[from:to].
func (sc *scan) typed(a *assignment, from, to int) {
	for _, verb := range [...]string{"type ", "enter ", "fill ", "text: ", "input "} {
		i := strings.Index(sc.s[from:to], verb)
		if i < 0 || from+i+len(verb) >= to || !isQuote(sc.s[from+i+len(verb)]) {
			continue
		}
		v := assignment{s: sc.s, name: a.name, from: a.from, to: a.to, op: opCall, start: from + i + len(verb)}
		if v.readValue() && v.end <= to && !strings.Contains(sc.s[v.end:to], " into ") && (v.argument() || profileOf(v.val.text).symbols > 0) && v.val.secret(password) {
			sc.add(v.start, v.end, passwordRule)
		}
		return
	}
}

// below finds a generated value alone on the line below a name that is alone on its line.
func (sc *scan) below(a *assignment) {
	next := a.to + lineLength(a.s[a.to:min(len(a.s), a.to+2)]) + 1
	if next >= len(a.s) || a.from > 0 && a.s[a.from-1] != '\n' || a.named() < telling || isGenerated(a.name) {
		return
	}
	end := next + lineLength(a.s[next:min(len(a.s), next+maxAnswer)])
	from, to := bareWord(a.s, next, end)
	if t := a.s[from:to]; len(t) >= 10 && !isPrefixed(t) && (isUnmistakable(t, a.named()) || isGenerated(t) && numbers(t) > 1) && !isDigest(t) && isNameLike(strings.Trim(t, "!#$%&*+?@^~")) || a.named() == password && isCredential(t) {
		sc.add(from, to, nameRule(a.name, a.named()))
	}
}

// alone adds the only word of the line s[from:to] if it can't be an ordinary word.
func (sc *scan) alone(from, to int, name string, st strength) {
	s := sc.s
	from = skipBlanks(s, from)
	if n := run(s, from, 6, isDigit); n > from && n < to && (s[n] == '\t' || hasPrefix(s[n:], []string{"→", "|"})) {
		from = skipBlanks(s, n+len("\t")) // the number of the line
	}
	for to > from && isSpace(s[to-1]) {
		to--
	}
	sc.spend(4 * (to - from))
	if to-from < 8 || to-from > 200 || s[to-1] == ':' {
		return
	}
	if strings.IndexByte(s[from:to], ' ') >= 0 {
		if st == password && to-from <= 100 && isPassphrase(s[from:to]) && s[from:to] == strings.ToLower(s[from:to]) {
			sc.add(from, to, passwordRule)
		}
		return
	}
	a := assignment{s: s, name: name, from: from, to: from, op: opProse, start: from, told: true}
	if a.readValue() && a.end >= to-1 && a.proseValue() && a.val.secret(st) {
		sc.add(a.start, a.end, nameRule(name, st))
	}
}

// printed finds the output of a command that prints a secret, on the line below it.
func (sc *scan) printed(start, end int) {
	s := sc.s
	from := lineStart(s, start)
	to := end + strings.IndexByte(s[end:], '\n')
	if to < end || to-from > maxLine || !hasPrompt(s[from:start+1]) && !(s[from:start] == "# " && s[end] == '/') || strings.IndexByte(s[end:to], '>') >= 0 {
		return
	}
	sc.spend(to - from)
	if strings.HasPrefix(s[start:end], "base64") && !strings.Contains(s[from:start], "secret") {
		return
	}
	if s[start:end] == "cat " {
		path := strings.TrimSpace(s[end:to])
		if lists, only := listsAccounts(path); lists {
			sc.printedPairs(to+1, only)
		}
		if !keepsSecret(path) {
			return
		}
	}
	next, stop := lineAt(s, to+1)
	sc.alone(next, stop, "password", password)
}

// hasPrompt reports whether a line begins with the prompt of a shell.
func hasPrompt(line string) bool {
	return strings.Contains(line, "$ ") || strings.HasPrefix(line, "PS ") && strings.Contains(line, "> ") || strings.Contains(line, "❯ ") || strings.HasPrefix(line, "% ") || strings.Index(line, "# ") > 2
}

// keepsSecret reports whether the path of a file shows that the file consists of one secret:
// /run/secrets/db_password, .vault-token.
func keepsSecret(path string) bool {
	if strings.ContainsAny(path, " *$|") {
		return false
	}
	dir, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasSuffix(dir, "/secrets/") {
		return true
	}
	name = strings.TrimSuffix(name, ".txt")
	return strings.IndexByte(strings.TrimPrefix(name, "."), '.') < 0 && nameStrength(name) >= telling
}

// linked finds the generated value behind a marker in a URL that
// itself gives access: a link that resets a password, a webhook.
func linked(sc *scan, _, end int) {
	to := run(sc.s, end, 200, func(c byte) bool { return isWord(c) || strings.IndexByte("-/.~=", c) >= 0 })
	from := end + strings.LastIndexAny(sc.s[end:to], "/=") + 1
	if from == end && sc.s[end-1] != '/' {
		return
	}
	if v := strings.TrimRight(sc.s[from:to], "."); len(v) >= 20 && (looksRandom(v) || isDigest(v) || isUUID(v) || isGenerated(v)) {
		sc.add(from, from+len(v), secretRule)
	}
}
