package fileops

import (
	"slices"
	"strings"
)

// declaredKinds maps the keyword of a declaration to the word that summaries use. A
// declaration with another keyword is a function.
var declaredKinds = map[string]string{"class": "class", "type": "type", "interface": "interface", "struct": "struct", "enum": "enum", "trait": "trait", "impl": "impl"}

// Outlined returns the kind and the name of the declaration in a line of code: "class" and
// "Queue", "function" and "push". It also recognizes methods without a keyword. The name is ""
// if the line declares nothing.
func Outlined(line string) (kind, name string) {
	line = strings.TrimSpace(line)
	if name = declaration(line); name == "" {
		return "function", method(line)
	}
	before, _, _ := strings.Cut(line, name)
	for _, word := range strings.Fields(before) {
		if kind = declaredKinds[word]; kind != "" {
			return kind, name
		}
	}
	return "function", name
}

// statementWords begin lines that look like the head of a method but declare nothing.
var statementWords = []string{"if", "for", "while", "switch", "catch", "return", "else", "do", "try", "with", "match", "await", "new", "case", "throw", "defer", "go", "elif", "select", "using", "lock", "super", "yield"}

// method returns the name in the head of a method or a function without a keyword:
// "private push(item: Item): void {" and "static int push(queue *q) {".
func method(line string) string {
	head, ok := strings.CutSuffix(line, "{")
	before, _, called := strings.Cut(head, "(")
	if !ok || !called || len(line) > 300 || strings.ContainsAny(head, "\"'`=;!") || strings.ContainsAny(before, ".,{}[]/|+") {
		return ""
	}
	words := strings.Fields(strings.NewReplacer("*", " ", "&", " ").Replace(before))
	if len(words) == 0 || slices.Contains(statementWords, strings.TrimLeft(words[0], "}")) {
		return ""
	}
	last := words[len(words)-1]
	if name := nameAt(last); len(name) == len(last) {
		return name
	}
	return ""
}
