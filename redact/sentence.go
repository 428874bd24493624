package redact

import (
	"strings"
	"unicode/utf8"
)

// verbs lists the texts that join a name and its value in a sentence or a log.
var verbs = [...]string{"is ", "was ", "to ", "is: ", "= ", "-> ", "is now ", "will be ", "changed to ", "set to ", "reset to ", "changed from ", "→ ", "- ", "lautet: ", "lautet ", "ist "}

// readProse reads sentences and commands: "the password is VALUE", "the password for
// the wiki is VALUE", "aws configure set NAME VALUE". Only a random value counts as a
// password there, except after a verb with a colon: "the password is: VALUE".
func (a *assignment) readProse(i int) bool {
	for _, verb := range verbs {
		if verb[0] != a.s[i] {
			continue
		}
		if strings.HasPrefix(a.s[i:], verb) {
			i += len(verb)
			if strings.HasSuffix(verb, ": ") {
				a.op, a.start = opColon, skipBlanks(a.s, i)
				return a.start < len(a.s)
			}
			a.told = !a.renamed()
			i = passChange(a.s, i)
			break
		}
	}
	named := i
	if words := run(a.s, i, 40, func(c byte) bool { return isLower(c) || c == ' ' }); words > i && strings.HasPrefix(a.s[words:], ": ") {
		i = words + 2
	}
	if a.named() < telling {
		if i == named {
			return false
		}
	} else if j := predicate(a.s, i); j > 0 {
		i, a.told = j, true
	} else if i > named {
		a.told = true // after a colon
	}
	a.op, a.start = opProse, skipBlanks(a.s, i)
	if j := passEmphasis(a.s, a.start); j > a.start && a.told {
		a.op, a.start = opTag, j
	}
	return a.start < len(a.s)
}

// maxComplement is the maximum number of words between a name and its verb: "of the
// admin of the staging server".
const maxComplement = 8

// predicate returns the start of the value in the rest of a sentence: "for the wiki
// is VALUE", "del servidor es: VALUE". It returns -1 if no verb follows.
func predicate(s string, i int) int {
	i = passAside(s, passPronoun(s, i))
	for range maxComplement {
		i = skipBlanks(s, i)
		end := run(s, i, 40, func(c byte) bool { return c > ' ' })
		if end == i || end >= len(s) || s[end] != ' ' {
			return -1
		}
		word := strings.TrimSuffix(s[i:end], ":")
		if isCopula(word) || word == "be" && isAssertion(s[:i]) {
			return passFillers(s, end)
		}
		if last, _ := utf8.DecodeLastRuneInString(s[i:end]); strings.ContainsRune(".,:;!?=|{}()[]<>", last) {
			return -1
		}
		i = end
	}
	return -1
}

// passPronoun skips the comma after a name, and the words of the next clause that refer to the
// name: ", the new one is VALUE", ", it is VALUE".
func passPronoun(s string, i int) int {
	if !strings.HasPrefix(s[i:], ", ") {
		return i
	}
	for _, word := range [...]string{"the new one ", "new one ", "new value ", "the new value ", "it ", "which ", "das neue ", "neu "} {
		if strings.HasPrefix(s[i+2:], word) {
			return i + 2 + len(word)
		}
	}
	return i
}

// maxAside is the maximum length of a remark between two commas.
const maxAside = 40

// passAside skips a remark between a name and its verb: the secret, for reference, is.
func passAside(s string, i int) int {
	if !strings.HasPrefix(s[i:], ", ") {
		return i
	}
	end := run(s, i+2, maxAside, func(c byte) bool { return isLetter(c) || c == ' ' || c == '\'' })
	if strings.HasPrefix(s[end:], ", ") {
		return end + 1
	}
	return i
}

// isAssertion reports whether head ends in a word that makes "be" a statement, and not a
// requirement: turned out to be, will be.
func isAssertion(head string) bool {
	return strings.HasSuffix(head, " to ") || strings.HasSuffix(head, "will ") || strings.HasSuffix(head, "should ")
}

