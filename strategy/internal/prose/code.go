package prose

import (
	"strings"
	"unicode"
)

// A Fence tracks whether a line of a text is in a block of code. It holds the mark that
// began the block, or "" outside of a block.
type Fence string

// Takes reports whether a line is a mark, or is between two marks.
func (f *Fence) Takes(line string) bool {
	line = strings.TrimSpace(line)
	open := *f
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return open != ""
	}
	rest := strings.TrimLeft(line, line[:1])
	mark := line[:len(line)-len(rest)]
	switch {
	case open == "":
		*f = Fence(mark)
	case strings.HasPrefix(mark, string(open)) && rest == "":
		*f = ""
	}
	return true
}

// codeMarks appear in lines of code, data and diffs, and hardly ever in prose.
var codeMarks = []string{":= ", " => ", "();", "){", ") {", "};", "});", " == ", " != ", "===", "&&", "||", "</", "/>", "': ", "\": ", "\":", "->", "::", " += ", "%s", "${", "= new ", "...)", " // ", "?: ", " } }", `\n`, `\"`}

// codeHeads lists beginnings of lines of code.
var codeHeads = []string{"import ", "from ", "package ", "func ", "def ", "class ", "const ", "let ", "var ", "return ", "if (", "if err", "if not ", "if is", "elif ", "else:", "try:", "with ", "print(", "for ", "while ", "export ", "async ", "await ", "assert", "raise ", "@", "#include", "public ", "private ", "//", "/*", "* ", "<", "self.", "this.", "expect("}

// CodeLine reports whether a line is code and not prose.
func CodeLine(l string) bool {
	bare := strings.TrimLeft(l, "…+- 0123456789\t→:|") // without a line number
	if HasAny(bare, codeMarks) || BeginsAny(bare, codeHeads) || strings.HasSuffix(bare, "{") || strings.HasSuffix(bare, ";") || strings.HasSuffix(bare, ",") || strings.HasSuffix(bare, "(") {
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
