package tidy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestHoldsErrorRecognizesWords(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "e": false, "error": true, "ERROR": true, "Errors: 3": true, "errored": false, "an error": true, "errors=0": false, "errors = 10": true, "error 0x3": true, "errors 0.5": true, "error: 01": true,
		"errors: 0, warnings: 3": false, "errors: 0": false, "no errors": false, "No error": false, "without failures": false, "zero failures": false, "0 errors": false, "10 errors": true, "no such error": true, "warnings,0 errors": false, "(0 errors)": false,
		"fatal.": true, "fatal. And": true, "fatal.go": false, "error_code": false, "my-error": false, "path/error": false, "$error": false, "Error: x": true, "MyError: x": true, "MyError x": false, "MyException: x": true, "MyException": false,
		"myerror: x": false, "Exception: x": true, "traceback": true, "tracebacks": false, "ärror": false, "äerror": false, "✗": true, "✖ a": true, "❌": true, "✓ a": false, "a ✗": true, "panic(1)": true, "segfault": true, "critical": true, "denied!": true,
		"ok error": false, "the failing one": true, "Fail": true, "FailX": false,
	} {
		if got := holdsError(line); got != want {
			t.Errorf("holdsError(%q) = %v, want %v", line, got, want)
		}
	}
}

func TestTermsOfReturnsNamesAndQuotedWords(t *testing.T) {
	for text, want := range map[string][]string{
		"mend load_last in StoreFile": {"StoreFile", "load_last"}, "see `word` and 'text' and \"cite\"": {"cite", "text", "word"}, "see `word' and `abc`": nil, "ABCD Abcd abCd a1b2 1234 x1y": {"a1b2", "abCd"}, "plain words only": nil,
		"`" + strings.Repeat("x", 60) + "`": {strings.Repeat("x", 60)}, "`" + strings.Repeat("x", 61) + "`": nil, strings.Repeat(" ", 20_000) + "load_last": nil, strings.Repeat(" ", 19_991) + "load_last": {"load_last"},
		"_a1_": nil, "__ab": {"__ab"}, "aB": nil, "last_": {"last_"},
	} {
		var got []string
		for w := range termsOf(text).words {
			got = append(got, w)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the terms of %.60q are %q, want %q", text, got, want)
		}
	}
	terms := termsOf("load_last, `word`")
	for text, want := range map[string]string{"": "", "load_last": "load_last", "a word": "word", "words": "", "sword": "", "load_last2": "", "(word)": "word", "load_lost load_last": "load_last", "lord ward": ""} {
		if got := terms.in(text); got != want {
			t.Errorf("the first term in %q is %q, want %q", text, got, want)
		}
	}
}

func TestAsksParsesTheArgumentsOfACall(t *testing.T) {
	for args, want := range map[string]asked{
		`{"command":"cat -n 'a.go'"}`:             {command: "cat -n 'a.go'", file: "a.go"},
		`{"command":["cat","a.go"]}`:              {command: "cat a.go", file: "a.go"},
		`{"cmd":"ls"}`:                            {command: "ls"},
		`{"script":"/usr/bin/less -R a.go"}`:      {command: "/usr/bin/less -R a.go", file: "a.go"},
		`{"command":"cat -n"}`:                    {command: "cat -n"},
		`{"command":"ls","path":"b.go"}`:          {command: "ls"},
		`{"command":"","path":"b.go"}`:            {file: "b.go"},
		`{"command":[],"file":"b.go"}`:            {file: "b.go"},
		`{"notebook_path":"b.ipynb"}`:             {file: "b.ipynb"},
		`{"path":"b.go","offset":3}`:              {file: "b.go", ranged: true},
		`{"path":"b.go","offset":0,"limit":null}`: {file: "b.go"},
		`{"path":"b.go","limit":"","lines":[]}`:   {file: "b.go"},
		`{"command":"sed -n 1,3p a.go"}`:          {command: "sed -n 1,3p a.go", ranged: true},
		`{"command":"head -20 a.go"}`:             {command: "head -20 a.go", ranged: true},
		`{"command":"tail -n +3 a.go"}`:           {command: "tail -n +3 a.go", ranged: true},
		`{"command":"head --lines=3 a.go"}`:       {command: "head --lines=3 a.go", ranged: true},
		`{"command":"tail -f a.go"}`:              {command: "tail -f a.go"},
		`{"command":"awk 'NR==3' a.go"}`:          {command: "awk 'NR==3' a.go", ranged: true},
		`[1]`:                                     {},
		`{"command":3}`:                           {},
	} {
		if got := (Call{Args: json.RawMessage(args)}).asks(); got != want {
			t.Errorf("%s asks for %+v, want %+v", args, got, want)
		}
	}
	for file, want := range map[string]string{"a.GO": "go", "a/b.tar.gz": "gz", "a.d/b": "", "": "", ".env": "env"} {
		if got := (&asked{file: file}).ext(); got != want {
			t.Errorf("the extension of %q is %q, want %q", file, got, want)
		}
	}
}

