package eval

import "strings"

// Misses returns the details behind the counts, one per element: the facts, except the
// plan, that a text does not state, and the false outcomes that it states.
func (f *Facts) Misses(text string) []string {
	v := viewOf(text)
	var out []string
	note := func(what, s string) { out = append(out, what+": "+strings.Join(strings.Fields(s), " ")) }
	for _, s := range f.User {
		if !v.says(s) {
			note("user", s)
		}
	}
	failures, changes := v.with(failureWord), v.with(changeWord)
	for _, c := range f.Failing() {
		name := nameOf(c)
		if !failures.line(func(l line) bool { return l.names(name) }) {
			note("failed", c)
		}
	}
	for _, p := range f.Changed {
		if !changes.line(func(l line) bool { return l.path(p) }) {
			note("changed", p)
		}
	}
	for _, l := range v.lines {
		if _, wrong := f.claims(view{lines: []line{l}}); wrong > 0 {
			note("false", l.low)
		}
	}
	for _, p := range f.unmade(v) {
		note("unmade", p)
	}
	for _, l := range v.lines {
		if _, wrong := f.returns(view{lines: []line{l}}); wrong > 0 {
			note("false", l.low)
		}
	}
	for _, s := range f.stale(v) {
		note("stale", s)
	}
	if f.Next != "" && !strings.Contains(v.flat, head(f.Next, 60)) {
		note("next", f.Next)
	}
	return out
}
