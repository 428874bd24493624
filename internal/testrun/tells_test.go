package testrun_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/testrun"
)

func TestTellsFindsTheLineAboutTheEnd(t *testing.T) {
	const trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n"
	for name, c := range map[string]struct {
		output string
		failed bool
		want   testrun.Verdict
		says   string
	}{
		"a test that failed goes first":                          {"fatal: it is over\n--- FAIL: TestA\n", true, testrun.Failure, "--- FAIL: TestA"},
		"a place in a file":                                      {"error: hook failed\na/b.go:12:3: undefined: x\n", true, testrun.Failure, "a/b.go:12:3: undefined: x"},
		"a position in a file is no failure in a successful run": {"a/b.go:12:3: undefined: x\n", false, testrun.None, ""},
		"the first error":                                        {"warming up\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs\n", true, testrun.Failure, "! [rejected] main -> main (fetch first)"},
		"the last line with a word for a failure":                {"the file was not found\nOn branch main\nnothing to commit, working tree clean\nbye\n", true, testrun.Failure, "nothing to commit, working tree clean"},
		"not the runner's report about itself":                   {"no such table\nhusky - pre-commit script failed (code 1)\n", true, testrun.Failure, "no such table"},
		"no success in a failed run":                             {"✓ one\n", true, testrun.None, ""},
		"an exception":                                           {trace + "shop.TooLarge: 12 rows\nbye\n", true, testrun.Failure, "shop.TooLarge: 12 rows"},
		"the last of two exceptions":                             {trace + "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" + trace + "ValueError: b\n", true, testrun.Failure, "ValueError: b"},
		"an exception after a pipe":                              {trace + "ValueError: b\n", false, testrun.Failure, "ValueError: b"},
		"a success after an exception":                           {trace + "ValueError: b\n✓ All rules hold\n", false, testrun.Success, "✓ All rules hold"},
		"the last failure":                                       {"✓ done\n❌ two\n", false, testrun.Failure, "❌ two"},
		"a commit":                                               {"[main 1a2b3c4] Cut the list\n✓ hook\n", false, testrun.Success, "[main 1a2b3c4] Cut the list"},
		"no commit":                                              {"[main 12] Cut the list\n[x]\n[info] a3b\n", false, testrun.None, ""},
		"a push":                                                 {"To example.org:a.git\n   1a2b3c4..5d6e7f8  main -> main\n", false, testrun.Success, "1a2b3c4..5d6e7f8  main -> main"},
		"a range outside a push":                                 {"see 1..2 and 3 -> 4\n", false, testrun.None, ""},
		"the count of a runner":                                  {"12 passed in 0.3s\nbye\n", false, testrun.Success, "12 passed in 0.3s"},
		"a list without a conclusion":                            {"✓ a\n✓ b\n", false, testrun.None, ""},
		"the concluding line":                                    {"✓ a\n✓ b\n✓ All of them hold\n✓ c\n", false, testrun.Success, "✓ All of them hold"},
		"without the frame":                                      {"==== 2 passed in 0.1s ====\n", false, testrun.Success, "2 passed in 0.1s"},
		"a failure without the frame":                            {"==== 1 failed in 0.1s ====\n", true, testrun.Failure, "1 failed in 0.1s"},
		"only signs":                                             {"✓\n---\n", false, testrun.None, ""},
		"nothing":                                                {"", true, testrun.None, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrun.Tells(c.output, c.failed, "")
			if says := c.output[r.From:r.To]; r.Verdict != c.want || says != c.says {
				t.Errorf("%v %q, want %v %q", r.Verdict, says, c.want, c.says)
			}
		})
	}
}

// Successes before an end from outside, before an error, or in words that the command
// prints in any case, do not describe the end of the command.
func TestTellsIgnoresAContradictedSuccess(t *testing.T) {
	const ok = "ok  \texample.org/a\t0.1s\n"
	for name, c := range map[string]struct{ output, printed, says string }{
		"timed out":                             {ok + "Command timed out after 120000ms\n", "", "Command timed out after 120000ms"},
		"timed out, as the first line":          {"Error: Command timed out after 2m 0.0s\n" + ok, "", "Error: Command timed out after 2m 0.0s"},
		"interrupted":                           {ok + "^C\n", "", "^C"},
		"killed":                                {"✅ step one complete\nKilled\n", "", "Killed"},
		"a part was terminated earlier":         {ok + "Terminated\n" + ok, "", strings.TrimSpace(ok)},
		"still running":                         {"Process running with session ID 7\n" + ok, "", ""},
		"an error after a commit":               {"[main 1a2b3c4] Cut the list\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs\n", "", "error: failed to push some refs"},
		"an error before a commit":              {"error: no cache\n[main 1a2b3c4] Cut the list\n", "", "[main 1a2b3c4] Cut the list"},
		"a warning after a commit":              {"[main 1a2b3c4] Cut the list\n⚠ no hook\n", "", "[main 1a2b3c4] Cut the list"},
		"interrupted after a commit":            {"[main 1a2b3c4] Cut the list\n^C\n", "", "^C"},
		"a commit after an interrupt":           {"^C\nOnce more.\n[main 1a2b3c4] Cut the list\n", "", "^C"},
		"a commit after a terminated part":      {"Cleaning.\nTerminated\n[main 1a2b3c4] Cut the list\n", "", "[main 1a2b3c4] Cut the list"},
		"a log shows a commit":                  {"commit 5d6e7f8\n\n    [main 1a2b3c4] Cut the list\n", "", ""},
		"git had nothing to do":                 {"On branch main\nnothing to commit, working tree clean\n", "", "nothing to commit, working tree clean"},
		"a commit, then git status":             {"[main 1a2b3c4] Cut the list\nnothing to commit, working tree clean\n", "", "[main 1a2b3c4] Cut the list"},
		"tests, then git status":                {ok + "nothing to commit, working tree clean\n", "", strings.TrimSpace(ok)},
		"a line that the command prints itself": {"cannot find it\n✅ Build complete\n", `echo "✅ Build complete"`, ""},
		"a failure before such a line":          {"fatal: no such ref\n✅ Build complete\n", `echo "✅ Build complete"`, "fatal: no such ref"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := testrun.Tells(c.output, false, c.printed); c.output[r.From:r.To] != c.says {
				t.Errorf("%v %q, want %q", r.Verdict, c.output[r.From:r.To], c.says)
			}
		})
	}
}
