package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// run is a command with its output.
type run struct{ cmd, result string }

// mendedBy reports whether the other runs mend the failure of the first run.
func mendedBy(t *testing.T, runs ...run) bool {
	t.Helper()
	h := historyOf(runs...)
	if h.Steps[0].Calls[0].Outcome != Failed {
		t.Fatalf("%q has not failed", runs[0].cmd)
	}
	return h.mended()[runs[0].cmd] > 0
}

// historyOf returns a history of commands.
func historyOf(runs ...run) *History {
	var msgs []message.Message
	for i, r := range runs {
		args := `{"command":` + quote(r.cmd) + `}`
		msgs = append(msgs, message.Assistant("", message.Call(itoa(i), "bash", args)), message.ToolResult(itoa(i), r.result))
	}
	return NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1, Count: func(s string) int { return len(s) / 4 }})
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

const (
	goFails   = "ok  \tx/policy\t0.2s\n--- FAIL: TestTorn (0.00s)\n    torn_test.go:9: got 3, want 2\nFAIL\nFAIL\tx/storage\t0.3s\nFAIL"
	pyFails   = "FAILED tests/test_a.py::test_one - assert 1 == 2\n=== 1 failed, 8 passed in 0.4s ==="
	oldLog    = "ok  \tx/policy\t0.2s\nok  \tx/storage\t0.1s"
	jestFails = "FAIL src/a.test.ts\nTest Suites: 1 failed, 5 passed, 6 total\nTests: 1 failed, 30 passed, 31 total"

	jestPasses  = "PASS src/a.test.ts\nTests: 3 passed, 3 total"
	cargoFails  = "test tests::it_works ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored"
	cargoPasses = "test tests::it_works ... ok\ntest result: ok. 1 passed; 0 failed"
)

