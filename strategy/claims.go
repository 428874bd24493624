package strategy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// verifyClaims removes the lines of a model's document that the history contradicts:
// outcomes that no run had, steps that do not exist, and constraints that neither the
// system nor the user wrote. It sorts the lines about past work by step.
func (h *History) verifyClaims(d Document, s Strategy, r Request, v *verdict) Document {
	d = d.clone()
	c := newClaimCheck(h, r)
	d.all(func(lines []string) []string {
		kept := lines[:0]
		for _, l := range lines {
			l, ok := c.steps(l)
			if ok && c.untrue(l) {
				v.untrue++
				ok = false
			}
			if ok {
				kept = append(kept, l)
			} else {
				v.lines++
			}
		}
		return kept
	})
	foreign := func(of func(l string) bool) func(l string) bool {
		return func(l string) bool {
			if !of(l) || c.typed(l) {
				return false
			}
			v.foreign++
			return true
		}
	}
	for i := range min(len(s.Sections), len(d.Sections)) {
		if ofRules(s.Sections[i].Title) {
			d.Sections[i] = slices.DeleteFunc(d.Sections[i], foreign(func(string) bool { return true }))
		}
	}
	d.Notes = slices.DeleteFunc(d.Notes, foreign(commands)) // a note has lost its heading, which may have named rules
	for _, title := range []string{headingHappened, "Decision log"} {
		if i, ok := s.section(title); ok {
			inOrder(d.Sections[i])
		}
	}
	return d
}

// ofRules reports whether a heading names rules to follow.
func ofRules(title string) bool {
	return prose.HasAny(strings.ToLower(title), []string{"constraint", "rule", "requirement", "instruction", "must", "vorgabe", "regel", "contrainte", "règle", "regla", "requisito", "约束", "规则", "要求"})
}

// commands reports whether a line tells somebody what to do.
func commands(line string) bool {
	return prose.BeginsAny(strings.ToLower(line), []string{"you must", "you should", "you may", "must ", "never ", "always ", "do not ", "don't ", "only ", "make sure", "ensure "})
}

// inOrder sorts lines by the first step that they cite. A line without a citation stays
// after the line before it.
func inOrder(lines []string) {
	at := make(map[string]int, len(lines))
	last := 0
	for _, l := range lines {
		if n := firstStep(l); n > 0 {
			last = n
		}
		at[l] = last
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(at[a], at[b]) })
}

func firstStep(line string) int {
	_, after, ok := strings.Cut(line, "[s")
	if !ok {
		return 0
	}
	end := 0
	for end < len(after) && after[end] >= '0' && after[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(after[:end])
	return n
}

// A claimCheck holds the facts that claims are checked against.
type claimCheck struct {
	last  int // number of the last step
	runs  []ran
	words []map[string]bool // word sets: one per text of the system or the user, and per line of the previous summary
	tests Outcome           // outcome of the last check that has one
}

// A ran is an answered call that ran a command.
type ran struct {
	key     string // beginning of the command, in lower case without quotes
	outcome Outcome
}

func newClaimCheck(h *History, r Request) *claimCheck {
	c := &claimCheck{last: max(r.First+len(r.Messages)-1, h.Previous.lastStep())}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			call := &h.Steps[i].Calls[k]
			if cmd := call.Command(); cmd != "" && call.Answered {
				c.runs = append(c.runs, ran{claimKey(shortCommand(cmd)), call.Outcome})
				if call.Check() && (call.Outcome == OK || call.Outcome == Failed) {
					c.tests = call.Outcome
				}
			}
		}
		if h.Steps[i].user() {
			c.words = append(c.words, wordSet(h.Steps[i].Text))
		}
	}
	for i := range r.Visible {
		if m := &r.Visible[i]; m.Role != message.RoleAssistant && m.Role != message.RoleTool {
			c.words = append(c.words, wordSet(m.Text()))
		}
	}
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == message.RoleSystem || m.Role == message.RoleDeveloper {
			c.words = append(c.words, wordSet(m.Text()))
		}
	}
	for _, w := range h.Previous.Words {
		c.words = append(c.words, wordSet(w.Text))
	}
	for _, lines := range h.Previous.Sections {
		for _, l := range lines {
			c.words = append(c.words, wordSet(l))
		}
	}
	return c
}

// claimRunes is the number of leading characters of a command that a line must contain
// to name the command.
const claimRunes = 24

// claimKey returns the form of a command that is searched for in claims.
func claimKey(cmd string) string {
	key := strings.ToLower(strings.NewReplacer("`", "", `"`, "", "'", "", "…", "").Replace(prose.Squash(cmd)))
	if r := []rune(key); len(r) > claimRunes {
		key = string(r[:claimRunes])
	}
	return strings.TrimSpace(key)
}

// steps removes citations of steps that do not exist. ok is false if the line
// had only such citations.
func (c *claimCheck) steps(line string) (out string, ok bool) {
	good, bad := 0, 0
	for rest := line; ; {
		_, after, found := strings.Cut(rest, "[s")
		if !found {
			break
		}
		number, tail, closed := strings.Cut(after, "]")
		if !closed {
			break
		}
		rest = tail
		n := lastStep("[s" + number + "]")
		switch {
		case n == 0 && strings.IndexFunc(number, unicode.IsDigit) != 0:
		case n >= 1 && n <= c.last:
			good++
		default:
			bad++
			line = strings.TrimSpace(strings.Replace(line, "[s"+number+"]", "", 1))
		}
	}
	return prose.Squash(line), bad == 0 || good > 0
}

var (
	saysPassed = []string{"passed", "passes", "passing", " pass", "succeeded", "successful", "exit 0", "exit code 0", "→ ok", "green", "通过"}
	saysFailed = []string{"failed", "fails", "failing", " fail", "exit 1", "exit 2", "exit code 1", "error", "失败"}
)

// untrue reports whether a line claims an outcome that no run of the named command had.
// If the line names no command, a claim that tests passed is untrue if the last check
// failed.
func (c *claimCheck) untrue(line string) bool {
	low := strings.ToLower(strings.NewReplacer("`", "", `"`, "", "'", "").Replace(line))
	pass, fail := prose.HasAny(low, saysPassed), prose.HasAny(low, saysFailed)
	if pass == fail {
		return false // no claim, or both claims
	}
	named, holds := false, false
	for _, r := range c.runs {
		if len(r.key) < 5 || !strings.Contains(low, r.key) {
			continue
		}
		named = true
		holds = holds || pass && r.outcome == OK || fail && r.outcome == Failed
	}
	if !named && pass && c.tests == Failed && !strings.HasPrefix(low, "[open]") {
		return strings.Contains(low, "test") && !prose.HasAny(low, []string{"must", "should", "until", "make ", "when ", "if ", "once "})
	}
	return named && !holds
}

// typed reports whether the system or the user wrote a constraint: two thirds
// of its words appear in one of their texts.
func (c *claimCheck) typed(line string) bool {
	want := wordSet(coreOf(line))
	if len(want) < 3 {
		return true // too few words to decide
	}
	for _, have := range c.words {
		n := 0
		for w := range want {
			if have[w] {
				n++
			}
		}
		if 3*n >= 2*len(want) {
			return true
		}
	}
	return false
}

// wordSet returns the meaningful words of a text, each cut to its first
// letters.
func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if r := []rune(w); len(r) > 2 && !fillers[w] {
			out[string(r[:min(len(r), stem)])] = true
		}
	}
	return out
}
