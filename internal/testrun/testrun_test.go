package testrun_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/testrun"
)

func TestReadFindsTheLineThatStatesTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   testrun.Verdict
		says   string
	}{
		"go, failed":                   {"=== RUN TestA\n  --- FAIL: TestA (0.0s)\nFAIL\nFAIL\ta\t0.1s\n", testrun.Failure, "--- FAIL: TestA (0.0s)"},
		"go, a bare line names less":   {"FAIL\nFAIL\ta\t0.1s\n", testrun.Failure, "FAIL\ta\t0.1s"},
		"the first that names it":      {"--- FAIL: TestA\n--- FAIL: TestB\n", testrun.Failure, "--- FAIL: TestA"},
		"a failure outweighs":          {"FAIL\ta\t0.1s\nok  \tb\t0.1s\n", testrun.Failure, "FAIL\ta\t0.1s"},
		"the last success":             {"ok  \ta\t0.1s\nok  \tb\t0.1s\n", testrun.Success, "ok  \tb\t0.1s"},
		"terminal codes":               {"\x1b[32m 12 passed\x1b[0m in 1s\r\n", testrun.Success, "\x1b[32m 12 passed\x1b[0m in 1s"},
		"nothing ran":                  {"ok  \ta\t0.1s [no tests to run]\n?\tb\t[no test files]\n", testrun.None, ""},
		"counts of a runner":           {"Tests:  2 failed, 8 passed, 10 total\n", testrun.Failure, "Tests:  2 failed, 8 passed, 10 total"},
		"none failed":                  {"Tests:  0 failed, 8 passed, 8 total\n", testrun.Success, "Tests:  0 failed, 8 passed, 8 total"},
		"prose with a number":          {"The deployment of the 3 failed services was repeated by hand this morning.\n", testrun.None, ""},
		"no line end":                  {"PASS", testrun.Success, "PASS"},
		"nothing":                      {"", testrun.None, ""},
		"what follows 2000 bytes":      {strings.Repeat(" ", 3000) + "PASS\n", testrun.None, ""},
		"typescript":                   {"src/a.ts(3,1): error TS2304: Cannot find name 'x'.\n", testrun.Failure, "src/a.ts(3,1): error TS2304: Cannot find name 'x'."},
		"a linter without an error":    {"✖ 3 problems (0 errors, 3 warnings)\n", testrun.None, ""},
		"the status of the runner":     {"error Command failed with exit code 1.\n", testrun.Failure, "error Command failed with exit code 1."},
		"a status that is no failure":  {"Done, exiting with code 0\n", testrun.None, ""},
		"a line number is not a count": {"12: passed the value on\n", testrun.None, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrun.Read(c.output)
			if says := c.output[r.From:r.To]; r.Verdict != c.want || says != c.says {
				t.Errorf("%v %q, want %v %q", r.Verdict, says, c.want, c.says)
			}
		})
	}
}

func TestUncolored(t *testing.T) {
	for in, want := range map[string]string{"plain": "plain", "\x1b[1;31mred\x1b[0m": "red", "end\x1b": "end", "end\x1b[": "end", "\x1b[38;5;12mx": "x"} {
		if got := testrun.Uncolored(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// BenchmarkRead reads outputs of 1 MB: plain lines, and lines full of terminal codes.
func BenchmarkRead(b *testing.B) {
	for name, line := range map[string]string{"plain": "    at Object.<anonymous> (src/store/index.ts:120:31)\n", "colored": strings.Repeat("\x1b[32mx\x1b[0m", 180) + "\n"} {
		output := strings.Repeat(line, 1<<20/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				testrun.Read(output)
			}
		})
	}
}
