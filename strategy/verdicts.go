package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// verdicts holds the statements in the output of a check about packages, files and
// tests, by name.
type verdicts struct {
	failed   []string
	tests    map[string][]string // failed tests of a failed package, if the output names them
	passed   map[string]bool
	unbuilt  map[string]bool // failed go packages that did not compile
	built    map[string]bool // go packages that compiled, with any outcome of their tests
	complete bool            // failed lists all failures
	whole    bool            // the run was not narrowed to some tests
	counted  int             // number of failures that the runner states, -1 if it states no number
	under    []string        // files, folders and tests of a passed pytest run

	folder string   // prefix of tests that are named by their files
	place  string   // prefix of files, and of tests without a file
	files  []string // passed files, which count if nothing was skipped
	ran    bool     // the output counts passed tests
	some   bool     // some tests were skipped or left out
	before []string // lines of tests since the last package of go test
	after  bool     // a panic ended the run of the package early
	builds bool     // the command is "go build", which names each package that does not compile
}

// verdicts reads the output of a check.
func (c *Call) verdicts() *verdicts {
	cmd := c.Command()
	if len(cmd) > shell.MaxLine {
		return &verdicts{} // a script, whose checks are unknown
	}
	v := &verdicts{tests: map[string][]string{}, passed: map[string]bool{}, unbuilt: map[string]bool{}, built: map[string]bool{}, whole: !checks.Narrowed(cmd), folder: checks.Folder(cmd), place: checks.Place(cmd), counted: -1, builds: shell.Any(cmd, func(s string) bool { return strings.HasPrefix(s, "go build") })}
	for line := range strings.Lines(c.Result) {
		line = strings.TrimSpace(testrun.Uncolored(line[:min(len(line), 400)]))
		v.tally(line)
		if !v.ofGo(line) && !v.ofFiles(line) {
			v.ofTests(line)
		}
	}
	if c.Outcome == OK && v.whole {
		v.under = checks.PytestPaths(cmd)
	}
	v.settle(checks.Only(cmd) || v.builds && checks.OnlyBuild(cmd))
	if v.counted >= 0 {
		v.complete = v.complete && v.counted == len(v.failed)
	} else {
		v.complete = v.complete && len(v.tests) > 0 && checks.ShowsAll(cmd, c.Result)
	}
	return v
}

// leftOut lists the counts of tests that did not run, or were not expected to
// pass.
var leftOut = []string{" skipped", " xfailed", " xpassed", " deselected", " todo", " pending"}

// tally reads the counts of passed tests and of tests that were left out from a line.
func (v *verdicts) tally(line string) {
	n, _ := testrun.Count(line, " passed")
	v.ran = v.ran || n > 0 && testrun.IsSummary(line)
	for _, word := range leftOut {
		n, _ := testrun.Count(line, word)
		v.some = v.some || n > 0
	}
}

// settle removes the verdicts that the output as a whole does not prove. If tests were
// left out, or the output counts none, a test that failed before may not have run. If the
// command did more than the check (alone is false), its output proves no pass.
func (v *verdicts) settle(alone bool) {
	v.complete = alone
	if !v.ran || v.some {
		v.files, v.under = nil, nil
	}
	for _, name := range v.files {
		v.passes(name)
	}
	if !alone {
		v.passed, v.under, v.built = nil, nil, nil
	}
}

func (v *verdicts) fails(name string) {
	if len(v.failed) <= mostMended {
		v.failed = prose.AppendNew(v.failed, name)
	}
}

// count adds a failure count of the runner.
func (v *verdicts) count(line, word string) {
	n, _ := testrun.Count(line, word)
	v.counted = max(v.counted, 0) + n
}

func (v *verdicts) passes(name string) {
	if name != "" && len(v.passed) < mostPassing {
		v.passed[name] = true
	}
}

// covers reports whether a passed run included a test that is named by its file.
func (v *verdicts) covers(name string) bool {
	for _, u := range v.under {
		if name == u || strings.HasPrefix(name, u+"/") || strings.HasPrefix(name, u+"::") || strings.HasPrefix(name, u+"[") {
			return true
		}
	}
	return false
}

// ofGo reads a line of go test. Tests belong to the package that the output names after
// them.
func (v *verdicts) ofGo(line string) bool {
	switch {
	case prose.BeginsAny(line, []string{"--- FAIL: ", "--- PASS: ", "--- SKIP: "}):
		if len(v.before) < mostPassing {
			v.before = append(v.before, line)
		}
	case v.builds && strings.HasPrefix(line, "# "):
		name := firstField(line[len("# "):])
		v.fails(name)
		v.unbuilt[name], v.tests[name] = true, nil
	case strings.HasPrefix(line, "panic: "):
		v.after = true
	case strings.HasPrefix(line, "FAIL\t"):
		name := firstField(line[len("FAIL"):])
		v.fails(name)
		v.unbuilt[name] = strings.Contains(line, "[build failed]") || strings.Contains(line, "[setup failed]")
		v.built[name] = !v.unbuilt[name]
		if v.tests[name] = nil; !v.after && !strings.Contains(line, "[") {
			v.tests[name] = v.of(name, "--- FAIL: ")
		}
		v.before, v.after = nil, false
	case strings.HasPrefix(line, "ok  \t"):
		name := firstField(line[len("ok"):])
		v.built[name] = true
		for _, test := range v.of(name, "--- PASS: ") {
			v.passes(test)
		}
		if v.whole && len(v.of(name, "--- SKIP: ")) == 0 && !strings.HasSuffix(line, "[no tests to run]") {
			v.passes(name)
		}
		v.before, v.after = nil, false
	default:
		return false
	}
	return true
}

// of returns the tests of a package whose lines begin with says.
func (v *verdicts) of(name, says string) []string {
	var out []string
	for _, line := range v.before {
		if rest, ok := strings.CutPrefix(line, says); ok {
			out = append(out, name+" "+firstField(rest))
		}
	}
	return out
}

// ofFiles reads a line of a runner that reports files, with counts at the end.
func (v *verdicts) ofFiles(line string) bool {
	mark, rest, _ := strings.Cut(line, " ")
	name := firstField(rest)
	switch {
	case prose.BeginsAny(line, []string{"Test Suites: ", "Test Files "}):
		v.count(line, " failed")
	case !strings.Contains(name, "."):
		return false
	case mark == "FAIL":
		v.fails(v.place + name)
	case mark == "PASS", mark == "✓":
		if v.whole && len(v.files) < mostPassing {
			v.files = append(v.files, v.place+name)
		}
	default:
		return false
	}
	return true
}

// ofTests reads a line of a runner that reports tests, with counts at the end.
func (v *verdicts) ofTests(line string) {
	first, second := firstField(line), ""
	if rest := strings.TrimPrefix(line, first); rest != "" {
		second = firstField(rest)
	}
	switch {
	case first == "FAILED" && strings.Contains(second, "::"), first == "ERROR" && strings.Contains(second, "::"):
		v.fails(v.folder + second)
	case second == "PASSED" && strings.Contains(first, "::"):
		v.passes(v.folder + first)
	case strings.HasPrefix(line, "=") && strings.Contains(line, " in "):
		v.count(line, " failed")
		v.count(line, " error")
	case first == "test" && strings.HasSuffix(line, "... FAILED"):
		v.fails(v.place + second)
	case first == "test" && strings.HasSuffix(line, "... ok"):
		v.passes(v.place + second)
	case strings.HasPrefix(line, "test result: "):
		v.count(line, " failed")
	}
}

// firstField returns the first word of a line.
func firstField(s string) string {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i]
	}
	return s
}
