package strategy

import (
	"slices"
)

// A mend follows a check that failed, and said of everything what it was that
// failed: packages, files, tests. left is what has not passed since, under
// whatever command.
type mend struct {
	all, left map[string]bool
	tests     map[string][]string // of go packages, where it was some of their tests
	flags     []string            // of go test, which change what is run
	vars      []string            // that were set for it, and change it as flags do
	step      int                 // of the run with which the last of them passed
}

// Bounds of what is followed.
const (
	mostMends   = 60 // commands
	mostMended  = 60 // names that one of them reports
	mostPassing = 2000
)

// mended are the commands that failed last, and of which all that failed passed
// under other commands later, each with the last of these runs.
func (h *History) mended() map[string]int {
	mends := map[string]*mend{}
	h.eachCall(func(s *Step, c *Call) {
		cmd := c.Command()
		if cmd == "" || !c.Answered || !c.Check() || c.Outcome != OK && c.Outcome != Failed {
			return
		}
		r := c.verdicts()
		flags, vars := goFlags(cmd), variables(cmd)
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
	m := &mend{all: map[string]bool{}, left: map[string]bool{}, tests: r.tests, flags: flags, vars: vars}
	for _, name := range r.failed {
		m.all[name], m.left[name] = true, true
	}
	return m
}

// hear takes from what is left what a later run says passed, and puts back what it
// says failed.
func (m *mend) hear(r *verdicts, flags, vars []string, step int) {
	for _, name := range r.failed {
		if m.all[name] {
			m.left[name] = true
		}
	}
	if !slices.Equal(m.vars, vars) {
		return // who knows what they change
	}
	for _, f := range m.flags {
		if !slices.Contains(flags, f) {
			return // it did not run what the other one ran
		}
	}
	for name := range m.left {
		if r.passed[name] || r.covers(name) || m.testsPass(name, r) {
			delete(m.left, name)
			m.step = step
		}
	}
}

// testsPass reports whether each test of a package that failed has passed.
func (m *mend) testsPass(name string, r *verdicts) bool {
	for _, test := range m.tests[name] {
		if !r.passed[test] {
			return false
		}
	}
	return len(m.tests[name]) > 0
}

// mendedSince stands behind a failure of which all that failed passed later.
func mendedSince(step int) string { return "; what failed there passed later " + stepID(step) }