// isCopula reports whether a word is a verb between a name and its value.
func isCopula(word string) bool {
	switch word {
	case "is", "was", "lautet", "ist", "est", "es", "é", "è", "este", "adalah", "är", "er", "jest", "это", "είναι", "هو", "هي", "היא", "הוא", "है", "là", "—", "–":
		return true
	}
	return false
}

// passFillers skips the words that may stand between a verb and the value.
func passFillers(s string, i int) int {
	i = skipBlanks(s, i)
	for _, w := range [...]string{"now ", "currently ", "still ", "set to ", "jetzt ", "maintenant ", "ahora "} {
		if strings.HasPrefix(s[i:], w) {
			i = skipBlanks(s, i+len(w))
		}
	}
	return passChange(s, i)
}

// passChange skips the participle between a verb and a value: (was) changed to, rotated
// from, stored as.
func passChange(s string, i int) int {
	word := run(s, i, 16, isLower)
	if !strings.HasSuffix(s[i:word], "ed") && !strings.HasSuffix(s[i:word], "set") {
		return i
	}
	for _, w := range [...]string{" to ", " from ", " as "} {
		if strings.HasPrefix(s[word:], w) {
			return skipBlanks(s, word+len(w))
		}
	}
	return i
}

// proseValue reports whether a value without an operator can't be an ordinary
// word.
func (a *assignment) proseValue() bool {
	p := profileOf(a.val.text)
	t := a.val.text
	if len(t) >= 10 && isGenerated(t) && p.joints == 0 || isGibberish(t, 14) && p.symbols == 0 || a.val.quoted && isPassphrase(t) {
		return true
	}
	if a.named() == password {
		if !a.renamed() && len(t) >= 8 && p.digits > 0 && p.upper > 0 && p.lower > 0 && p.joints == 0 && (p.turns > 3 || isGibberish(t, 6)) {
			return true
		}
		if (a.told || a.isDirective() || a.isJoined() || a.isCompound()) && (isInvented(t) || strings.IndexByte(t, '-') > 0 && isPassphrase(t)) {
			return true
		}
	}
	if (isUUID(t) || isDigest(t) && isHex(t[0])) && (a.told || a.isHandedOver()) && !a.namesDigest() {
		return true
	}
	return looksRandom(t) || p.digits > 0 && p.symbols > 0 && p.letters > 2 && p.joints == 0 && !strings.ContainsAny(a.val.text, "/()[]{}<>=:,;%")
}

// namesDigest reports whether a word beside the name says that the value is a digest or
// an identifier: "the password hash is VALUE", "the digest of the token is VALUE".
func (a *assignment) namesDigest() bool {
	before := a.s[max(0, a.from-24):a.from]
	for _, word := range [...]string{"hash", "digest", "checksum", "fingerprint", "sha", "md5"} {
		if strings.Contains(before, word) {
			return true
		}
	}
	between := a.s[min(a.to, a.start):a.start]
	for _, word := range [...]string{"hash", "digest", "sum", "sha", "md5", " id", "ID", "finger", "commit", "version"} {
		if strings.Contains(between, word) {
			return true
		}
	}
	return false
}

// isInvented reports whether a word of a sentence about passwords is a password: it mixes
// letters and digits, and is neither a figure nor the name of an algorithm.
func isInvented(t string) bool {
	p := profileOf(t)
	if len(t) < 6 || p.digits == 0 || p.letters < 3 || p.blanks > 0 || isTechnical(t) || isFigure(t) && strings.IndexByte(t, '%') < 0 && !isWordAndNumber(t) || isVersion(t) {
		return false
	}
	if !strings.ContainsAny(t, "/()[]{}<>=:,;") || isGenerated(t) {
		return true
	}
	return p.upper > 0 && p.lower > 0 && p.symbols+p.joints > 2 && !isCode(t)
}

