package strategy

import "testing"

func TestFailedTestLineIncludesReason(t *testing.T) {
	for result, want := range map[string]string{
		"--- FAIL: TestX (1.02s)\n    rt_test.go:31: dial tcp 127.0.0.1:6543: connect: connection refused\nFAIL\nFAIL\ta\t1s":                         "--- FAIL: TestX (1.02s): rt_test.go:31: dial tcp 127.0.0.1:6543: connect: connection refused",
		"--- FAIL: TestX (0s)\n    --- FAIL: TestX/a (0s)\n        x_test.go:9: got 3, want 2\nFAIL":                                                  "--- FAIL: TestX (0s): x_test.go:9: got 3, want 2",
		"--- FAIL: TestX (0s)\n    x_test.go:3: it begins\n    x_test.go:9: got 3, want 2\n    x_test.go:10: it ends\nFAIL":                           "--- FAIL: TestX (0s): x_test.go:9: got 3, want 2",
		"=== RUN   TestW\n    w_test.go:1: want w\n--- PASS: TestW (0s)\n=== RUN   TestX\n    x_test.go:9: got 3, want 2\n--- FAIL: TestX (0s)\nFAIL": "--- FAIL: TestX (0s): x_test.go:9: got 3, want 2",
		"--- FAIL: TestX (0s)\n--- FAIL: TestY (0s)\n    y_test.go:9: got 3, want 2\nFAIL":                                                            "--- FAIL: TestX (0s)",
		"--- FAIL: TestX (0s)\n    got 3 files, want 2\nFAIL":                                                                                         "--- FAIL: TestX (0s)",
		"FAIL\ta\t0.1s\n": "FAIL a 0.1s",
	} {
		if got := ranCommand("go test ./...", result).wrong(); got != want {
			t.Errorf("%q: got %q, want %q", result, got, want)
		}
	}
}

// The line of a failure quotes the tool that failed, because the last line of the output is
// mostly about the runner.
func TestFailureLineQuotesToolNotRunner(t *testing.T) {
	for _, c := range []struct{ cmd, result, want string }{
		{"npm run publish", "Exit code 1\n> build\n\nsrc/theme.ts(5,15): error TS2305: Module 'x' has no exported member 'y'.\nnpm error Lifecycle script `build` failed with error:\nnpm error code 1\n\nCommand exited with code 1", "src/theme.ts(5,15): error TS2305: Module 'x' has no exported member 'y'."},
		{"mise run lint", "Exit code 1\n[lint] $ golangci-lint run\nstate_test.go:186:2: string `a` has 3 occurrences (goconst)\n\tfmt.Fprintf(os.Stderr, \"Warning: failed: %v\", err)\n[lint] ERROR task failed", "state_test.go:186:2: string `a` has 3 occurrences (goconst)"},
		{"git commit -m x", "Exit code 1\n\n⚠️  API source files changed but generated client files are not staged!\n\nYou modified DTOs.\n\nhusky - pre-commit script failed (code 1)", "⚠️ API source files changed but generated client files are not staged!"},
		{"bun run lint", "src/Tab.tsx:10:25 lint/correctness/useExhaustive\nerror: script \"lint\" exited with code 1", "src/Tab.tsx:10:25 lint/correctness/useExhaustive"},
		{"go test ./... -v", "Exit code 1\n=== RUN   TestInvalidJSON\nFAIL", "FAIL"},
		{"npm run deploy", "Exit code 1\nnpm error code 1\nnpm error 404 No match found for version 4", "npm error 404 No match found for version 4"},
	} {
		if got := ranCommand(c.cmd, c.result).wrong(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.cmd, got, c.want)
		}
	}
	if got := ranCommand("grep -n x a.go", "Exit code 2\na.go:12: a line\na.go:13: b\na.go:14: c\ngrep: b.go: No such file").ErrorLine(); got != "grep: b.go: No such file" {
		t.Errorf("failed search: got %q, want the message of grep", got)
	}
}
