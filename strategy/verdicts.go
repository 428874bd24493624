package strategy

import "strings"

// verdicts are what the output of a check says of packages, files and tests, by
// name.
type verdicts struct {
	failed   []string
	tests    map[string][]string // of a package that failed: those that did, where it says so
	passed   map[string]bool
	complete bool     // failed is all that failed
	whole    bool     // it is not only a part of a package, chosen by name
	counted  int      // failures by the count of the runner, -1 where it states none
	under    []string // files, folders and tests that a pytest was of which passed

	folder string   // before the names of tests that are told by their files
	place  string   // before the names of files, and of tests without one
	files  []string // that passed, if nothing in them was skipped
	ran    bool     // tests that passed are counted
	some   bool     // some were skipped, or left out
	before []string // tests since the last package of go test that was reported
	after  bool     // something ended that run before its time
}

// verdicts reads the output of a check.
func (c *Call) verdicts() *verdicts {
	cmd := c.Command()
	if len(cmd) > maxCommandLine {
		return &verdicts{} // a script, of which nothing is known
	}
	v := &verdicts{tests: map[string][]string{}, passed: map[string]bool{}, whole: !narrowed(cmd), folder: folderIn(cmd), place: placeOf(cmd), counted: -1}
	for line := range strings.Lines(c.Result) {
		line = strings.TrimSpace(uncolored(line[:min(len(line), 400)]))
		v.tally(line)
		if !v.ofGo(line) && !v.ofFiles(line) {
			v.ofTests(line)
		}
	}
	if c.Outcome == OK && v.whole {
		v.under = pytestPaths(cmd)
	}
	v.settle(onlyCheck(cmd))
	if v.counted >= 0 {
		v.complete = v.complete && v.counted == len(v.failed)
	} else {
		v.complete = v.complete && len(v.tests) > 0 && showsAll(cmd, c.Result)
	}
	return v
}

// leftOut are what runners count of tests that did not run, or not to pass.
var leftOut = []string{" skipped", " xfailed", " xpassed", " deselected", " todo", " pending"}

// tally reads whether tests are counted, and any that were left out.
func (v *verdicts) tally(line string) {
	n, _ := countBefore(line, " passed")
	v.ran = v.ran || n > 0 && summaryLine(line)
	for _, word := range leftOut {
		n, _ := countBefore(line, word)
		v.some = v.some || n > 0
	}
}

// settle takes back what the whole output is no proof of. Where tests were left out,
// or none are counted, the one that failed may not have run.
func (v *verdicts) settle(alone bool) {
	v.complete = alone
	if !v.ran || v.some {
		v.files, v.under = nil, nil
	}
	for _, name := range v.files {
		v.passes(name)
	}
	if !alone {
		v.passed, v.under = nil, nil
	}
}

func (v *verdicts) fails(name string) {
	if len(v.failed) <= mostMended {
		v.failed = appendNew(v.failed, name)
	}
}

// count adds up what the runner counts.
func (v *verdicts) count(line, word string) {
	n, _ := countBefore(line, word)
	v.counted = max(v.counted, 0) + n
}

func (v *verdicts) passes(name string) {
	if name != "" && len(v.passed) < mostPassing {
		v.passed[name] = true
	}
}

// covers reports whether a test, named by its file, is in what a run that passed
// was of.
func (v *verdicts) covers(name string) bool {
	for _, u := range v.under {
		if name == u || strings.HasPrefix(name, u+"/") || strings.HasPrefix(name, u+"::") || strings.HasPrefix(name, u+"[") {
			return true
		}
	}
	return false
}

// ofGo reads a line of go test. Tests are told apart by the package that is
// reported behind them.
func (v *verdicts) ofGo(line string) bool {
	switch {
	case beginsAny(line, []string{"--- FAIL: ", "--- PASS: ", "--- SKIP: "}):
		if len(v.before) < mostPassing {
			v.before = append(v.before, line)
		}
	case strings.HasPrefix(line, "panic: "):
		v.after = true
	case strings.HasPrefix(line, "FAIL\t"):
		name := firstField(line[len("FAIL"):])
		v.fails(name)
		if v.tests[name] = nil; !v.after && !strings.Contains(line, "[") {
			v.tests[name] = v.of(name, "--- FAIL: ")
		}
		v.before, v.after = nil, false
	case strings.HasPrefix(line, "ok  \t"):
		name := firstField(line[len("ok"):])
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

// of are the tests of a package of which lines say the same.
func (v *verdicts) of(name, says string) []string {
	var out []string
	for _, line := range v.before {
		if rest, ok := strings.CutPrefix(line, says); ok {
			out = append(out, name+" "+firstField(rest))
		}
	}
	return out
}

// ofFiles reads a line of a runner that reports files, and counts them at its end.
func (v *verdicts) ofFiles(line string) bool {
	mark, rest, _ := strings.Cut(line, " ")
	name := firstField(rest)
	switch {
	case beginsAny(line, []string{"Test Suites: ", "Test Files "}):
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

// ofTests reads a line of a runner that reports tests, and counts them at its end.
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

// firstField is the first word of a line.
func firstField(s string) string {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i]
	}
	return s
}
