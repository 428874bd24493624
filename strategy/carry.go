package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// carried returns the lines of the previous summary as candidates. It leaves out lines
// that a new line replaces, and the kinds of lines that each summary writes again:
// requests, items of work, states of files and lists of names.
func (h *History) carried(s Strategy, now []Line) []Line {
	taken := map[string]bool{}
	for _, l := range now {
		if k := subject(longPaths(l.Text, h.base)); k != "" {
			taken[k] = true
		}
	}
	next, _ := s.section(headingComing)
	log, _ := s.section(headingHappened)
	settled, ran := h.settledSince(), h.ranSince()
	ended, again := settledSuffix(settled), h.ranAgain()
	constraints, ruled := s.section("Constraints")
	var out []Line
	offer := func(section int, lines []string) {
		for n, l := range lines {
			_, _, item := statusOf(l)
			if item || prose.BeginsAny(l, []string{newestRequest, firstRequest, notReplied, changedSince, changedAfter}) || listing(l) || onlyNames(l) || h.tellsOfFiles(l) || h.reportedSince(l) || h.endedSince(l) || again(l) || goalAgain(l, now) || section == next && next > 0 && h.overtaken(l) {
				continue
			}
			if k := subject(l); k != "" && (taken[k] || settled[k].how == "passed" || ran(k)) && section != log {
				continue
			}
			if l = h.quotesNow(l); l == "" {
				continue
			}
			l = h.sinceThen(l) + ended(l)
			if ruled && section == constraints && rules.Binds(l) > 0 && strings.Count(l, thenSaid) < mostLater {
				rule, _, _ := strings.Cut(l, thenSaid)
				l += h.liftedBy(fact{Step: lastStep(l), Text: rule})
			}
			out = append(out, Line{Section: section, Text: l, Value: carriedValue(section, n, l, section == log), Order: max(lastStep(l)-carriedBefore, -carriedBefore)})
		}
	}
	offer(0, h.Previous.Notes)
	for i, lines := range h.Previous.Sections {
		offer(i, lines)
	}
	return out
}

// overtaken reports whether a line about the next steps no longer holds, because later
// messages followed. An open item holds until the assistant ends its turn.
func (h *History) overtaken(line string) bool {
	if len(h.Steps) == 0 {
		return false
	}
	if !prose.BeginsAny(line, []string{stillOpen, writtenPlan}) {
		return true // other sections also state failures
	}
	if plan, ok := strings.CutPrefix(line, writtenPlan); ok && h.carriedOut(withoutSteps(plan), lastStep(line)) {
		return true
	}
	for i := range h.Steps {
		if h.endsTurn(i) {
			return true
		}
	}
	return false
}

// ranSince returns a function that reports whether a command of the previous summary is a
// check that ran again since then, in the same form or another. Then a new line states
// its last result.
func (h *History) ranSince() func(cmd string) bool {
	now := map[string]bool{}
	for _, c := range h.checks() {
		for _, part := range c.all {
			now[part.Own] = true
		}
	}
	return func(cmd string) bool {
		all := checks.Of(cmd)
		return !slices.ContainsFunc(all, func(c checks.Covering) bool { return !now[c.Own] })
	}
}

// onlyNames reports whether a line of the previous summary only lists names from the
// summary before that one. Such a line is of no use to an agent.
func onlyNames(line string) bool { return strings.HasPrefix(line, "the summary before"+seenVerb) }

// carriedBefore is subtracted from the order of carried lines, so that they
// precede new lines.
const carriedBefore = 1 << 20

// carriedValue returns the value of a line of the previous summary. The task is
// worth most, then failures. The value of other lines falls with their
// position; lists of names are worth least.
func carriedValue(section, n int, line string, log bool) float64 {
	switch {
	case section == 0 && n == 0:
		return taskValue
	case sawNames(line), prose.BeginsAny(line, []string{pasteSays, givenSays}):
		return seenCarried
	case strings.Contains(line, "failed"):
		return 1.95
	case log:
		return max(1.8-0.02*float64(n), 1.2)
	}
	return max(1.9-0.03*float64(n), 1.2)
}

// seenCarried is the value of a carried line that lists names, or quotes a paste
// or a file of instructions.
const seenCarried = 0.25

// tellsOfFiles reports whether Document.files can read the state of a file from a line.
func (h *History) tellsOfFiles(l string) bool {
	d := Document{Notes: []string{l}}
	return len(d.files()) > 0
}

// subject returns the command or the file that a line is about: the text in
// backticks at its beginning.
func subject(line string) string {
	for _, before := range []string{"ran ", "called ", ""} {
		if rest, ok := strings.CutPrefix(line, before+"`"); ok {
			name, _, ok := strings.Cut(rest, "`")
			if ok {
				return name
			}
		}
	}
	return ""
}
