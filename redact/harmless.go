package redact

import "strings"

// isLocation reports whether the name is the one of a file, and the value is a place in the file
// or the text about it, as compilers, searches and changelogs print them: password.go:42:13. A
// file of passwords holds credentials.
func (a *assignment) isLocation() bool {
	if a.op != opColon || a.quote != 0 || a.val.quoted {
		return false
	}
	dot := strings.LastIndexByte(a.name, '.')
	if dot <= 0 || !isSourceEnding(a.name[dot+1:]) {
		return false
	}
	return !isCredential(a.val.text)
}

// isSourceEnding reports whether the names of source files and documents end in .s.
func isSourceEnding(s string) bool {
	switch s {
	case "md", "rst", "css", "scss", "json", "toml", "lock", "log", "sum", "mod", "proto", "graphql":
		return true
	}
	return namesSource("x." + s)
}

// isConstant reports whether the value of a name in code is a number in hexadecimal of at most 32
// bits: CIPHER_TLS_PSK = 0xC036.
func (a *assignment) isConstant() bool {
	digits := strings.TrimPrefix(a.val.text, "-")
	return !a.val.quoted && !a.val.env && len(digits) <= 10 && isPointer(digits)
}

// isVariable reports whether the value is the name of a variable that says by its own words what
// it holds: TransportCreds: transportCredsForS2A.
func (a *assignment) isVariable() bool {
	t := a.val.text
	if a.named() < password && !a.val.quoted && !a.val.env && len(a.name) >= 6 && isPath(t) && strings.HasSuffix(t, a.name) {
		return true
	}
	words := strings.TrimRight(t, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if a.named() == password || a.val.quoted || a.val.env || len(t) > len(words)+3 || len(words) < 6 || !isIdentifier(words) || strings.ContainsAny(words, "-.") || isGibberish(words, 10) {
		return false
	}
	var w nameWords
	w.split(t)
	for i := range w.n {
		if wordStrength(w.at(i), w.at(i-1), false) > none {
			return w.n > 1
		}
	}
	return false
}

// isVersionOf reports whether the value is the name with another number, as in a map of names:
// "GenerateKey768": "GenerateKey1024".
func (a *assignment) isVersionOf() bool {
	name, text := strings.TrimRight(a.name, "0123456789"), strings.TrimRight(a.val.text, "0123456789")
	return len(name) >= 6 && strings.EqualFold(name, text)
}

// isNeighbor reports whether the literal behind the name in a list is another name: it begins
// with the same word, as the names of functions do ('curle_password_wrong',
// 'curle_weird_227_format'), or is itself the name of a secret.
func (a *assignment) isNeighbor() bool {
	if a.op != opComma {
		return false
	}
	first, _, found := strings.Cut(a.name, "_")
	return found && len(first) >= 4 && strings.HasPrefix(a.val.text, first+"_") || isIdentifier(a.val.text) && nameStrength(a.val.text) >= telling
}

// isHarmless reports whether the value of an assignment has a form that no secret has in its
// place.
func (a *assignment) isHarmless() bool {
	return a.isLocation() || a.isConstant() || a.isVariable() || a.isVersionOf() || a.isNeighbor() || a.isOptionText()
}

// isOptionText reports whether the word after a flag is one of a sentence about the flag: the
// --username and --password options.
func (a *assignment) isOptionText() bool {
	if a.op != opFlag {
		return false
	}
	switch a.val.text {
	case "option", "options", "flag", "flags", "argument", "arguments", "parameter", "parameters", "switch", "and", "or", "with", "from", "instead", "is", "are", "command", "commands", "respectively", "when", "which", "that", "must", "should":
		return true
	}
	return false
}

// isTicket reports whether s is the number of a ticket after the name of its list: ITS#9656.
func isTicket(s string) bool {
	list, number, found := strings.Cut(s, "#")
	return found && number != "" && run(list, 0, len(list), isUpper) == len(list) && run(number, 0, len(number), isDigit) == len(number)
}

// followsID reports whether the arguments of a call before a literal end in a key for an id.
func followsID(call string) bool {
	call = strings.TrimRight(call, " =:\"'\\")
	return endsFold(call, "id") && (len(call) == 2 || !isLower(call[len(call)-3]))
}

// isFieldTag reports whether s is the tag of a field in Go: json:"name,omitempty".
func isFieldTag(s string) bool {
	n := run(s, 0, maxNote/2, isLower)
	return n > 1 && strings.HasPrefix(s[n:], `:"`)
}
