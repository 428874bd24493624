package tidy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestReduceCode(t *testing.T) {
	store := slices.Concat([]string{"package store", "", "import \"fmt\"", "", "// A Store keeps values.", "type Store struct {", "\tvalues map[string]int", "}", "", "func (s *Store) Load(key string) int {"},
		numbered("\tfmt.Println(%d)", 1, 12), []string{"\treturn s.values[key]", "}", "", "func (s *Store) Save(key string, v int) {", "\ts.values[key] = v", "\tif v > 3 {", "\t\ts.full = true", "\t}", "}", "", "var x = 3", "var table = func() int {", "\treturn 1", "}()"})
	withNumbers := make([]string, len(store))
	for i, l := range store {
		withNumbers[i] = numbered("%6d→", i+101, 1)[0] + l
	}
	named := together([]string{"[tidied — outline and what was named, 199 of 270 lines left out]"}, functions("load_last", 3),
		[]string{"func load_last(in3 int) {", "\tf(1)", "\tf(2)", "⋮ 58–71", "}", "func load_last(in4 int) {", "\tf(1)", "\tf(2)", "⋮ 76–90"})
	for i := range 10 {
		named += fmt.Sprintf("func other(in%d int) {\n⋮ %d–%d\n", i, 92+18*i, 108+18*i)
	}
	compare(t, "code", []view{
		{name: "an outline", call: reading("/src/store.go"), large: 90, text: lines(store...), want: lines("[tidied — outline and what was named, 21 of 36 lines left out]", "package store", "", "import \"fmt\"", "", "// A Store keeps values.", "type Store struct {", "\tvalues map[string]int", "}", "", "func (s *Store) Load(key string) int {", "⋮ 11–25", "func (s *Store) Save(key string, v int) {", "⋮ 27–32", "var x = 3", "var table = func() int {", "\treturn 1", "}()")},
		{name: "a function that the task names", call: reading("/src/store.go"), said: "mend `Save`", large: 120, text: lines(store...), want: lines("[tidied — outline and what was named, 14 of 36 lines left out]", "package store", "", "import \"fmt\"", "", "// A Store keeps values.", "type Store struct {", "\tvalues map[string]int", "}", "", "func (s *Store) Load(key string) int {", "⋮ 11–24", "", "func (s *Store) Save(key string, v int) {", "\ts.values[key] = v", "\tif v > 3 {", "\t\ts.full = true", "\t}", "}", "", "var x = 3", "var table = func() int {", "\treturn 1", "}()")},
		{name: "the body of a function that the task names", call: reading("/src/store.go"), said: "mend `Save`", large: 110, text: together(store[:14], []string{"func (s *Store) Save(key string) {"}, numbered("\ts.values[%d] = v", 1, 6), []string{"}", "", "// more", "func other() {"}, numbered("\tfmt.Println(%d)", 1, 15), []string{"}"}), want: lines("[tidied — outline and what was named, 23 of 41 lines left out]", "package store", "", "import \"fmt\"", "", "// A Store keeps values.", "type Store struct {", "⋮ 7–13", "\tfmt.Println(4)", "func (s *Store) Save(key string) {", "\ts.values[1] = v", "\ts.values[2] = v", "\ts.values[3] = v", "\ts.values[4] = v", "\ts.values[5] = v", "\ts.values[6] = v", "}", "", "// more", "func other() {", "⋮ 26–41")},
		{name: "three functions for a word of the task", call: reading("/src/store.go"), said: "`load_last`", large: 450, text: together(functions("load_last", 5), functions("other", 10)), want: named},
		{name: "lines with their numbers", call: reading("/src/store.go"), large: 120, text: lines(withNumbers...), want: lines("[tidied — outline and what was named, 24 of 36 lines left out]", "   101→package store", "   102→", "   103→import \"fmt\"", "   104→", "   105→// A Store keeps values.", "   106→type Store struct {", "⋮ 107–109", "   110→func (s *Store) Load(key string) int {", "⋮ 111–125", "   126→func (s *Store) Save(key string, v int) {", "⋮ 127–132", "   133→var x = 3", "   134→var table = func() int {", "   135→\treturn 1", "   136→}()")},
		{name: "code without the name of a file", call: command("./show store"), large: 90, text: lines(store...), want: lines("[tidied — outline and what was named, 21 of 36 lines left out]", "package store", "", "import \"fmt\"", "", "// A Store keeps values.", "type Store struct {", "\tvalues map[string]int", "}", "", "func (s *Store) Load(key string) int {", "⋮ 11–25", "func (s *Store) Save(key string, v int) {", "⋮ 27–32", "var x = 3", "var table = func() int {", "\treturn 1", "}()")},
		{name: "a text without the name of a file", call: command("./show store"), large: 60, text: together(numbered("words of the program, number %d", 1, 30)), want: "whole"},
		{name: "a reminder of the harness", call: reading("/src/store.go"), large: 110, text: together(withNumbers, []string{"", "<system-reminder>", "Whenever you read a file, look at it.", "</system-reminder>"}), want: lines("[tidied — outline and what was named, 28 of 40 lines left out]", "   101→package store", "   102→", "   103→import \"fmt\"", "   104→", "   105→// A Store keeps values.", "   106→type Store struct {", "⋮ 107–109", "   110→func (s *Store) Load(key string) int {", "⋮ 111–132", "   133→var x = 3", "⋮ 134–136", "", "<system-reminder>", "Whenever you read a file, look at it.", "</system-reminder>")},
		{name: "parameters of several lines", call: reading("/src/a.py"), large: 90, text: together([]string{"from x import y", "", "def wrap(", "    data,", "    columns=None,", "):", "    \"\"\"Wrap it.", "    data to be wrapped", "    \"\"\""}, numbered("    log(%d)", 1, 20), []string{"def call(", "    x"}, numbered("    log(%d)", 1, 12), []string{"class Store:", "    def load(self):", "        return 1"}), want: lines("[tidied — outline and what was named, 36 of 46 lines left out]", "from x import y", "", "def wrap(", "    data,", "    columns=None,", "):", "⋮ 7–29", "def call(", "⋮ 31–43", "class Store:", "    def load(self):", "        return 1")},
		{name: "methods and classes", call: reading("/src/a.ts"), large: 110, text: together([]string{"import { x } from 'y'", "@Injectable()", "export class Store {", "  private load(key: string): void {"}, numbered("    this.log(%d)", 1, 12),
			[]string{"  }", "  save(key) {", "    if (key) {", "      return", "    }", "  }", "        deep(key) {", "            deeper(key) {", "const f = () => {", "const n = 3", "let later = function () {", "}"}), want: lines("[tidied — outline and what was named, 13 of 28 lines left out]", "import { x } from 'y'", "@Injectable()", "export class Store {", "  private load(key: string): void {", "⋮ 5–17", "  save(key) {", "    if (key) {", "      return", "    }", "  }", "        deep(key) {", "            deeper(key) {", "const f = () => {", "const n = 3", "let later = function () {", "}")},
	})
}

