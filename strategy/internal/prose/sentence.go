package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Sentence is one sentence of a text that people wrote.
type Sentence struct {
	Text    string
	Heading bool
	Item    bool   // part of a list item
	Later   bool   // not the first sentence of its item
	Mark    string // number of the item, in the item's first sentence: "3."
	Indent  int    // indentation of the item, in columns
	Code    bool   // a block of code follows
	Block   string // the code, if it is short
	Columns bool   // the names of the columns of a table
	Title   bool   // a whole line in bold without a full stop, that reads like a heading
}

// EachSentence calls f for each sentence of a text, with its place in a list. An indented
// line below an item continues the item.
func EachSentence(text string, f func(s Sentence)) {
	var in Sentence // the item around the line
	fenced := false
	for at := 0; at < len(text); {
		raw := text[at:]
		if i := strings.IndexByte(raw, '\n'); i >= 0 {
			raw = raw[:i+1]
		}
		at += len(raw)
		line := strings.TrimSpace(raw)
		if FenceLine(line) {
			fenced = !fenced
			continue
		}
		if fenced || line == "" || line[0] == '|' || line[0] == '<' || strings.HasPrefix(line, "---") {
			continue
		}
		s, bare := lineOf(raw, line)
		if in.Item && !s.Item && !s.Heading && s.Indent > in.Indent {
			s.Item, s.Later, s.Indent = true, true, in.Indent
		}
		in = s
		bare = strings.ReplaceAll(bare, "**", "")
		if s.Code = strings.HasSuffix(bare, ":") && codeNext(text[at:]); s.Code {
			s.Block = shortBlock(text[at:])
		}
		SplitLine(bare, func(t string) {
			s.Text = t
			f(s)
			s.Later, s.Mark = s.Item, ""
		})
	}
}

// lineOf classifies a line, and returns its text without the marks of a heading or an
// item.
func lineOf(raw, line string) (s Sentence, text string) {
	s.Heading = line[0] == '#'
	if strings.HasPrefix(line, "**") {
		head, bold := Heading(line)
		s.Title = bold && len(head) <= MaxHeading && !strings.Contains(head, "**") && !endsSentence(head)
	}
	bare := strings.TrimSpace(strings.TrimLeft(line, "#>*-+•"))
	text = Unnumbered(bare)
	s.Item = bare != line && !s.Heading && !strings.HasPrefix(line, "**") && line[0] != '>' || text != bare
	if s.Item && text != bare {
		s.Mark = strings.TrimSpace(bare[:len(bare)-len(text)])
	}
	s.Indent = len(strings.ReplaceAll(raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))], "\t", "    "))
	return s, text
}

// endsSentence reports whether a text ends like a sentence.
func endsSentence(t string) bool {
	return strings.HasSuffix(t, ".") || strings.HasSuffix(t, "!") || strings.HasSuffix(t, "?") || strings.HasSuffix(t, "。")
}

// FenceLine reports whether a line begins or ends a block of code.
func FenceLine(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// codeNext reports whether a text begins with a block of code.
func codeNext(text string) bool { return FenceLine(strings.TrimLeft(text, " \t\r\n")) }

// maxBlock is the maximum length of a short block of code, in bytes.
const maxBlock = 120

// shortBlock returns the block of code at the beginning of a text, its lines joined by
// slashes, and "" for a long block.
func shortBlock(text string) string {
	_, code, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	end := strings.Index(code, "```")
	if end < 0 || end > maxBlock {
		return ""
	}
	var lines []string
	for line := range strings.Lines(code[:end]) {
		lines = AppendNew(lines, Squash(line))
	}
	return strings.Join(lines, " / ")
}

// MaxHeading is the maximum length, in bytes, of a heading that is marked only by a colon.
const MaxHeading = 70

// Heading returns the title of a heading in markdown or HTML. A line that is
// entirely bold counts as a heading.
func Heading(line string) (string, bool) {
	if len(line) > 9 && strings.HasPrefix(line, "<h") && line[3] == '>' && strings.HasSuffix(line, "</h"+line[2:4]) {
		return strings.TrimSpace(line[4 : len(line)-5]), true
	}
	if strings.HasPrefix(line, "__") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "__") && len(line) > 4 {
		return strings.Trim(line, "_:"), true
	}
	if h := strings.TrimLeft(line, "#"); len(h) < len(line) && strings.HasPrefix(h, " ") {
		return strings.TrimSpace(h), true
	}
	if strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**") && len(line) > 4 {
		return strings.Trim(line, "*:"), true
	}
	return "", false
}

