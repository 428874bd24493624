package tidy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A readCase is a result of a tool, and what a model must and must not find in its reduced
// form.
type readCase struct {
	name     string
	call     Call
	said     string
	text     string
	has, not []string
}

// inJSON returns a text in the form of the tools that put their output into JSON.
func inJSON(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func goTests(failing int) []string {
	out := slices.Concat(numbered("=== RUN   TestCase%d", 1, 60), []string{"    case_test.go:12: Price(1) = 59, want 60"}, numbered("=== RUN   TestCase%d", failing, 1), numbered("--- FAIL: TestCase%d (0.00s)", failing, 1), numbered("--- PASS: TestCase%d (0.00s)", 1, 60))
	return append(out, "FAIL", "FAIL\texample.org/shop\t0.1s")
}

var toReads = []readCase{
	{name: "the failures in a shell's JSON", call: command("go test -v"), text: inJSON(map[string]any{"stdout": together(goTests(61)), "stderr": "", "exit_code": 1}),
		has: []string{`Price(1) = 59, want 60\n`, `--- FAIL: TestCase61`, `"exit_code":1`, "failures and totals"}},
	{name: "the outline of a file in the content of an MCP server", call: Call{"mcp__fs__read", []byte(`{"path":"a/store.go"}`)}, said: "mend `Save`",
		text: inJSON([]any{map[string]any{"type": "text", "text": together([]string{"package store", ""}, numbered("\tx%d := \"a\\tb\"", 1, 120), []string{"func (s *Store) Save(v string) {", "\ts.v = \"a\\nb\"", "}"}, numbered("\ty%d := 1", 1, 120))}}),
		has:  []string{`func (s *Store) Save(v string) {\n\ts.v = \"a\\nb\"\n}`, `⋮ `, `"type":"text"`}},
	{name: "an array of errors", call: command("trivy"), said: "what is wrong in main_a.go?", text: "[" + strings.Join(numbered(`{"rule":"r%d","level":"error","message":"an error in the file"}`, 1, 150), ",") + `,{"rule":"x","level":"error","message":"an error in main_a.go"},` + strings.Join(numbered(`{"rule":"r%d","level":"error","message":"an error in the file"}`, 151, 150), ",") + "]", has: []string{`"r1"`, `"r300"`, "main_a.go", "more …"}, not: []string{`"r77"`}},
	{name: "an answer with its header", call: command("curl -i localhost/items"), text: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n[" + strings.Join(numbered(`{"id":%d,"name":"an item"}`, 1, 150), ",") + "]", has: []string{"HTTP/1.1 200 OK\nContent-Type: application/json\n\n[{\"id\":1,", `{"id":150,`, "more …"}, not: []string{`{"id":77,`}},
	{name: "keys without a value are no errors", call: command("curl -s localhost/jobs"), text: inJSON(slices.Collect(func(yield func(any) bool) {
		for i := range 300 {
			status, err := "done", any(nil)
			if i == 150 {
				status, err = "failed", "timeout after 30s"
			}
			if !yield(map[string]any{"id": i, "status": status, "error": err}) {
				return
			}
		}
	})), has: []string{"timeout after 30s", `"id":0`, `"id":299`}, not: []string{`"id":77,`}},
	{name: "the row with another status", call: command("kubectl get pods"), text: together([]string{"NAME   READY   STATUS"}, numbered("api-%d   1/1   Running", 1, 90), []string{"pay-1   0/1   CrashLoopBackOff"}, numbered("web-%d   1/1   Running", 1, 90)), has: []string{"CrashLoopBackOff", "NAME   READY"}},
	{name: "the cell with another value", call: command("psql -c 'select * from t'"), text: together([]string{" id | city", "----+------"}, numbered(" %d | Rome | x", 1, 90), []string{" 91 | Oslo | x"}, numbered(" %d | Rome | x", 92, 90)), has: []string{"| Oslo |"}},
	{name: "the request that the server refused", call: command("cat access.log"), text: together(numbered(`10.0.0.1 - - [04/Mar/2026:10:00:00 +0000] "GET /items/%d HTTP/1.1" 200 12`, 1, 90), []string{`10.0.0.1 - - [04/Mar/2026:10:00:00 +0000] "GET /pay HTTP/1.1" 500 12`}, numbered(`10.0.0.1 - - [04/Mar/2026:10:00:00 +0000] "GET /items/%d HTTP/1.1" 200 12`, 91, 90)), has: []string{`" 500 12`}},
	{name: "an error of klog", call: command("kubectl logs scheduler"), text: together(numbered("I0304 10:11:00.000000 1 sched.go:12] bound pod %d to a node", 1, 90), []string{"E0304 10:11:00.000000 1 sched.go:12] unable to bind a pod"}, numbered("I0304 10:11:00.000000 1 sched.go:12] bound pod %d to a node", 1, 90)), has: []string{"unable to bind a pod", "first occurrences"}},
	{name: "objects in lines are a log", call: command("docker logs api"), text: together(numbered(`{"msg":"served","n":%d,"at":"10:28:48"}`, 1, 90), []string{`{"msg":"no route to the host","n":3}`}, numbered(`{"msg":"served","n":%d,"at":"10:28:48"}`, 1, 90)), has: []string{"no route to the host", "first occurrences"}},
	{name: "an ordinary word that the task looks for", call: command("pip list"), said: "which version is numpy?", text: together(numbered("package%d 1.0", 1, 150), []string{"numpy 1.26.4"}, numbered("zpackage%d 1.0", 1, 150)), has: []string{"numpy 1.26.4"}},
	{name: "a path that the task looks for", call: command("npx eslint ."), said: "what is wrong in src/a77.ts?", text: together(numbered("/app/src/a%d.ts\n  1:5  warning  Unexpected console statement", 1, 150)), has: []string{"/app/src/a77.ts\n  1:5"}},
	{name: "an option that the task looks for", call: command("man grep"), said: "what does --only-matching do?", text: together(numbered("Sentence %d of the manual goes on.", 1, 90), []string{"  -o, --only-matching", "      Print only the parts that match."}, numbered("Sentence %d of the manual goes on.", 1, 90)), has: []string{"--only-matching\n      Print only the parts"}},
	{name: "the place that explains a frequent option", call: command("git help rebase"), said: "what does --autosquash do?", text: together(numbered("The option --autosquash is mentioned in sentence %d.", 1, 90), []string{"       --autosquash, --no-autosquash", "           Moves the commits."}, numbered("Sentence %d of the manual goes on.", 1, 90)), has: []string{"--no-autosquash\n           Moves the commits."}},
	{name: "a word in a very long line", call: command("cat app.txt"), said: "what is `_mouse_drag`?", text: strings.Repeat("word of a line ", 400) + "the _mouse_drag of it " + strings.Repeat("word of a line ", 400), has: []string{"the _mouse_drag of it", " chars … "}},
	{name: "a long line of code with the word error", call: command("cat app.min.js"), text: "/*! app */\n" + strings.Repeat(`a.on("x",function(error){return error});`, 200) + "\n", has: []string{"/*! app */\na.on", " chars … "}},
	{name: "the sections of a status", call: command("git status"), text: together([]string{"On branch main", "Changes not staged:"}, numbered("\tmodified: part%d/file.go", 1, 60), []string{"Untracked files:", "  (use \"git add\")"}, numbered("\tnew%d.go", 1, 60)), has: []string{"\nUntracked files:\n"}},
	{name: "the sections of a file of settings, whose comments are no headings", call: reading("/etc/app.ini"), text: together([]string{"# a", "", "# b", "", "# c", "[one]"}, numbered("error_%d = fatal error", 1, 120), []string{"", "[two]"}, numbered("key%d = 1", 1, 120)), has: []string{"\n[two]\n", "head and tail"}, not: []string{"error_30 "}},
	{name: "a script without an ending", call: reading("/usr/bin/run"), text: together([]string{"#!/bin/sh", "", "# one", "", "# two", "", "# three"}, numbered("echo of line %d", 1, 120), []string{"load_all () {"}, numbered("\techo of line %d", 1, 60), []string{"}"}), has: []string{"load_all () {", "outline"}},
	{name: "the frames of a stack are no code", call: command("java -jar app.jar"), text: together([]string{"Exception in thread main: java.lang.RuntimeException: start"}, numbered("\tat com.acme.Worker.run(Worker.java:%d)", 1, 60), []string{"Caused by: java.sql.SQLException: no connection"}, numbered("\tat com.acme.Pool.get(Pool.java:%d)", 1, 60)), has: []string{"Worker.java:1)", "no connection", "Pool.java:60)"}},
	{name: "how many declarations an outline leaves out", call: reading("/src/store.go"), text: together([]string{"package store"}, numbered("func Load%d() int {\n\treturn 1\n}", 1, 90)), has: []string{"func Load1() int {", " declarations)"}},
	{name: "words of the path name no part of a file", call: Call{"Read", []byte(`{"file_path":"/lib/my_pkg/__init__.py"}`)}, said: "how does basicConfig work?", text: together(numbered("class A%d:\n    def __init__(self):\n        self.x = 1\n        self.y = 2\n        self.z = 3", 1, 40), []string{"def basicConfig(**kwargs):", "    lock()", "    load()"}), has: []string{"def basicConfig(**kwargs):\n    lock()"}},
	{name: "the hits of one file", call: command("grep -n err server.go"), text: together(numbered("%d:\treturn err", 10, 90), []string{"200:\treturn ErrHijacked // `err`"}, numbered("%d:\treturn err", 300, 90)), said: "where is ErrHijacked?", has: []string{"200:\treturn ErrHijacked", "⋮ ", "first hits"}},
	{name: "groups of hits in one file", call: command("grep -rn -C1 Load ."), text: strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range 60 {
			if !yield(fmt.Sprintf("./store.go-%d-\tx := 1\n./store.go:%d:\tLoad()\n./store.go-%d-\ty := 1\n", 9*i+1, 9*i+2, 9*i+3)) {
				return
			}
		}
	}), "--\n"), has: []string{"./store.go: ⋮ ", " of 180 lines"}},
	{name: "the sum below hits", call: command("mypy ."), text: together(numbered("src/a%d.py:1: note: see the documentation", 1, 90), []string{"Found 90 notes in 90 files"}), has: []string{"Found 90 notes"}},
	{name: "the folders of absolute paths", call: command("find /usr/local/go/src"), text: together(filesIn("/usr/local/go/src/net/", ".go", 60), filesIn("/usr/local/go/src/fmt/", ".s", 60)), has: []string{"/usr/local/go/src/net/⋮", "/usr/local/go/src/fmt/⋮"}},
	{name: "what a test expected", call: command("npx jest"), text: together(numbered("PASS src/part%d.test.js", 1, 90), []string{"FAIL src/cart.test.js", "  ● cart › adds item 7", "", "    expect(received).toBe(expected)", "", "    Expected: 3", "    Received: 4", "", "      10 |   cart.add(7)", "    > 11 |   expect(cart.n).toBe(3)"}, numbered("PASS src/rest%d.test.js", 1, 90), []string{"Tests: 1 failed, 180 passed"}), has: []string{"● cart › adds item 7", "Expected: 3", "Received: 4", "> 11 |"}},
	{name: "what pytest compared", call: command("pytest"), text: together([]string{"=== FAILURES ==="}, strings.Split(strings.TrimSuffix(strings.Repeat("    def test_a():\n        x = load()\n        y = load()\n        z = load()\n>       assert x == y\nE       assert 3 == 4\n", 40), "\n"), "\n"), []string{"FAILED test_a.py::test_a", "=== 40 failed ==="}), has: []string{"E       assert 3 == 4"}},
	{name: "a test that is not ok", call: command("node --test"), text: together([]string{"TAP version 13"}, numbered("ok %d - case\n  ---\n  duration_ms: 1.1\n  ...", 1, 60), []string{"not ok 61 - adds", "  ---", "  expected: 3", "  actual: 4", "  ..."}, numbered("ok %d - case\n  ---\n  duration_ms: 1.1\n  ...", 62, 60), []string{"# pass 121", "# fail 1"}), has: []string{"not ok 61 - adds", "expected: 3", "actual: 4", "# fail 1"}},
	{name: "the changes that the task names", call: command("git diff"), said: "what changed in `load_all`?", text: together(numbered("diff --git a/f.go b/f%d.go\n--- a/f.go\n+++ b/f.go\n@@ -1,3 +1,3 @@\n-\told()\n+\tnew()", 1, 40), []string{"diff --git a/g.go b/g.go", "--- a/g.go", "+++ b/g.go", "@@ -1,9 +1,9 @@", "-\tload_all(1)", "-\tone()", "+\tload_all(2)", "+\ttwo()"}, numbered("diff --git a/h.go b/h%d.go\n--- a/h.go\n+++ b/h.go\n@@ -1,3 +1,3 @@\n-\told()\n+\tnew()", 1, 40)), has: []string{"-\tload_all(1)\n-\tone()\n+\tload_all(2)\n+\ttwo()"}},
	{name: "a key that the task names, in a document of large objects", call: command("cat api.json"), said: "what does POST /refunds take?", text: `{"paths":{` + strings.Join(numbered(`"/items%d":{"get":{"summary":"Get it","responses":{"200":{"description":"ok","type":"string"}}}}`, 1, 90), ",") + `,"/refunds":{"post":{"summary":"Refund"}},` + strings.Join(numbered(`"/more%d":{"get":{"summary":"Get it","responses":{"200":{"description":"ok","type":"string"}}}}`, 1, 90), ",") + "}}", has: []string{`"/refunds":{"post":{"summary":"Refund"}}`, "more …"}},
	{name: "sentences about errors in a file of a page", call: command("cat go1.html"), text: together([]string{"<html>", "<body>"}, numbered("<p>An error of kind %d is described here: it is no outcome.</p>", 1, 120), []string{"</body>", "</html>"}), has: []string{"<html>", "</html>", "of kind 1 "}, not: []string{"of kind 60 "}},
	{name: "the first lines with each of two frequent words", call: command("./replay"), said: "what do `apples` and `cherries` cost?", text: together(numbered("plums cost %d", 100, 60), numbered("apples cost %d", 200, 40), numbered("plums cost %d", 300, 60), numbered("cherries cost %d", 400, 40), numbered("plums cost %d", 500, 60)), has: []string{"apples cost 200", "cherries cost 400"}, not: []string{"cost 225", "cost 425"}},
	{name: "the header in front of a page", call: command("curl -v https://example.org"), text: together([]string{"> GET /x HTTP/1.1", "< HTTP/1.1 404 Not Found", "< Content-Type: text/html", "<", "<!doctype html><html><body><h1>Gone</h1>"}, numbered("<p>The sentence %d goes on.</p>", 1, 120), []string{"</body></html>"}), has: []string{"< HTTP/1.1 404 Not Found", "# Gone"}, not: []string{"<p>"}},
}