// isWordAndNumber reports whether t is a word and four digits that are no year, as people
// choose passwords: Walnut-4821. Names of tickets have capitals.
func isWordAndNumber(t string) bool {
	n := run(t, 0, len(t), isLetter)
	return n >= 4 && len(t) == n+5 && isUpper(t[0]) && isLowerWord(t[1:n]) && (t[n] == '-' || t[n] == '_') && run(t, n+1, 4, isDigit) == len(t) && t[n+1:n+3] != "20" && t[n+1:n+3] != "19"
}

// isDirective reports whether a line consists of the name and the value, as in many
// configuration files.
func (a *assignment) isDirective() bool {
	end := run(a.s, a.end, maxNote, func(c byte) bool { return strings.IndexByte(" \t\r;\"'", c) >= 0 })
	return (end == len(a.s) || a.s[end] == '\n') && strings.TrimLeft(lineHead(a.s, a.from), " \t") == ""
}

// isCompound reports whether the name is a compound word and follows a user. No sentence
// has this form: user bob insecure-password VALUE.
func (a *assignment) isCompound() bool { return endsFold(a.name, "-password") && a.afterUser() }

// isHandedOver reports whether somebody hands over the value with its name: "use the
// token VALUE", "my API key VALUE".
func (a *assignment) isHandedOver() bool {
	head := a.s[max(0, a.from-20):a.from]
	if i := strings.LastIndex(head, "my "); i >= 0 && isSentence(head[i:]) {
		return true
	}
	return endsFold(head, "use the ") || endsFold(head, "using the ") || endsFold(head, "with the ") || endsFold(head, "use this ") || endsFold(head, "using ")
}

// renamed reports whether the value is not a secret but the new name of something:
// "renamed password to pwdHash2".
func (a *assignment) renamed() bool {
	return strings.Contains(a.s[max(0, a.from-24):a.from], "ename")
}

// isJoined reports whether an opening bracket, or a user and a word such as "and", is directly
// before the name: "as bob (password VALUE)", "with the user bob and password VALUE".
func (a *assignment) isJoined() bool {
	head := a.s[:a.from]
	return strings.HasSuffix(head, "(") && !strings.HasSuffix(head, "((") || a.afterUser() && (endsFold(head, " and ") || endsFold(head, ", ") || endsFold(head, " und ") || endsFold(head, " with "))
}

// before finds the value that a sentence mentions before its name: "use VALUE as the
// API token", typed "VALUE" into the field Password.
func (sc *scan) before(a *assignment) {
	least := max(0, a.from-36)
	head := a.s[least:a.from]
	for _, word := range [...]string{" as ", " into "} {
		at := strings.Index(head, word)
		if at < 0 {
			continue
		}
		rest := head[at+len(word):]
		if between := run(rest, 0, len(rest), func(c byte) bool { return isLetter(c) || c == ' ' || isQuote(c) }); between == len(rest) && least+at > 0 {
			sc.mentioned(a, least+at)
		}
		return
	}
}

// mentioned adds the value that ends at to if it can't be an ordinary word.
func (sc *scan) mentioned(a *assignment, to int) {
	s, v := a.s, *a
	st := a.named()
	if st < telling {
		return
	}
	from := max(0, to-128)
	if isQuote(s[to-1]) {
		to--
		open := strings.LastIndexByte(s[from:to], s[to])
		if open < 0 {
			return
		}
		from += open + 1
		v.set(from, to, true)
	} else {
		if i := strings.LastIndexAny(s[from:to], " \t\n\"'`("); i >= 0 {
			from += i + 1
		}
		v.set(from, to, false)
	}
	sc.spend(4 * (to - from))
	v.told = v.val.quoted || endsFold(s[:from], "use ") || endsFold(s[:from], "used ") || endsFold(s[:from], "with ")
	if v.start < v.end && strings.IndexByte(v.val.text, '\n') < 0 && (v.proseValue() || isDigest(v.val.text) || isUUID(v.val.text)) {
		if r := v.val.judge(a.name, st); r != nil {
			sc.add(v.start, v.end, r)
		}
	}
}