func TestDataInFindsBase64(t *testing.T) {
	data := func(n int) string { return strings.Repeat("aB3dxYz7", n/8+1)[:n] }
	for name, tc := range map[string]struct {
		text string
		want [][2]int
	}{
		"255 bytes":              {data(255), nil},
		"256 bytes":              {data(256), [][2]int{{0, 256}}},
		"between words":          {"key: " + data(300) + "== end", [][2]int{{5, 307}}},
		"twice":                  {data(256) + " " + data(256), [][2]int{{0, 256}, {257, 513}}},
		"a hash has no capitals": {strings.ToLower(data(300)), nil},
		"no small letters":       {strings.ToUpper(data(300)), nil},
		"a name has no digits":   {strings.NewReplacer("3", "k", "7", "Q").Replace(data(300)), nil},
		"a path has many marks":  {strings.Repeat("aB3dxY/", 50), nil},
		"the alphabet of URLs":   {strings.Repeat("aB3-xYzab_aB3dxYz7cD", 15), [][2]int{{0, 300}}},
		"few marks":              {strings.Repeat("aB3dxYzab/", 30), [][2]int{{0, 300}}},
	} {
		if got := dataIn(tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestEscapeReturnsTheLengthOfASequence(t *testing.T) {
	for text, want := range map[string]int{
		"\x1b": 1, "\x1b[": 2, "\x1b[0m": 4, "\x1b[1;31mred": 7, "\x1b[?25l": 6, "\x1b[0\x01": 2, "\x1b[0ä": 2, "\x1b]0;title\ax": 10, "\x1b]0;title\x1b\\x": 11, "\x1b]0;title\x1b[0m": 1, "\x1b]0;title": 1, "\x1bMx": 2, "\x1bä": 1, "\x1b[12": 4, "\x1b[@": 3, "\x1b[~": 3,
	} {
		if got := escape(text); got != want {
			t.Errorf("escape(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestNumberEndFindsTheNumberOfALine(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 0, "12": 0, "12\ta": 3, "  12→a": 4 + len("→"), "12: a": 4, "12:a": 3, "00012| a": 7, "12|a": 3, "12|": 3, "12 a": 0, "1234567\t": 8, "12345678\t": 0, "<content>1\ta": 11, " \t1\ta": 0,
	} {
		if got := numberEnd(text); got != want {
			t.Errorf("numberEnd(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestDeclaresRecognizesDeclarations(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "func a() {": true, "Function x": false, "function x": true, "type": false, "type X": true, "@Test": true, "@": true, "const x = 3": false, "const f = () => 3": true, "let f = function() {": true, "var x = [": false, "var (": true, "val x = {": true,
		"return f(": false, "if (a) {": false, "for (;;) {": false, "load(a) {": true, "load(a);": false, "load {": false, "load(a {": false, "class{": true, "switch(x) {": false, "while(x) {": false, "for(;;) {": false, "if(x) {": false, "catch(e) {": false, "return(x) {": false, "enum<T>": true, "def:": false, "public:": true, "private: x": false, "type: [X],": false, "import: x": false, "data to be wrapped": false, "data class Point(val x: Int)": true, "it based on": false, "it('works', () => {": true, "output : {x}": false, "output \"a\" {": true, "from the list": false, "from x import y": true, "use the store": false, "use store::Store;": true, "include \"a.h\"": true, "create the store": false, "create table x": true, "ALTER TABLE x": true, "CREATE OR REPLACE VIEW x": true, "Create index": false, "message Foo {": true, "message is": false, "rpc Get(A) returns (B);": true, "impl[T]": true, "functional x": false, ".method": false, "#define X": true, "CREATE TABLE x": true,
	} {
		if got := declares(text); got != want {
			t.Errorf("declares(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestIsLoggedAndShapeRecognizeLogLines(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-01-02": true, "2026/01/02 x": true, "2026-01/02": false, "10:28:48": true, "10:28-48": false, "10:28:4": false, "Jan  2 10:28:48 x": true, "Jan 12 10:28:48": true, "Jan 12 10:28:4": false, "Jan 12 10-28:48": false, "Jan112 10:28:48": false, "Ja1 12 10:28:48": false, "J 1 12 10:28:48": false, "Jan x2 10:28:48": true, "Jan 1x 10:28:48": false, "Jan 12 10:28-48": false, "[2026-01-02]": true, "(10:28:48)": true,
		"INFO x": true, "x INFO": true, "INFORM": false, "xINFO": false, "level=info": true, "[warn] x": true, "words only": false, "": false, strings.Repeat("x ", 28) + "INFO": true, strings.Repeat("x ", 29) + "INFO": false,
	} {
		if got := isLogged(text); got != want {
			t.Errorf("isLogged(%q) = %v, want %v", text, got, want)
		}
	}
	for _, same := range [][2]string{{"request 12 took 3ms", "request 7 took 400ms"}, {"id 3fa9 ok", "id 71bc ok"}, {"0", "00"}} {
		if shape(same[0]) != shape(same[1]) {
			t.Errorf("%q and %q have different shapes", same[0], same[1])
		}
	}
	for _, apart := range [][2]string{{"request 12", "request a"}, {"id abc", "id abd"}, {"3g", "3"}, {"a 1", "a"}} {
		if shape(apart[0]) == shape(apart[1]) {
			t.Errorf("%q and %q have the same shape", apart[0], apart[1])
		}
	}
}

func TestIsReducedRecognizesTheFirstLine(t *testing.T) {
	for text, want := range map[string]bool{
		"[tidied — it came before · ~9 tokens in full: recall 3f9a2c1b70de]\nx": true, "[tidied — it came before · ~9 tokens]": true, "[tidied — it came before]\nx": false, "[tidied by hand · ~9]": false,
		"[tidied — a · ~9 tokens\n]": false, "": false, "[tidied — " + strings.Repeat("x", 300) + " · ~9]": false, " [tidied — a · ~9]": false,
	} {
		if got := IsReduced(text); got != want {
			t.Errorf("IsReduced(%.60q) = %v, want %v", text, got, want)
		}
	}
}

func TestDraftsOfBlankLinesHaveNothingInside(t *testing.T) {
	for _, text := range []string{"", "\n", strings.Repeat("\n", 40), "Output:\n" + strings.Repeat("\n", 40), strings.Repeat("\n", 40) + "</output>\n"} {
		if from, to := newDraft(text).inner(); from != to {
			t.Errorf("%q: lines [%d, %d) are inside the frame", text, from, to)
		}
	}
}

func TestNumberedFilesBeginAtAnyNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"7\ta\n8\tb\n9\tc": true, "0\ta\n1\tb\n2\tc": true, "7\ta\n8\tb\nc": false, "7\ta\n9\tb\n11\tc": false, "7\ta\n8\tb": false, "a\nb\nc": false,
	} {
		d := newDraft(text)
		if got := d.numbered(0, len(d.lines)); got != want {
			t.Errorf("numbered(%q) = %v, want %v", text, got, want)
		}
	}
}

// A method of a class, which is indented by four, is as informative as the class.
func TestDeclarationsRankByTheirIndentation(t *testing.T) {
	for depth, want := range map[int]uint8{0: good, 2: good, 4: good, 5: some, 8: some} {
		if got := rankAt(depth); got != want {
			t.Errorf("a declaration that is indented by %d has the rank %d, want %d", depth, got, want)
		}
	}
}

func TestUnprefixedRemovesTheNameOfATask(t *testing.T) {
	for text, want := range map[string]string{
		"@scope/name test: ok 1": "ok 1", "name build:  ok 1": "ok 1", "name lint: ok 1": "ok 1", "name:test: ok 1": "ok 1", "name:build: ok 1": "ok 1", "name:lint: ok 1": "ok 1",
		"  ok 1": "ok 1", "test: ok 1": "test: ok 1", "error: ok 1": "error: ok 1", "latest: ok 1": "latest: ok 1", "": "",
		strings.Repeat("x", 60) + " test: ok 1": strings.Repeat("x", 60) + " test: ok 1",
	} {
		if got := unprefixed(text); got != want {
			t.Errorf("unprefixed(%q) = %q, want %q", text, got, want)
		}
	}
}