func TestReduceLeavesWhatAReaderLooksFor(t *testing.T) {
	for _, x := range toReads {
		o := Options{Large: 500}
		r := &Result{Text: x.text, Call: x.call, Said: []string{x.said, string(x.call.Args)}, Tokens: len(x.text) / bytesPerToken}
		out, ok := Reduce(r, o)
		got := out.Render(x.text, 9, testRef)
		if !ok || 4*len(got) > 3*len(x.text) {
			t.Errorf("%s: %d bytes are left of %d, want at most three quarters", x.name, len(got), len(x.text))
			continue
		}
		for _, s := range x.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s: want %q in the reduced result\n%.3000s", x.name, s, got)
			}
		}
		for _, s := range x.not {
			if strings.Contains(got, s) {
				t.Errorf("%s: want no %q in the reduced result\n%.3000s", x.name, s, got)
			}
		}
		if broken := holds(r, o); broken != "" {
			t.Errorf("%s: %s", x.name, broken)
		}
		if broken := misread(x.text, got); broken != "" {
			t.Errorf("%s: %s in\n%.3000s", x.name, broken, got)
		}
	}
}

var gapLine = regexp.MustCompile(`^⋮ (\d+)(?:–(\d+)(?: \(\d+ declarations\))?)?$`)

// misread compares the lines that are shown with the original, and the numbers in the gaps
// with the places of the lines. It returns "" for results without gaps. It shares no code
// with the reducers.
func misread(text, got string) string {
	first, body, _ := strings.Cut(got, "\n")
	if strings.HasPrefix(first, "[tidied — JSON with ") {
		return misreadJSON(text, body)
	}
	if !slices.ContainsFunc(strings.Split(body, "\n"), gapLine.MatchString) || strings.Contains(first, "page") {
		return ""
	}
	broken, left := compareLines(strings.Split(text, "\n"), strings.Split(body, "\n"))
	if said := fmt.Sprintf("%d of %d line", left, strings.Count(text, "\n")); broken == "" && !strings.Contains(first, said) {
		return "the first line does not say " + said
	}
	return broken
}

