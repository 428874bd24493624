package fileops

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// proseFormats are the extensions of text formats. A change of such a file declares nothing.
var proseFormats = []string{".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt", ".org"}

// OfProse reports whether a file has a text format.
func OfProse(file string) bool { return slices.Contains(proseFormats, extension(file)) }

// settingFormats are the extensions of settings files.
var settingFormats = []string{".yaml", ".yml", ".toml", ".ini", ".cfg"}

// Limits of the quotation of new text.
const (
	headingsHere = 2  // quoted headings
	headingChars = 60 // characters of one heading or line
)

// NewText describes the text that an edit adds to a file without declarations: its new
// headings, or else its first new line. The edit replaces the text old.
func NewText(file, old, added string) []string {
	ext := extension(file)
	if !slices.Contains(proseFormats, ext) && !slices.Contains(settingFormats, ext) {
		return nil
	}
	had := map[string]bool{}
	for line := range strings.Lines(old) {
		had[strings.TrimSpace(line)] = true
	}
	first := ""
	var code prose.Fence
	var headings []string
	for whole := range strings.Lines(added[:min(len(added), 64<<10)]) {
		line := strings.TrimSpace(whole)
		inCode := headingSigns[ext] != "" && code.Takes(line)
		if had[line] || inCode && strings.Trim(line[:min(len(line), 3)], "`~") == "" || !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		if first == "" {
			first = line
		}
		if head := headingIn(ext, whole); head != "" && !inCode {
			headings = prose.AppendNew(headings, prose.Clip(prose.Squash(head), headingChars))
		}
	}
	if len(headings) == 0 && first != "" {
		return []string{prose.Clip(prose.Squash(first), headingChars)}
	}
	return headings
}

// NewLine returns the first line that an edit of code adds, to describe a change in the middle of
// a function. It leaves out comments, imports and lines that are hardly more than brackets.
func NewLine(old, added string) []string {
	had := map[string]bool{}
	for line := range strings.Lines(old) {
		had[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(added[:min(len(added), 64<<10)]) {
		if line = strings.TrimSpace(line); !had[line] && tellsChange(line) {
			return []string{prose.Clip(prose.Squash(line), headingChars)}
		}
	}
	return nil
}

// tellsChange reports whether a line of code says what changed.
func tellsChange(line string) bool {
	letters := 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= leastLetters && !prose.BeginsAny(line, []string{"//", "#", "/*", "*", "--", ";", "<!--", "import ", "from ", "using ", "use ", "package ", "include ", "require("})
}

// leastLetters is the minimum number of letters in a line that says what changed.
const leastLetters = 6

// QuotedNew quotes the newest texts that edits added to a file. It returns "" if there are none.
func QuotedNew(added []string) string {
	added = added[max(0, len(added)-headingsHere):]
	if len(added) == 0 {
		return ""
	}
	return "“" + strings.Join(added, "”, “") + "”"
}
