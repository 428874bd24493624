package strategy

import (
	"slices"

	"github.com/agentcompact/compact/strategy/internal/checks"
)

// A mend tracks a failed check that reported all of its failures: packages, files,
// tests. The field left holds the names that have not passed since, under any command.
type mend struct {
	all, left map[string]bool
	tests     map[string][]string // failed tests by go package, if only some failed
	unbuilt   map[string]bool     // go packages that did not compile
	flags     []string            // flags of go test that change which tests run
	vars      []string            // variables set for the command; like flags, they change the run
	step      int                 // step of the last run in which a name of left passed
}

// Limits of the failed checks that a History tracks.
const (
	mostMends   = 60 // commands
	mostMended  = 60 // names that one command reports
	mostPassing = 2000
)

// mended returns the commands whose last run failed and whose failures all passed later
// under other commands. The value is the step of the last run in which one of these
// failures passed.
func (h *History) mended() map[string]int {
	mends := map[string]*mend{}
	h.eachCall(func(s *Step, c *Call) {
		cmd := c.Command()
		if cmd == "" || !c.Answered || !c.Check() || c.Outcome != OK && c.Outcome != Failed {
			return
		}
		r := c.verdicts()
		flags, vars := checks.GoFlags(cmd), checks.Variables(cmd)
		delete(mends, cmd)
		for _, m := range mends {
			m.hear(r, flags, vars, s.ID)
		}
		if c.Outcome == Failed && r.complete && len(r.failed) > 0 && len(r.failed) <= mostMended && len(mends) < mostMends {
			mends[cmd] = newMend(r, flags, vars)
		}
	})
	out := map[string]int{}
	for cmd, m := range mends {
		if len(m.left) == 0 {
			out[cmd] = m.step
		}
	}
	return out
}

func newMend(r *verdicts, flags, vars []string) *mend {
	m := &mend{all: map[string]bool{}, left: map[string]bool{}, tests: r.tests, unbuilt: r.unbuilt, flags: flags, vars: vars}
	for _, name := range r.failed {
		m.all[name], m.left[name] = true, true
	}
	return m
}

// hear applies a later run: it removes from left the names that the run reports as passed,
// and adds back the names that the run reports as failed.
func (m *mend) hear(r *verdicts, flags, vars []string, step int) {
	for _, name := range r.failed {
		if m.all[name] && (len(m.tests[name]) == 0 || overlap(m.tests[name], r.tests[name])) {
			m.left[name] = true
		}
	}
	if !slices.Equal(m.vars, vars) {
		return // the effect of the variables is unknown
	}
	for _, f := range m.flags {
		if !slices.Contains(flags, f) {
			return // the later run covered other tests
		}
	}
	for name := range m.left {
		if r.passed[name] || r.covers(name) || m.testsPass(name, r) || m.unbuilt[name] && r.built[name] {
			delete(m.left, name)
			m.step = step
		}
	}
}

// overlap reports whether two lists have a name in common. A package that fails again
// with other tests, or with tests that the output does not name, gets a separate line.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// testsPass reports whether every failed test of a package has passed.
func (m *mend) testsPass(name string, r *verdicts) bool {
	for _, test := range m.tests[name] {
		if !r.passed[test] {
			return false
		}
	}
	return len(m.tests[name]) > 0
}

// mendedSince returns the suffix for a failure whose parts all passed later.
func mendedSince(step int) string { return "; what failed there passed later " + stepID(step) }