func compareLines(was, is []string) (broken string, left int) {
	at := 0
	for _, line := range is {
		m := gapLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			from, _ := strconv.Atoi(m[1])
			to := from
			if m[2] != "" {
				to, _ = strconv.Atoi(m[2])
			}
			if from != at+1 || to > len(was) {
				return fmt.Sprintf("%q stands for the lines from %d on", line, at+1), left
			}
			left += to - from + 1
			at = to
		case at == len(was) || line != was[at] && !strings.Contains(line, " chars … "):
			return fmt.Sprintf("%q is not line %d", line, at+1), left
		default:
			at++
		}
	}
	if at != len(was) {
		return fmt.Sprintf("it ends at line %d of %d", at, len(was)), left
	}
	return "", left
}

// misreadJSON compares the texts in two JSON documents.
func misreadJSON(was, is string) string {
	a, b := textsIn(was), textsIn(is)
	if len(a) != len(b) {
		return fmt.Sprintf("%d texts became %d, or it is not JSON", len(a), len(b))
	}
	for i := range a {
		if broken, _ := compareLines(strings.Split(a[i], "\n"), strings.Split(b[i], "\n")); broken != "" {
			return broken
		}
	}
	return ""
}

// textsIn returns the strings of a JSON document, in the order of their keys.
func textsIn(data string) (out []string) {
	var v any
	if json.Unmarshal([]byte(data), &v) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(func(yield func(string) bool) {
				for k := range v {
					if !yield(k) {
						return
					}
				}
			}) {
				walk(v[k])
			}
		}
	}
	walk(v)
	return out
}

