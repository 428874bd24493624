package fileops

import "strings"

// modifiers lists words that may precede the keyword of a declaration.
var modifiers = map[string]bool{"export": true, "default": true, "async": true, "public": true, "private": true, "protected": true,
	"static": true, "pub": true, "abstract": true, "final": true, "override": true, "declare": true, "unsafe": true, "pub(crate)": true}

// keywords lists words that begin a declaration of something with a name.
var keywords = map[string]bool{"func": true, "def": true, "function": true, "class": true, "fn": true, "type": true, "interface": true,
	"struct": true, "enum": true, "trait": true, "impl": true, "function*": true}

// declaration returns the name of the function, type or class that a line of
// code declares. It returns "" if the line declares none.
func declaration(line string) string {
	if len(line) > 300 || len(line) < 6 {
		return ""
	}
	word, rest, ok := strings.Cut(line, " ")
	for ok && modifiers[word] {
		word, rest, ok = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, " ")
	switch {
	case keywords[word]:
		if word == "func" && strings.HasPrefix(rest, "(") {
			_, rest, ok = strings.Cut(rest, ") ")
			if !ok {
				return ""
			}
		}
		return nameAt(rest)
	case word == "const" || word == "let" || word == "var":
		name := nameAt(rest)
		value := strings.TrimSpace(strings.TrimPrefix(rest, name))
		if strings.HasPrefix(value, "=") && (strings.Contains(value, "=>") || strings.Contains(value, "function")) {
			return name
		}
	}
	return ""
}

// nameAt returns the name at the beginning of s, if it is longer than two
// characters.
func nameAt(s string) string {
	end := 0
	for end < len(s) && (s[end] == '_' || s[end] == '$' || s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z' || end > 0 && s[end] >= '0' && s[end] <= '9') {
		end++
	}
	if end < 3 {
		return ""
	}
	return s[:end]
}

// Declared returns the functions, types and classes that a text declares.
func Declared(text string) []string {
	var f Op
	for line := range strings.Lines(text[:min(len(text), 64<<10)]) {
		f.add(declaration(strings.TrimSpace(line)))
	}
	return f.Funcs
}
