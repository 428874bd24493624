package redact

import "strings"

// readCall reads the argument of setPassword("value"), withToken("value") and
// password_field.send_keys("value").
func (a *assignment) readCall(i int) bool {
	if method := lastPart(a.name); isFieldMethod(method) {
		a.name = a.name[:len(a.name)-len(method)]
		if fieldStrength(a.name) < password {
			return false
		}
		a.name = "password"
	} else if a.readOperand(i) {
		return true
	} else if !isSetter(method) {
		return false
	}
	return a.callArgument(i)
}

// readOperand reads the operand of a keyword of a mainframe: USERID(BOB) PASSWORD(VALUE).
func (a *assignment) readOperand(i int) bool {
	s := a.s
	if a.named() < password || !isEnvName(a.name) || a.from > 0 && !isBlank(s[a.from-1]) {
		return false
	}
	end := run(s, i+1, maxNote, func(c byte) bool { return isAlnum(c) || strings.IndexByte("@#$_-", c) >= 0 })
	if end < i+5 || end >= len(s) || s[end] != ')' || !isInvented(s[i+1:end]) {
		return false
	}
	a.op, a.start = opEquals, i+1
	return true
}

// callArgument begins the value at the literal after the bracket at i. It reports whether
// there is one.
func (a *assignment) callArgument(i int) bool {
	i = skipBlanks(a.s, i+1)
	if j, _ := openQuote(a.s, i); j == 0 {
		return false
	}
	a.op, a.start = opCall, i
	return true
}

// trimKeys removes the names of keys that are pressed after the text: {enter}.
func trimKeys(text string) string {
	for _, key := range [...]string{"{enter}", "{Enter}", `\n`} {
		text = strings.TrimSuffix(text, key)
	}
	return text
}

// lastPart returns the part of a name after its last dot.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// isSetter reports whether a method sets a secret: its name contains the name of the
// secret, and its argument is the secret. Other methods check or look up a secret.
func isSetter(method string) bool {
	var w nameWords
	w.split(method)
	switch string(w.at(0)) {
	case "set", "with", "use", "change", "update", "reset", "enter", "put", "password", "secret":
		return true
	}
	return false
}

// isFieldMethod reports whether a method types text into its field.
func isFieldMethod(method string) bool {
	switch strings.ToLower(strings.ReplaceAll(method, "_", "")) {
	case "sendkeys", "fill", "type", "typetext", "presssequentially", "setvalue", "entertext", "inserttext", "replacetext", "input", "val":
		return true
	}
	return false
}

// fieldStrength returns the strength of a field's name, in which the word for a
// password may be anywhere: "Password field", #login-password-input.
func fieldStrength(label string) strength {
	var w nameWords
	w.split(label)
	best := none
	for i := range w.n {
		if s := wordStrength(w.at(i), w.at(i-1), true); s >= password {
			best = s
		}
	}
	return best
}

// typedText skips the key of the text that is typed into a field, with its colon:
// "text": or "value":. It returns -1 if there is none.
func typedText(s string, i int) int {
	i = run(s, i, 8, func(c byte) bool { return isQuote(c) || c == '\\' })
	if i < len(s) && hasFold(s[i:], "text") {
		end := run(s, i+4, 8, func(c byte) bool { return isQuote(c) || c == '\\' })
		if end > i+4 && end < len(s) && s[end] == ':' {
			return end + 1
		}
	}
	return valueKey(s, i)
}

// passReference skips the arguments that locate a field, before its text: ref="e14",
// "ref": "e14", selector="#a".
func passReference(s string, i int) int {
	for range 3 {
		key := run(s, i, 2, isQuote)
		end := run(s, key, maxName, isWord)
		switch s[key:end] {
		case "ref", "target", "selector", "frame", "index", "element", "uid":
		default:
			return i
		}
		value := run(s, end, 4, func(c byte) bool { return isQuote(c) || c == ':' || c == '=' || c == ' ' })
		next := run(s, value, 40, func(c byte) bool { return c != ',' && c != '\n' && c != ')' })
		if next >= len(s) || s[next] != ',' {
			return i
		}
		i = skipBlanks(s, next+1)
	}
	return i
}

// fieldWords lists the words for a field that its label may have after the name.
var fieldWords = []string{"field", "input", "box", "text"}

// readField reads the text typed into a field that is found by its name:
// find("password").send_keys("value"), fill('input[name="password"]', 'value').
func (a *assignment) readField(i int) bool {
	s := a.s
	label := i
	if i == a.to && i < len(s) && s[i] == ' ' && hasPrefix(s[i+1:], fieldWords) {
		label = run(s, i, maxNote, func(c byte) bool { return isLower(c) || c == ' ' })
	}
	end := run(s, label, 6, func(c byte) bool { return isQuote(c) || c == ']' || c == ')' || c == '\\' })
	if end == label {
		label, end = i, i
	}
	if end >= len(s) || end == a.to || s[end] != ',' && s[end] != '.' || a.from == 0 || fieldStrength(a.name) < password {
		return false
	}
	if !a.readTyped(end, end > i) {
		return false
	}
	if a.named() < password {
		a.name = "password" // the name of the field says more: password_field
	}
	return true
}

// readTyped reads the text that is typed into a field whose name ends at end. closed says that
// quotes or brackets close the name.
func (a *assignment) readTyped(end int, closed bool) bool {
	s := a.s
	switch s[end] {
	case ',':
		j := passReference(s, skipBlanks(s, end+1))
		if k := typedText(s, j); k > 0 {
			a.pair = valueKey(s, j) == k
			return a.callArgument(k - 1)
		}
		named := false
		for _, word := range [...]string{"with: ", "with=", "text=", "text: "} {
			if strings.HasPrefix(s[j:], word) {
				j, named = j+len(word), true
			}
		}
		return (named || closed) && a.callArgument(j-1)
	case '.':
		if strings.HasPrefix(s[end+1:], "perform(") {
			end += len("perform(")
		}
		method := run(s, end+1, 24, isWord)
		return method < len(s) && s[method] == '(' && isFieldMethod(s[end+1:method]) && a.callArgument(method)
	}
	return false
}
