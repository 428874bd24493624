package redact

import "strings"

// isLocation reports whether the name is the one of a file, and the value is a place in the file,
// or in a source file the text about it, as compilers, searches and changelogs print them:
// password.go:42:13.
func (a *assignment) isLocation() bool {
	if a.to >= len(a.s) || a.s[a.to] != ':' || a.val.quoted {
		return false
	}
	dot := strings.LastIndexByte(a.name, '.')
	if dot <= 0 || !namesSource("x."+a.name[dot+1:]) && !isDocumentEnding(a.name[dot+1:]) {
		return false
	}
	text := strings.TrimLeft(a.val.text, ":0123456789")
	if text == "" {
		return isPosition(a.val.text)
	}
	return !isDocumentEnding(a.name[dot+1:]) && !isDense(text) && !isInvented(text) && !looksRandom(text)
}

// isPosition reports whether the numbers in s can be the one of a line and the one of a column.
// A PIN of six digits is none.
func isPosition(s string) bool {
	for number := range strings.SplitSeq(s, ":") {
		if len(number) > 5 {
			return false
		}
	}
	return s[0] != '0'
}

// isDocumentEnding reports whether files that end in .s hold data or prose, and no program.
func isDocumentEnding(s string) bool {
	switch s {
	case "txt", "md", "rst", "html", "htm", "xml", "json", "yaml", "yml", "toml", "css", "scss", "lock", "log", "csv", "conf", "cfg", "ini", "env", "properties":
		return true
	}
	return false
}

// isConstant reports whether the value of a name in code is a number in hexadecimal of at most 32
// bits: CIPHER_TLS_PSK = 0xC036.
func (a *assignment) isConstant() bool {
	digits := strings.TrimPrefix(a.val.text, "-")
	return (a.op == opEquals || a.named() < password) && !a.val.quoted && !a.val.env && len(digits) <= 10 && isPointer(digits)
}

// isVariable reports whether the value is the name of a variable: it ends in the name or the name
// ends in it (Vec0Token = TVec0Token), or it says by its own words what it holds (TransportCreds:
// transportCredsForS2A).
func (a *assignment) isVariable() bool {
	if a.named() == password || a.val.quoted || a.val.env {
		return false
	}
	t := a.val.text
	if len(a.name) >= 6 && isPath(t) && len(t) >= 6 && (strings.HasSuffix(t, a.name) || strings.HasSuffix(a.name, t)) {
		return true
	}
	words := strings.TrimRight(t, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if len(t) > len(words)+3 || len(words) < 6 || !isIdentifier(words) || strings.ContainsAny(words, "-.") || isGibberish(words, 10) {
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
// "GenerateKey768": "GenerateKey1024". People choose such passwords: password = "Password1024".
func (a *assignment) isVersionOf() bool {
	name, text := strings.TrimRight(a.name, "0123456789"), strings.TrimRight(a.val.text, "0123456789")
	return a.named() < password && len(name) >= 6 && strings.EqualFold(name, text)
}

// isNeighbor reports whether the literal behind the name in a list is another name: it begins
// with the same word and consists of words, as the names of functions do
// ('curle_password_wrong', 'curle_weird_227_format'), or is itself the name of a secret.
func (a *assignment) isNeighbor() bool {
	if a.op != opComma {
		return false
	}
	first, _, found := strings.Cut(a.name, "_")
	return found && len(first) >= 4 && strings.HasPrefix(a.val.text, first+"_") && isWords(a.val.text) || isIdentifier(a.val.text) && nameStrength(a.val.text) >= telling
}

// isHarmless reports whether the value of an assignment has a form that no secret has in its
// place.
func (a *assignment) isHarmless() bool {
	return a.isLocation() || a.isConstant() || a.isVariable() || a.isVersionOf() || a.isNeighbor() || a.isOptionText() || a.isScope() || a.isFieldList() || a.isRole()
}

// isRole reports whether the value is a role of Sphinx before the text in backticks:
// :type passphrase: :py:data:`bytes`.
func (a *assignment) isRole() bool {
	return a.val.text[0] == ':' && isCodeName(a.val.text) && strings.HasPrefix(a.s[a.end:], ":`")
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

// isScope reports whether the name is a module, and the value a name in it: password::hash_v2.
// Commands of GitHub have the form name=NAME::VALUE.
func (a *assignment) isScope() bool {
	return a.start == a.to+2 && a.s[a.to:a.start] == "::" && (a.from == 0 || a.s[a.from-1] != '=') && (isCodeName(a.val.text) || namesSource(a.name) && !isCredential(a.val.text))
}

// isCodeName reports whether s is the name of something in a program: words, and at most short
// numbers, with _ or :: between them.
func isCodeName(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return c == '_' || c == ':' }) {
		if run(part, 0, len(part), isAlnum) < len(part) || len(part) > 4 && !isTechnical(part) || isMadeUp(part) {
			return false
		}
	}
	return true
}

// isFieldList reports whether the value is the rest of the fields of a line, by their names:
// name:password:uid:gid.
func (a *assignment) isFieldList() bool {
	if a.from == 0 || a.s[a.from-1] != ':' || a.val.quoted || strings.IndexByte(a.val.text, ':') < 0 {
		return false
	}
	for field := range strings.SplitSeq(a.val.text, ":") {
		if !isIdentifier(field) || isMadeUp(field) {
			return false
		}
	}
	return true
}

// isImport reports whether s is the path of a package in Go: the name of a host, and words.
func isImport(s string) bool {
	host, path, found := strings.Cut(s, "/")
	return found && strings.IndexByte(host, '.') > 0 && isIdentifier(host) && isTestPath(path) && !hasDensePart(path, 8)
}