// Blank lines at the beginning of a file count, so that the numbers are those of the file.
func TestGapsCountBlankLinesAtTheBeginning(t *testing.T) {
	text := "\n\n" + together(numbered("words of the program, number %d", 1, 90))
	out, ok := Reduce(&Result{Text: text, Call: command("cat notes"), Tokens: 800}, Options{Large: 100})
	if broken := misread(text, out.Render(text, 9, testRef)); !ok || broken != "" {
		t.Errorf("reduced is %v, want true and correct numbers: %s", ok, broken)
	}
}

func TestIsEmptyValueRecognizesValues(t *testing.T) {
	for text, want := range map[string]bool{
		`": null,`: true, `":false}`: true, `=nil`: true, `: <nil>`: true, `": ""`: true, `": []`: true, `": {}`: true, `: None`: true,
		`": "x"`: false, `: nullable`: false, ` null`: false, ``: false, `: `: false, `": {"a":1}`: false, `": [1]`: false,
	} {
		if got := isEmptyValue(text); got != want {
			t.Errorf("isEmptyValue(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestSpotsExcludeFrequentWords(t *testing.T) {
	for _, tc := range []struct {
		said, text string
		want       []int
	}{
		{"where is numpy?", "a numpy b", []int{2}},
		{"where is numpy?", "numpyx xnumpy", []int{}},
		{"where is numpy?", strings.Repeat("numpy\n", 4), []int{0, 6, 12, 18}},
		{"where is numpy?", strings.Repeat("numpy\n", 5), []int{}},
		{"where is a-path?", strings.Repeat("a-path\n", 5), []int{0, 7, 14, 21}},
		{"where is the what", "where is the what", []int{}},
		{"`x.y`", "x.y", []int{}},
	} {
		r := &Result{Text: tc.text, Said: []string{tc.said}}
		if got := r.spots(); !slices.Equal(got, tc.want) {
			t.Errorf("%q has the spots %v in %q, want %v", tc.said, got, tc.text, tc.want)
		}
	}
}

// A document stays JSON wherever a string of it is cut.
func TestCutStringsAreStillJSON(t *testing.T) {
	for _, unit := range []string{`a"`, "\\", `b\"`, "\u0001", "ä\x02", "a\nb"} {
		for n := range 12 {
			text := inJSON(map[string]string{"a": strings.Repeat("x", n) + strings.Repeat(unit, 9000) + " the needle_1 " + strings.Repeat(unit, 9000) + strings.Repeat("y", n)})
			r := &Result{Text: text, Said: []string{"find needle_1"}, Tokens: len(text) / bytesPerToken}
			out, ok := Reduce(r, only("json"))
			got := render(text, out.Segments)
			if !ok || !json.Valid([]byte(got)) || !strings.Contains(got, "needle_1") && !strings.Contains(unit, "\n") {
				t.Errorf("%q after %d letters: %v, %.300s … %.300s, want true", unit, n, ok, got, got[max(len(got)-300, 0):])
			}
		}
	}
}
