package testrun_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/testrun"
)

func TestWrapperRecognizesTheRunnersOwnLines(t *testing.T) {
	for line, want := range map[string]bool{
		"npm error Lifecycle script `build` failed with error:": true,
		"npm ERR! code 1": true,
		" ELIFECYCLE  Command failed with exit code 1.": true,
		"husky - pre-commit script failed (code 1)":     true,
		`error: script "lint" exited with code 1`:       true,
		"[lint] ERROR task failed":                      true,
		"make: *** [Makefile:3: test] Error 1":          true,
		"error Command failed with exit code 2.":        true,
		"FAIL":                                          true,
		"FAIL\ta\t0.1s":                                 false,
		"":                                              false,
		"error: could not compile `a`":                  false,
		"--- FAIL: TestA":                               false,
		"src/a.ts(3,1): error TS2304: Cannot find name 'x'.":              false,
		"API source files changed but generated files are not staged!":    false,
		"a_test.go:3: the child was killed, and its parent went on alone": false,
	} {
		if got := testrun.Wrapper(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestDiagnosticNamesAPlaceInAFile(t *testing.T) {
	for line, want := range map[string]bool{
		"a/b.go:12:3: undefined: x":                                    true,
		"./a.go:12:3: undefined: x":                                    true,
		"a_test.go:12: got 3, want 4":                                  true,
		"src/a.ts(3,1): error TS2304: Cannot find name 'x'.":           true,
		"src/Tab.tsx:1037:25 lint/correctness/useExhaustive ━━━":       true,
		"12:5  error  'x' is assigned a value but never used  no-vars": true,
		"12:5  warning  'x' is never used  no-vars":                    false,
		"a.c:12:3: warning: unused variable":                           false,
		"a.py:12: DeprecationWarning: use b":                           false,
		"a.c:12:3: note: declared here":                                false,
		"2026/01/30 20:50:35 INFO started":                             false,
		"http://localhost:8080: connection refused":                    false,
		"12:30:11 the server was started":                              false,
		"a.go:12 is where it is":                                       false,
		"see a.go:12:3: it is there":                                   false,
		"v1.2:3: x":                                                    false,
		"error: it failed":                                             false,
		"":                                                             false,
	} {
		if got := testrun.Diagnostic(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	for line, want := range map[string]bool{"a_test.go:12: got 3": true, "a.go:12:3: undefined": false, "a.go:12:3 lint/x": false, "a.ts(3,1): error": false} {
		if got := testrun.Logged(line); got != want {
			t.Errorf("%q is logged: %v", line, got)
		}
	}
}

// The last line of almost every failure is the runner's line, which does not
// explain it.
func TestReadPrefersFindingsToTheRunnersOwnLines(t *testing.T) {
	for name, c := range map[string]struct{ output, says string }{
		"a type checker":            {"a.py:3: error: no attribute\nFound 1 error in 1 file\n", "a.py:3: error: no attribute"},
		"a linter in a script":      {"src/Tab.tsx:10:25 lint/correctness ━━\nFound 1 error.\nerror: script \"lint\" exited with code 1\n", "Found 1 error."},
		"only the runner":           {"src/Tab.tsx:10:25 lint/correctness ━━\nerror: script \"lint\" exited with code 1\n", "src/Tab.tsx:10:25 lint/correctness ━━"},
		"a compiler":                {"npm error code 1\nsrc/a.ts(5,15): error TS2305: no exported member\n", "src/a.ts(5,15): error TS2305: no exported member"},
		"counts before the runner":  {"npm ERR! code 1\nTests:  2 failed, 8 passed, 10 total\n", "Tests:  2 failed, 8 passed, 10 total"},
		"a package that broke":      {"# a\na.go:3:2: undefined: x\nFAIL\ta [build failed]\nFAIL\n", "a.go:3:2: undefined: x"},
		"a log is no diagnosis":     {"    hooks.go:19: the hook has run\nFAIL\ta\t0.1s\nFAIL\n", "FAIL\ta\t0.1s"},
		"a unittest, not its count": {"FAIL: test_a (t.A.test_a)\nFAILED (failures=1)\n", "FAIL: test_a (t.A.test_a)"},
		"a test of Gradle":          {"> Task :app:test FAILED\nLoginTest > rotation FAILED\n    java.lang.IllegalStateException at Login.kt:44\n4 tests completed, 1 failed\nBUILD FAILED in 21s\n", "LoginTest > rotation FAILED"},
		"the Kotlin compiler":       {"e: file:///app/src/Settings.kt:61:21 Unresolved reference: observe\nBUILD FAILED in 12s\n", "e: file:///app/src/Settings.kt:61:21 Unresolved reference: observe"},
		"an exception of Gradle":    {"com.android.builder.testing.api.DeviceException: No connected devices!\nBUILD FAILED in 6s\n", "com.android.builder.testing.api.DeviceException: No connected devices!"},
		"a task of Gradle":          {"> Task :app:lint FAILED\nBUILD FAILED in 6s\n", "> Task :app:lint FAILED"},
		"nothing but the runner":    {"npm ERR! code 1\n", "npm ERR! code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := testrun.Read(c.output)
			if says := c.output[r.From:r.To]; says != c.says || r.Verdict != testrun.Failure {
				t.Errorf("%v %q, want %q", r.Verdict, says, c.says)
			}
		})
	}
	const passed = "a.go:3: the hook has run\nPASS\n"
	if r := testrun.Read(passed); r.Verdict != testrun.Success || passed[r.From:r.To] != "PASS" {
		t.Errorf("a passed run is read as %+v", r)
	}
}
