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
		"go, failed":                       {"=== RUN TestA\n  --- FAIL: TestA (0.0s)\nFAIL\nFAIL\ta\t0.1s\n", testrun.Failure, "--- FAIL: TestA (0.0s)"},
		"go, a bare FAIL names no package": {"FAIL\nFAIL\ta\t0.1s\n", testrun.Failure, "FAIL\ta\t0.1s"},
		"the first named failure":          {"--- FAIL: TestA\n--- FAIL: TestB\n", testrun.Failure, "--- FAIL: TestA"},
		"a failure outweighs a success":    {"FAIL\ta\t0.1s\nok  \tb\t0.1s\n", testrun.Failure, "FAIL\ta\t0.1s"},
		"the last success":                 {"ok  \ta\t0.1s\nok  \tb\t0.1s\n", testrun.Success, "ok  \tb\t0.1s"},
		"terminal codes":                   {"\x1b[32m 12 passed\x1b[0m in 1s\r\n", testrun.Success, "\x1b[32m 12 passed\x1b[0m in 1s"},
		"nothing ran":                      {"ok  \ta\t0.1s [no tests to run]\n?\tb\t[no test files]\n", testrun.None, ""},
		"counts of a runner":               {"Tests:  2 failed, 8 passed, 10 total\n", testrun.Failure, "Tests:  2 failed, 8 passed, 10 total"},
		"none failed":                      {"Tests:  0 failed, 8 passed, 8 total\n", testrun.Success, "Tests:  0 failed, 8 passed, 8 total"},
		"prose with a number":              {"The deployment of the 3 failed services was repeated by hand this morning.\n", testrun.None, ""},
		"no line end":                      {"PASS", testrun.Success, "PASS"},
		"nothing":                          {"", testrun.None, ""},
		"text after 2000 bytes":            {strings.Repeat(" ", 3000) + "PASS\n", testrun.None, ""},
		"typescript":                       {"src/a.ts(3,1): error TS2304: Cannot find name 'x'.\n", testrun.Failure, "src/a.ts(3,1): error TS2304: Cannot find name 'x'."},
		"a linter without an error":        {"✖ 3 problems (0 errors, 3 warnings)\n", testrun.None, ""},
		"the status of the runner":         {"error Command failed with exit code 1.\n", testrun.Failure, "error Command failed with exit code 1."},
		"a status that is no failure":      {"Done, exiting with code 0\n", testrun.None, ""},
		"a line number is not a count":     {"12: passed the value on\n", testrun.None, ""},
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
	for in, want := range map[string]string{"plain": "plain", "\x1b[1;31mred\x1b[0m": "red", "end\x1b": "end", "end\x1b[": "end", "\x1b[38;5;12mx": "x",
		"\x1b[Ax": "x", "\x1b[Zx": "x", "\x1b[ax": "x", "\x1b[zx": "x", "a\x1b[1mb\x1b[0mc": "abc",
		"\x1b[11111111111111x": "111x"} {
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

func TestLine(t *testing.T) {
	long := strings.Repeat("x", 70)
	for line, want := range map[string]testrun.Verdict{
		"== 3 failed, 2 passed in 0.5s ==":               testrun.Failure,
		"== 2 passed in 0.5s ==":                         testrun.Success,
		"11:40:02 [ERROR] Build failed in 402ms":         testrun.Failure,
		"11:40:02 ERROR of a request":                    testrun.None,
		"11x40:02 [ERROR] of a request":                  testrun.None,
		"== 0 passed in 0.5s ==":                         testrun.None,
		"== 1 passed in 0.5s ==":                         testrun.Success,
		"3 failed, 10 passed":                            testrun.Failure,
		"10 passed, " + long:                             testrun.None, // counts are in short lines
		"10 passed " + strings.Repeat("x", 49):           testrun.Success,
		"10 passed " + strings.Repeat("x", 50):           testrun.None,
		"we saw 3 failed":                                testrun.None,
		"3 of them failed":                               testrun.None,
		"10 things, 1 failing":                           testrun.None,
		"10 specs, 1 failing":                            testrun.Failure,
		"Tests  failed":                                  testrun.None, // no number
		"Tests: 0 failed, 0 passed":                      testrun.None,
		"Tests: :0 failed, /9 passed":                    testrun.Success,
		"Tests: 12;9 passed":                             testrun.Success,
		"No tests found, exiting with code 1":            testrun.Failure,
		"No tests found, exiting with code 9":            testrun.Failure,
		"No tests found, exiting with code 0":            testrun.None,
		"No tests found, exiting with code :":            testrun.None,
		"exiting with code ":                             testrun.None,
		"exiting soon, command failed with exit code 2":  testrun.Failure,
		"the answer came with code 404":                  testrun.None,
		"1 exiting":                                      testrun.None,
		"error Command failed with exit code 0.":         testrun.None,
		long + long + " exiting with code 1":             testrun.Failure, // 160 bytes
		long + long + " exiting with code 12":            testrun.None,
		"===== no tests ran in 0.01s =====":              testrun.Failure,
		"FAILED tests/test_a.py::test_b - assert 1 == 2": testrun.Failure,
		"ok  \texample.org/a\t0.1s [no tests to run]":    testrun.None,
		"OK (3 tests, 5 assertions)":                     testrun.Success,
		"Tests: 8, Assertions: 11, Errors: 1.":           testrun.Failure,
		"Tests: 8, Assertions: 11, Failures: 2.":         testrun.Failure,
		"Tests: 8, Assertions: 11, Skipped: 1.":          testrun.Success,
		"Tests run: 5, Failures: 0, Errors: 0":           testrun.Success,
		"Tests run: 5, Failures: 0, Errors: 1":           testrun.Failure,
		"[INFO] Tests run: 6, Failures: 0, Errors: 0":    testrun.Success,
		"Tests: 8":                testrun.None,
		"Failed: 1, because of x": testrun.None,
		"Passed!  - Failed:     0, Passed:    13, Skipped:     0, Total:    13, Duration: 2 s - Report.dll (net8.0)": testrun.Success,
		"Failed!  - Failed:     1, Passed:    12, Skipped:     0, Total:    13, Duration: 2 s - Report.dll (net8.0)": testrun.Failure,
		"22 examples, 0 failures":                                                testrun.Success,
		"22 examples, 1 failure":                                                 testrun.Failure,
		"0 examples, 0 failures":                                                 testrun.None,
		"9 runs, 12 assertions, 0 failures, 1 errors, 0 skips":                   testrun.Failure,
		"9 runs, 12 assertions, 0 failures, 0 errors, 0 skips":                   testrun.Success,
		"Executed 12 tests, with 1 failure (0 unexpected) in 0.5 (0.6) seconds":  testrun.Failure,
		"Executed 12 tests, with 0 failures (0 unexpected) in 0.5 (0.6) seconds": testrun.Success,
		"** TEST FAILED **":                                                      testrun.Failure,
		"** BUILD SUCCEEDED **":                                                  testrun.Success,
		"Build FAILED.":                                                          testrun.Failure,
		"Build succeeded.":                                                       testrun.Success,
		"Auth/Header.cs(19,31): error CS0103: The name 'X' does not exist":       testrun.Failure,
		"the log says: error CS0103":                                             testrun.None,
	} {
		if got := testrun.Line(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// A line that names the failure ranks above a line that does not.
func TestReadPrefersTheLineThatNamesTheFailure(t *testing.T) {
	for name, c := range map[string]struct{ output, says string }{
		"a test after its package":      {"FAIL\ta\t0.1s\n--- FAIL: TestA\n", "--- FAIL: TestA"},
		"a second test after the first": {"--- FAIL: TestA\n--- FAIL: TestB\nFAIL\tb\t0.1s\nFAIL\n", "--- FAIL: TestA"},
		"pytest's list at its end":      {"E   assert 1 == 2\nFAILED a.py::test_a\nFAILED a.py::test_b\n", "FAILED a.py::test_a"},
		"two bare lines":                {"FAIL\nFAIL\n", "FAIL"},
		"a bare line after a package":   {"FAIL\ta\t0.1s\nFAIL\n", "FAIL\ta\t0.1s"},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrun.Read(c.output)
			if says := c.output[r.From:r.To]; says != c.says || r.From != strings.Index(c.output, c.says) {
				t.Errorf("%q at %d, want the first %q", says, r.From, c.says)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for line, want := range map[string]struct {
		n  int
		ok bool
	}{
		"12 passed": {12, true}, "0 passed": {0, true}, " passed": {}, "passed": {}, "x passed": {}, "x 90 passed": {90, true}, "3/4 passed": {4, true}, "3:4 passed": {4, true},
		"1234567 passed": {1234567, true}, "12345678 passed": {2345678, true}, "some passed, 3 passing": {3, true}, "3 passing, 4 passed": {4, true},
	} {
		if n, ok := testrun.Count(line, " passed", " passing"); n != want.n || ok != want.ok {
			t.Errorf("%q: %d, %v, want %d, %v", line, n, ok, want.n, want.ok)
		}
	}
}
