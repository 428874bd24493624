package strategy

import (
	"strings"
	"unicode"
)

// codeMarks appear in lines of code, data and diffs, and hardly ever in prose.
var codeMarks = []string{":= ", " => ", "();", "){", ") {", "};", "});", " == ", " != ", "===", "&&", "||", "</", "/>", "': ", "\": ", "\":", "->", "::", " += ", "%s", "${", "= new ", "...)"}

// codeHeads lists beginnings of lines of code.
var codeHeads = []string{"import ", "from ", "package ", "func ", "def ", "class ", "const ", "let ", "var ", "return ", "if (", "if err", "if not ", "if is", "elif ", "else:", "try:", "with ", "print(", "for ", "while ", "export ", "async ", "await ", "assert", "raise ", "@", "#include", "public ", "private ", "//", "/*", "* ", "<", "self.", "this.", "expect("}

// codeLine reports whether a line is code and not prose.
func codeLine(l string) bool {
	bare := strings.TrimLeft(strings.TrimLeft(l, "…+- \t"), " 0123456789\t→:") // without a line number
	if hasAny(bare, codeMarks) || beginsAny(bare, codeHeads) || strings.HasSuffix(bare, "{") || strings.HasSuffix(bare, ";") || strings.HasSuffix(bare, ",") || strings.HasSuffix(bare, "(") {
		return true
	}
	words, plain := strings.Fields(bare), 0
	for _, w := range words {
		if plainWord(w) {
			plain++
		}
	}
	return strings.Contains(bare, " = ") || plain < leastPlain
}

// leastPlain is the minimum number of plain words in a line of prose.
const leastPlain = 5

// plainWord reports whether a word consists of letters, apart from the
// punctuation around it.
func plainWord(w string) bool {
	w = strings.Trim(w, "\"'`()[],.;:!?*-–—…“”")
	return w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' && r != '-' }) < 0
}