// clauseEnds lists the texts at which a sentence is split into clauses. The clauses are in
// lower case.
var clauseEnds = strings.NewReplacer(". ", "\n", "! ", "\n", ", ", "\n", "; ", "\n", ": ", "\n", " – ", "\n", " — ", "\n", " but ", "\n", " and ", "\n", " if ", "\n", " because ", "\n", " since ", "\n", " as long as ", "\n", " aber ", "\n", " und ", "\n", " wenn ", "\n", " weil ", "\n", " solange ", "\n")

// Clauses splits a sentence into clauses in lower case.
func Clauses(t string) []string {
	low := strings.ReplaceAll(strings.ToLower(Squash(t)), "’", "'")
	return strings.Split(clauseEnds.Replace(low), "\n")
}

// MaxSentence is the maximum length of a quoted sentence, in characters.
const MaxSentence = 280

// Sentences calls f for each sentence of a text that people wrote, in order:
// lines and list items, cut at full stops. It skips code blocks, tables and
// markup.
func Sentences(text string, f func(s string, heading bool)) {
	EachSentence(text, func(s Sentence) { f(s.Text, s.Heading) })
}

// ListItem reports whether a line is an item of a list.
func ListItem(line string) bool {
	line = strings.TrimSpace(line)
	return BeginsAny(line, []string{"- ", "* ", "+ ", "• "}) || Unnumbered(line) != line
}

// Unnumbered removes the number of a list item.
func Unnumbered(line string) string {
	end := 0
	for end < len(line) && end < 3 && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	if end > 0 && end+1 < len(line) && (line[end] == '.' || line[end] == ')') && line[end+1] == ' ' {
		return strings.TrimSpace(line[end+2:])
	}
	return line
}

// SplitLine calls f for each sentence of a line. It does not cut in code between backticks.
func SplitLine(line string, f func(string)) {
	start, code := 0, false
	for i := 0; i < len(line); i++ {
		end := 0
		switch line[i] {
		case '`':
			code = !code && strings.IndexByte(line[i+1:], '`') >= 0
		case '.', '!', '?':
			if !code && i+1 < len(line) && line[i+1] == ' ' && (i-start > leastBefore && (line[i] != '.' || !abbreviates(line[start:i]) && !numberFollows(line, i)) || courtesy(line[start:i])) {
				end = i + 1
			}
		case 0xe3: // 。
			if strings.HasPrefix(line[i:], "。") {
				end = i + 3
			}
		}
		if end > 0 {
			f(strings.TrimSpace(line[start:end]))
			start, i = end, end-1
		}
	}
	if rest := strings.TrimSpace(line[start:]); rest != "" {
		f(rest)
	}
}

// leastBefore is the number of bytes that a sentence must exceed: an earlier full stop
// does not end it.
const leastBefore = 15

// courtesies are polite sentences without information.
var courtesies = []string{"good", "good catch", "nice", "nice catch", "great", "great catch", "good point", "great question", "good question", "perfect", "excellent", "awesome", "thanks", "got it", "understood"}

// courtesy reports whether a text is one of courtesies.
func courtesy(s string) bool {
	return slices.Contains(courtesies, strings.ToLower(strings.TrimSpace(s)))
}

// abbreviated lists words whose full stop does not end a sentence.
var abbreviated = map[string]bool{"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "e.g": true, "i.e": true, "vs": true, "no": true, "approx": true, "fig": true, "cf": true, "etc": true, "inc": true, "jr": true,
	"ext": true, "tel": true, "dept": true, "ave": true, "blvd": true, "vol": true, "pp": true, "al": true, "resp": true, "incl": true, "excl": true, "corp": true, "ltd": true, "u.s": true, "a.m": true, "p.m": true, "bzw": true, "z.b": true}

// abbreviates reports whether the last word of a text is an abbreviation or an initial. A
// full stop after such a word does not end the sentence.
func abbreviates(s string) bool {
	word := strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "(\"“")
	return abbreviated[strings.ToLower(word)] || len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z'
}

// numberFollows reports whether a full stop is between a short capitalized word and a
// number, as in "Torstr. 12" and "Art. 5". Such a word is an abbreviation.
func numberFollows(line string, stop int) bool {
	word := line[strings.LastIndexAny(line[:stop], " (")+1 : stop]
	first, _ := utf8.DecodeRuneInString(word)
	return stop+2 < len(line) && line[stop+2] >= '0' && line[stop+2] <= '9' && len(word) <= mostAbbreviated && unicode.IsUpper(first) && !strings.ContainsFunc(word, unicode.IsDigit) && strings.ToUpper(word) != word
}

// mostAbbreviated is the maximum length of an abbreviation before a number, in bytes.
const mostAbbreviated = 7
