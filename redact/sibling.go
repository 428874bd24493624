package redact

import "strings"

// maxRecord is the maximum distance between the two halves of a name and value pair.
const maxRecord = 160

// isValueKey reports whether a key is the key of the second half of a name and value pair: value,
// ParameterValue, setting_val.
func isValueKey(key string) bool {
	switch strings.ToLower(key) {
	case "val", "text", "secret", "content", "data", "default", "answer", "v", "result", "current", "plaintext", "plain", "response", "reply", "input":
		return true
	}
	return endsFold(key, "value") || endsFold(key, "_val")
}

// isNameKey reports whether a key is the key of the first half of such a pair: name,
// ParameterKey, settingName.
func isNameKey(key string) bool {
	return isPairKey(key) || endsFold(key, "name") || endsFold(key, "label") || endsFold(key, "id") || endsFold(key, "type")
}

// isPairKey reports whether a key has no other use than to name a value.
func isPairKey(key string) bool {
	for _, end := range [...]string{"key", "field", "variable", "option", "setting", "param", "parameter", "property", "attribute", "title", "purpose", "prompt", "question", "header"} {
		if endsFold(key, end) {
			return true
		}
	}
	return strings.EqualFold(key, "name") || strings.EqualFold(key, "k")
}

// sibling finds the value of a pair whose first half has the name, with other members
// between the two, or before it:
//
//	{"name": "DB_PASSWORD", "secured": true, "value": "VALUE"}
//	SET value = 'VALUE' WHERE name = 'smtp_password'
func (sc *scan) sibling(a *assignment) bool {
	if !a.namesPair() {
		return false
	}
	st := a.named()
	if st < telling {
		return false
	}
	s := a.s
	from, to := a.record()
	sc.spend(2 * (to - from))
	for i := from; i < to; i++ {
		if i == a.from {
			i = a.to
		}
		if i > from && (isWord(s[i-1]) || s[i-1] == '.' && !isElement(s, i)) || !isLetter(s[min(i, len(s)-1)]) {
			continue
		}
		at := pairValue(s, i)
		if at < 0 || at >= to {
			continue
		}
		v := *a
		v.op, v.start = opColon, at
		if v.readValue() && v.end <= to && v.belongs(a, i, from, to) && !isResultDigest(s[i:at], v.val.text) {
			if r := v.val.judgePair(a.name, st); r != nil {
				sc.add(v.start, v.end, r)
				return true
			}
		}
	}
	return false
}

// isResultDigest reports whether the key contains "result" and the value is in hexadecimal, like
// the result of a hash function.
func isResultDigest(key, text string) bool {
	return hasFold(key, "result") && run(text, 0, len(text), isHex) == len(text)
}

// ownLine reports whether a member of a map in YAML begins its line before i.
func ownLine(s string, i int) bool {
	head := lineHead(s, i)
	return run(head, 0, len(head), func(c byte) bool { return isWord(c) || strings.IndexByte(" -:\"'", c) >= 0 }) == len(head) && strings.Count(head, ":") <= 1 && strings.IndexByte(s[i:min(len(s), i+maxName*2)], '\n') != 0
}

// namesPair reports whether the name is the value of a key such as name, key or label.
func (a *assignment) namesPair() bool {
	i := a.from
	for least := max(0, i-maxName); i > least && (a.s[i-1] == '/' || i < a.from && isNameByte(a.s[i-1])); {
		i-- // the path to the name
	}
	for i > 0 && (isQuote(a.s[i-1]) || isBlank(a.s[i-1]) || a.s[i-1] == '\\') {
		i--
	}
	if i < 2 || a.s[i-1] != ':' && a.s[i-1] != '=' {
		return false
	}
	head := strings.TrimRight(a.s[max(0, i-maxName):i-1], " \"'\\")
	from := len(head)
	for from > 0 && isWord(head[from-1]) {
		from--
	}
	key := head[from:]
	if isQuote(a.s[max(0, a.from-1)]) || a.s[max(0, a.from-1)] == '/' {
		return isNameKey(key) && !endsFold(key, "type")
	}
	return isPairKey(key) && (a.to >= len(a.s) || strings.IndexByte("\n\r", a.s[a.to]) >= 0 || a.s[a.to] == ',' && pairValue(a.s, a.to+1) > 0) || isNameKey(key) && isEnvName(a.name)
}

// record returns the text around the name that belongs to the same object, element or
// statement.
func (a *assignment) record() (from, to int) {
	s := a.s
	from, to = a.from, a.to
	for least := max(0, from-maxRecord); from > least && strings.IndexByte("{}<>;", s[from-1]) < 0 && !blankLine(s, from-1); {
		from--
	}
	for most := min(len(s), to+maxRecord); to < most && strings.IndexByte("{}<>;", s[to]) < 0 && !blankLine(s, to); {
		to++
	}
	return from, to
}

// blankLine reports whether an empty line, or the next item of a list in YAML, begins
// with the line break s[i].
func blankLine(s string, i int) bool {
	if s[i] != '\n' {
		return false
	}
	j := skipBlanks(s, i+1)
	return j >= len(s) || s[j] == '\n' || s[j] == '\r' || strings.HasPrefix(s[j:], "- ")
}

// pairValue returns the start of the value after the key of a value at i, -1 if there is
// none.
func pairValue(s string, i int) int {
	end := run(s, i, maxKey, isWord)
	if !isValueKey(s[i:end]) {
		return -1
	}
	j := skipBlanks(s, run(s, end, 4, func(c byte) bool { return isQuote(c) || c == '\\' || c == ' ' }))
	if j < len(s) && (s[j] == ':' || s[j] == '=') {
		return skipBlanks(s, j+1)
	}
	return -1
}