func TestReduceDocument(t *testing.T) {
	text := slices.Concat([]string{"# Plan", "", "The first line.", "The second line.", "The third line.", "* [Home](/home) [Index](/index)"}, numbered("Sentence %d goes on.", 1, 8), []string{"## Next", "a", "b", "c", "### Deeper", "####### no heading", "#no heading"}, numbered("Sentence %d of it goes on.", 1, 12))
	compare(t, "documents", []view{
		{name: "headings and the lines below them", call: reading("/plan.md"), said: "`Sentence_9` and `Deeper`", large: 85, text: lines(text...), want: lines("[tidied — headings and text, 18 of 33 lines left out]", "# Plan", "", "The first line.", "The second line.", "The third line.", "* [Home](/home) [Index](/index)", "Sentence 1 goes on.", "Sentence 2 goes on.", "⋮ 9–14", "## Next", "a", "b", "c", "### Deeper", "####### no heading", "#no heading", "⋮ 22–33")},
		{name: "three headings of a file without an ending", call: reading("/plan"), large: 85, text: lines(text...), want: lines("[tidied — headings and text, 18 of 33 lines left out]", "# Plan", "", "The first line.", "The second line.", "The third line.", "* [Home](/home) [Index](/index)", "Sentence 1 goes on.", "Sentence 2 goes on.", "⋮ 9–14", "## Next", "a", "b", "c", "### Deeper", "####### no heading", "#no heading", "⋮ 22–33")},
		{name: "comments of a Makefile", call: reading("/src/Makefile"), large: 85, text: lines(text...), want: "whole"},
		{name: "comments of a Dockerfile", call: reading("/src/Dockerfile.dev"), large: 85, text: lines(text...), want: "whole"},
		{name: "comments of settings", call: reading("/src/Deploy.YAML"), large: 85, text: lines(text...), want: "whole"},
		{name: "two headings of a file without an ending", call: reading("/plan"), large: 60, text: lines(text[:18]...), want: "whole"},
		{name: "two headings of a file of Markdown", call: reading("/plan.md"), large: 60, text: lines(text[:20]...), want: lines("[tidied — headings and text, 7 of 20 lines left out]", "# Plan", "", "The first line.", "The second line.", "The third line.", "* [Home](/home) [Index](/index)", "Sentence 1 goes on.", "⋮ 8–14", "## Next", "a", "b", "c", "### Deeper", "####### no heading")},
		{name: "long queries and data", call: reading("/plan.md"), large: 140, text: lines("# One", "see https://example.org/a?token="+strings.Repeat("x", 250)+" and (https://example.org/b?token="+strings.Repeat("y", 94)+") too", "![i](data:image/png;base64,"+strings.Repeat("A", 200)+")",
			"# Two", "# Three"), want: lines("[tidied — 2 lines with long URLs cut]", "# One", "see https://example.org/a?… and (https://example.org/b?token=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy) too", "![i](data:image/png;base64,…)", "# Two", "# Three")},
		{name: "paths and short queries stay", call: reading("/plan.md"), large: 100, text: lines("https://example.org/"+strings.Repeat("path/", 15)+"?q=1&token="+strings.Repeat("x", 60), "# One", "# Two", "# Three", strings.Repeat("word ", 60)), want: lines("[tidied — headings and text, 1 of 5 lines left out]", "https://example.org/path/path/path/path/path/path/path/path/path/path/path/path/path/path/path/?q=1&token=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "# One", "# Two", "# Three", "⋮ 5")},
	})
}

func TestIsNavigationRecognizesLinesOfLinks(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "[Home](/)": true, "* [Home](/) | [Index](/i)": true, "- [Home](/) and": true, "- [Home](/) and more words": false, "see [Home](/)": false, "[Home]": false, "[Home](/": true, "[a](b) [c": true, "[a](b) [cdefg": false, "[a](b) words [c](d) words [e](f)": false, "• [a](b)": true,
	} {
		if got := isNavigation(text); got != want {
			t.Errorf("isNavigation(%q) = %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"# a": true, "###### a": true, "####### a": false, "#a": false, "#": false, "": false, "a # b": false} {
		if got := isHeading(text); got != want {
			t.Errorf("isHeading(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestReducePatch(t *testing.T) {
	patch := slices.Concat([]string{"commit 1", "diff --git a/a.go b/a.go", "index 1..2", "--- a/a.go", "+++ b/a.go", "@@ -1,3 +1,4 @@ package a"}, numbered(" \tcontext%d()", 1, 6), []string{"-\told(1)", "+\tnew(1)", "+func Load() {"}, numbered(" \tcontext%d()", 7, 6),
		[]string{"diff --git a/b.go b/b.go", "--- a/b.go", "+++ b/b.go", "@@ -1,3 +1,4 @@", "+\tnamed_here()"}, numbered("+\tnew(%d)", 2, 9))
	compare(t, "patches", []view{
		{name: "files, hunks and changes", call: command("git show"), said: "`named_here`", large: 110, text: lines(patch...), want: lines("[tidied — files, hunks and some changes of a patch, 14 of 35 lines left out]", "commit 1", "diff --git a/a.go b/a.go", "index 1..2", "--- a/a.go", "+++ b/a.go", "@@ -1,3 +1,4 @@ package a", "⋮ 7–14", "+func Load() {", "⋮ 16–21", "diff --git a/b.go b/b.go", "--- a/b.go", "+++ b/b.go", "@@ -1,3 +1,4 @@", "+\tnamed_here()", "+\tnew(2)", "+\tnew(3)", "+\tnew(4)", "+\tnew(5)", "+\tnew(6)", "+\tnew(7)", "+\tnew(8)", "+\tnew(9)", "+\tnew(10)")},
		{name: "hunks of two words that the task names", call: command("git show"), said: "`load_last` and `save_all`", large: 250, text: together(patch[:5], hunks("load_last", 19), hunks("save_all", 1)),
			want: together([]string{"[tidied — files, hunks and some changes of a patch, 88 of 125 lines left out]"}, patch[:5], hunks("load_last", 3), []string{"@@ -1,3 +1,4 @@", "⋮ 25–28", "+\tload_last(3)", "@@ -1,3 +1,4 @@", "⋮ 31–35", "@@ -1,3 +1,4 @@", "⋮ 37–41", "@@ -1,3 +1,4 @@", "⋮ 43–47", "@@ -1,3 +1,4 @@", "⋮ 49–53", "@@ -1,3 +1,4 @@", "⋮ 55–59", "@@ -1,3 +1,4 @@", "⋮ 61–119"}, hunks("save_all", 1))},
		{name: "changes before context as far as there is room", call: command("git show"), large: 100, text: together(patch[:5], hunks("load", 5)), want: together([]string{"[tidied — files, hunks and some changes of a patch, 20 of 35 lines left out]"}, patch[:5], []string{"@@ -1,3 +1,4 @@", "⋮ 7–10", "+\tload(0)", "@@ -1,3 +1,4 @@", "⋮ 13–16", "+\tload(1)", "@@ -1,3 +1,4 @@", "⋮ 19–22", "+\tload(2)", "@@ -1,3 +1,4 @@", "⋮ 25–28", "+\tload(3)", "@@ -1,3 +1,4 @@", "⋮ 31–34", "+\tload(4)"})},
		{name: "no hunk", call: command("git show"), large: 60, text: together(patch[:5], numbered("+++ b/%d.go", 1, 30)), want: "whole"},
		{name: "no file", call: command("git show"), large: 60, text: together(patch[5:20], patch[5:20]), want: "whole"},
	})
}

func TestReducePage(t *testing.T) {
	html := "<!DOCTYPE html><html><head><title>The page</title><style>p { x }</style><script>if (a < b) { c() }</script></head>\n<body><NAV><a href=x>Home</a></NAV ><!-- a > b -->\n<h1 id=a>Part <i>one</i></h1><p>Some <b>bold</b>\n text,   and more.<br/>A line.</p><svg><path d='x'/></svg>\n<ul><li>First</li><li>Second</li></ul><h2>Part two</h2><footer>Imprint</footer>\n<p>The last words"
	compare(t, "pages", []view{
		{name: "a small page", call: Call{Tool: "web_fetch"}, large: 70, text: html, want: lines("[tidied — text of a page without its tags]", "The page", "# Part one", "Some bold text, and more.", "A line.", "First", "Second", "## Part two") + "The last words"},
		{name: "a large page", call: Call{Tool: "web_fetch"}, said: "`sentence_30`", large: 130, text: "<html><body><h2>One</h2>" + strings.Join(numbered("<p>The sentence %d goes on.</p>", 1, 40), "\n") + "<h2>Two</h2><p>And sentence_30.</p><p>The end.</p></body></html>", want: lines("[tidied — headings and text of a page, 31 of 44 lines left out]", "## One", "The sentence 1 goes on.", "The sentence 2 goes on.", "The sentence 3 goes on.", "The sentence 4 goes on.", "The sentence 5 goes on.", "The sentence 6 goes on.", "The sentence 7 goes on.", "The sentence 8 goes on.", "The sentence 9 goes on.", "⋮ 11–41", "## Two", "And sentence_30.") + "The end."},
		{name: "a file of a page", call: reading("/a.html"), large: 70, text: html, want: "whole"},
		{name: "no page", call: Call{Tool: "web_fetch"}, large: 70, text: strings.Replace(strings.Replace(strings.ReplaceAll(html, "html", "text"), "<body>", "", 1), "<!DOCTYPE text>", "", 1), want: "whole"},
	})
}

func TestReduceLongLines(t *testing.T) {
	compare(t, "lines", []view{
		{name: "one long line", call: command("jq ."), large: 60, text: lines("short", strings.Repeat("a", 801)), want: lines("[tidied — 1 long line cut]", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa … 301 chars … aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")},
		{name: "a line of 800 bytes", call: command("jq ."), large: 60, text: lines("short", strings.Repeat("a", 800)), want: "whole"},
		{name: "characters of several bytes", call: command("jq ."), large: 60, text: lines(strings.Repeat("ä", 450), "x"+strings.Repeat("ä", 450)), want: lines("[tidied — 2 long lines cut]", "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää … 200 chars … ääääääääääääääääääääääääääääääääääääääääääääääääää", "xäääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää … 201 chars … ääääääääääääääääääääääääääääääääääääääääääääääääää")},
		{name: "an error in a long line", call: command("jq ."), large: 60, text: lines("error: " + strings.Repeat("a", 1000)), want: "whole"},
	})
}

// hunks returns n hunks of a patch, each with a word in its change.
func hunks(word string, n int) (out []string) {
	for i := range n {
		out = append(out, "@@ -1,3 +1,4 @@")
		out = append(out, numbered(" \tcontext%d()", 1, 4)...)
		out = append(out, fmt.Sprintf("+\t%s(%d)", word, i))
	}
	return out
}

// functions returns n functions of eight lines, each with a word in its name.
func functions(word string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("func %s(in%d int) {", word, i))
		out = append(append(out, numbered("\tf(%d)", 1, 16)...), "}")
	}
	return out
}

// A cut that saves too little is undone. The edits of smaller reducers stay.
func TestURLStaysWholeIfItsCutSavesTooLittle(t *testing.T) {
	url := "https://example.org/a?" + strings.Repeat("x", 120)
	text := together([]string{"\x1b[1m# One\x1b[0m", "see " + url, "# Two"}, numbered("line %d of some text", 1, 60), []string{"# Three"})
	r := &Result{Text: text, Call: reading("notes.md"), Tokens: len(text)} // a token a byte
	out, ok := Reduce(r, Options{Large: 1000})
	if got := out.Render(text, 9, testRef); !ok || !strings.Contains(got, url) || strings.Contains(got, "\x1b") || len(out.By) != 1 {
		t.Errorf("%v, by %v:\n%s\nwant true, text with %q and text without %q", ok, out.By, got, url, "\x1b")
	}
}