func TestMendedRequiresATestOfTheSameNameToPass(t *testing.T) {
	for _, c := range []struct {
		name  string
		first run
		later []run
		want  bool
	}{
		{"the package of the failed test", run{"go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, true},
		{"another package", run{"go test ./...", goFails}, []run{{"go test ./policy", "ok  \tx/policy\t0.2s"}}, false},
		{"a part of the package", run{"go test ./...", goFails}, []run{{"go test ./storage -run Other", "ok  \tx/storage\t0.2s"}}, false},
		{"the failed test, by name", run{"go test ./...", goFails}, []run{{"go test ./storage -run Torn -v", "--- PASS: TestTorn (0.00s)\nPASS\nok  \tx/storage\t0.2s"}}, true},
		{"a test of the same name in another package", run{"go test ./...", goFails}, []run{{"go test ./policy -run Torn -v", "--- PASS: TestTorn (0.00s)\nPASS\nok  \tx/policy\t0.2s"}}, false},
		{"no test was run", run{"go test ./...", goFails}, []run{{"go test ./storage/", "ok  \tx/storage\t0.2s [no tests to run]"}}, false},
		{"it failed again", run{"go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}, {"go test -v ./storage", "--- FAIL: TestTorn (0.00s)\nFAIL\tx/storage\t0.2s"}}, false},
		{"with the race detector, then without", run{"go test -race ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, false},
		{"only the end of the output", run{"go test ./... | tail -4", goFails[strings.Index(goFails, "    torn"):]}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, false},
		{"all of a short output", run{"go test ./... 2>&1 | tail -40", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, true},
		{"lines that were picked", run{"go test ./... | grep FAIL", "FAIL\tx/storage\t0.3s"}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, false},
		{"a panic hides the rest", run{"go test ./...", "--- FAIL: TestTorn (0.00s)\npanic: nil map\nFAIL\tx/storage\t0.3s"}, []run{{"go test ./storage -run Torn -v", "--- PASS: TestTorn (0.00s)\nok  \tx/storage\t0.2s"}}, false},
		{"two packages, one by one", run{"make test", "FAIL\tx/a\t0.3s\nFAIL\tx/b [build failed]"}, []run{{"go test ./a", "ok  \tx/a\t0.2s"}, {"go test ./b", "ok  \tx/b\t0.2s"}}, true},
		{"a build that failed", run{"go build ./... 2>&1", "Exit code: 1\n# x/a\na/a.go:3:2: undefined: b"}, []run{{"make test", "ok  \tx/a\t0.2s\nok  \tx/b\t0.2s"}}, true},
		{"a build of another package", run{"go build ./... 2>&1", "Exit code: 1\n# x/a\na/a.go:3:2: undefined: b\n# x/c\nc/c.go:1:1: expected package"}, []run{{"make test", "ok  \tx/a\t0.2s\nok  \tx/b\t0.2s"}}, false},
		{"a package that compiles again", run{"go test ./a -run One", "# x/a\na/a.go:3:2: undefined: b\nFAIL\tx/a [build failed]"}, []run{{"go test ./a -run Two", "ok  \tx/a\t0.2s"}}, true},
		{"a package that compiles and fails", run{"go test ./a -run One", "FAIL\tx/a [build failed]"}, []run{{"go test ./a -run Two", "--- FAIL: TestTwo (0.00s)\nFAIL\tx/a\t0.2s"}}, true},
		{"another package compiles", run{"go test ./a -run One", "FAIL\tx/a [build failed]"}, []run{{"go test ./b -run Two", "ok  \tx/b\t0.2s"}}, false},
		{"another test failed since", run{"go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}, {"go test -v ./storage", "--- FAIL: TestShut (0.00s)\nFAIL\tx/storage\t0.2s"}}, true},
		{"one of two packages", run{"make test", "FAIL\tx/a\t0.3s\nFAIL\tx/b [build failed]"}, []run{{"go test ./a", "ok  \tx/a\t0.2s"}}, false},
		{"the file of a test", run{"pytest", pyFails}, []run{{"python -m pytest tests/test_a.py -q", "=== 3 passed in 0.1s ==="}}, true},
		{"the test itself", run{"pytest -x", pyFails}, []run{{"pytest tests/test_a.py::test_one", "=== 1 passed in 0.1s ==="}}, true},
		{"the test in a list", run{"pytest", pyFails}, []run{{"make test", "tests/test_a.py::test_one PASSED [100%]\n=== 1 passed in 0.1s ==="}}, true},
		{"a test whose name only begins so", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py::test_on", "=== 1 passed in 0.1s ==="}}, false},
		{"another file", run{"pytest", pyFails}, []run{{"pytest tests/test_b.py", "=== 1 passed in 0.1s ==="}}, false},
		{"a part of the file", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py -k other", "=== 1 passed in 0.1s ==="}}, false},
		{"another folder", run{"cd api && pytest", pyFails}, []run{{"cd web && pytest tests/test_a.py", "=== 1 passed in 0.1s ==="}}, false},
		{"more failures than names", run{"pytest", strings.Replace(pyFails, "1 failed", "2 failed", 1)}, []run{{"pytest tests/test_a.py", "=== 1 passed in 0.1s ==="}}, false},
		{"npm test, then the file", run{"npm test", jestFails}, []run{{"npx jest src/a.test.ts", "PASS src/a.test.ts\nTests: 3 passed, 3 total"}}, true},
		{"the file, chosen by name", run{"npm test", jestFails}, []run{{"npx jest src/a.test.ts -t one", "PASS src/a.test.ts\nTests: 1 passed, 3 total"}}, false},
		{"vitest", run{"npm test", " FAIL  src/a.test.ts > adds\n Test Files  1 failed | 2 passed (3)"}, []run{{"npx vitest run src/a.test.ts", " ✓ src/a.test.ts (4 tests) 12ms\n Test Files  1 passed (1)"}}, true},
		{"cargo", run{"cargo test", cargoFails}, []run{{"cargo test it_works", cargoPasses}}, true},
		{"cargo, the same crate", run{"cargo test -p core", cargoFails}, []run{{"cargo test -p core it_works -- --nocapture", cargoPasses}}, true},
		// The name of a test is unique only in its crate, and the crate of the other run
		// is unknown.
		{"cargo, then one crate", run{"cargo test", cargoFails}, []run{{"cargo test -p core", cargoPasses}}, false},
		{"cargo, another crate", run{"cargo test -p parser", cargoFails}, []run{{"cargo test -p server", cargoPasses}}, false},
		{"cargo, another crate, by its long name", run{"cargo test --package=parser", cargoFails}, []run{{"cargo test --package server", cargoPasses}}, false},
		{"cargo, another manifest", run{"cargo test --manifest-path a/Cargo.toml", cargoFails}, []run{{"cargo test --manifest-path b/Cargo.toml", cargoPasses}}, false},
		{"cargo, another folder", run{"cd parser && cargo test", cargoFails}, []run{{"cd server && cargo test", cargoPasses}}, false},
		{"cargo, another file of tests", run{"cargo test --test a", cargoFails}, []run{{"cargo test --test b", cargoPasses}}, false},
		{"jest, another folder", run{"cd packages/api && npx jest", jestFails}, []run{{"cd packages/web && npx jest", jestPasses}}, false},
		{"jest, the same folder", run{"cd packages/api && npx jest", jestFails}, []run{{"cd packages/api && npx jest src/a.test.ts", jestPasses}}, true},
		{"npm, another package", run{"npm test --prefix api", jestFails}, []run{{"npm test --prefix web", jestPasses}}, false},
		{"jest, a test was skipped", run{"npm test", jestFails}, []run{{"npx jest src/a.test.ts", "PASS src/a.test.ts\nTests: 1 skipped, 2 passed, 3 total"}}, false},
		{"jest, nothing is counted", run{"npm test", jestFails}, []run{{"npx jest src/a.test.ts | grep PASS", "PASS src/a.test.ts"}}, false},
		{"folder in a folder", run{"cd /x && cd api && pytest", pyFails}, []run{{"cd /x && cd web && pytest tests/test_a.py", "=== 1 passed in 0.1s ==="}}, false},
		{"folder in two steps", run{"cd /x && cd api && pytest", pyFails}, []run{{"cd /x/api/ && pytest tests/test_a.py", "=== 1 passed in 0.1s ==="}}, true},
		{"folder in brackets", run{"(cd api && pytest)", pyFails}, []run{{"(cd web && pytest tests/test_a.py )", "=== 1 passed in 0.1s ==="}}, false},
		{"folder before", run{"cd api && pytest", pyFails}, []run{{"cd web", ""}, {"pytest tests/test_a.py", "=== 1 passed in 0.1s ==="}}, false},
		{"all skipped", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 3 skipped in 0.1s ==="}}, false},
		{"one skipped", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 2 passed, 1 skipped in 0.1s ==="}}, false},
		{"one skipped, quietly", run{"pytest", pyFails}, []run{{"pytest -q tests/test_a.py", "2 passed, 1 skipped in 0.1s"}}, false},
		{"one expected to fail", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 2 passed, 1 xfailed in 0.1s ==="}}, false},
		{"one deselected", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 2 passed, 1 deselected in 0.1s ==="}}, false},
		{"one skipped, and the test by name", run{"pytest", pyFails}, []run{{"pytest -v tests/test_a.py", "tests/test_a.py::test_one PASSED\n=== 2 passed, 1 skipped in 0.1s ==="}}, true},
		{"only collected", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py --collect-only", "=== 3 tests collected in 0.1s ==="}}, false},
		{"skipped in go", run{"go test ./...", goFails}, []run{{"go test -v ./storage", "--- SKIP: TestTorn (0.00s)\nPASS\nok  \tx/storage\t0.2s"}}, false},
		{"flags in a variable, then without", run{"GOFLAGS=-race go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}}, false},
		{"a variable", run{"DB=postgres pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 3 passed in 0.1s ==="}}, false},
		{"a variable, exported", run{"export DB=postgres && pytest", pyFails}, []run{{"pytest tests/test_a.py", "=== 3 passed in 0.1s ==="}}, false},
		{"a variable only in the second run", run{"pytest", pyFails}, []run{{"DB=sqlite pytest tests/test_a.py", "=== 3 passed in 0.1s ==="}}, false},
		{"the same variable", run{"DB=postgres pytest", pyFails}, []run{{"DB=postgres pytest tests/test_a.py", "=== 3 passed in 0.1s ==="}}, true},
		{"a log after it", run{"go test ./...", goFails}, []run{{"go test ./policy; cat old.log", oldLog}}, false},
		{"a log after it, on success", run{"go test ./...", goFails}, []run{{"go test ./policy && cat old.log", oldLog}}, false},
		{"a log before it", run{"go test ./...", goFails}, []run{{"cat old.log; go test ./policy", oldLog}}, false},
		{"a log beside it", run{"go test ./...", goFails}, []run{{"go test ./policy & cat old.log", oldLog}}, false},
		{"a log on the next line", run{"go test ./...", goFails}, []run{{"go test ./policy\ncat old.log", oldLog}}, false},
		{"a log through its pipe", run{"go test ./...", goFails}, []run{{"go test ./policy | cat - old.log", oldLog}}, false},
		{"two checks, one with the same flags", run{"go test -race ./...", goFails}, []run{{"go test -race ./policy && go test ./storage", oldLog}}, false},
		{"two failed checks, one with a report", run{"mypy .; pytest", "Found 3 errors in 1 file\n" + pyFails}, []run{{"pytest tests/test_a.py", "=== 3 passed in 0.1s ==="}}, false},
		{"other commands print nothing", run{"cd /x && go vet ./... && go test ./... 2>&1 | tail -40", goFails}, []run{{"cd /x && sed -i s/a/b/ a.go && timeout 60 go test ./storage 2>&1 | tail -5; echo \"exit $?\"", "ok  \tx/storage\t0.2s\nexit 0"}}, true},
		{"its file, in which another test fails", run{"pytest", pyFails}, []run{{"pytest tests/test_a.py", "FAILED tests/test_a.py::test_two - x\n=== 1 failed in 0.1s ==="}}, false},
		{"it failed again without a report", run{"go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}, {"go test ./...", "FAIL"}}, false},
		{"no later run", run{"go test ./...", goFails}, nil, false},
		{"a run that passed before", run{"go test ./...", goFails}, []run{{"go test ./storage", "ok  \tx/storage\t0.2s"}, {"go test ./...", goFails}}, false},
	} {
		if got := mendedBy(t, append([]run{c.first}, c.later...)...); got != c.want {
			t.Errorf("%s: mended is %v, want the opposite", c.name, got)
		}
	}
}
