package eval

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// A Handoff counts the facts that a text states for a successor.
type Handoff struct {
	User      int `json:"user"` // typed sentences that the text contains verbatim
	UserOf    int `json:"user_of"`
	Fitting   int `json:"fitting"` // sessions whose typed words fit and are all in the text
	FittingOf int `json:"fitting_of"`
	Failed    int `json:"failed"` // commands whose last run failed, if a line reports the failure
	FailedOf  int `json:"failed_of"`
	False     int `json:"false"` // stated outcomes that no run of the command had
	Stated    int `json:"stated"`
	Changed   int `json:"changed"` // files that edit tools changed, if a line reports the change
	ChangedOf int `json:"changed_of"`
	Unmade    int `json:"unmade"` // files that a line reports as changed although every edit was refused
	UnmadeOf  int `json:"unmade_of"`
	Plan      int `json:"plan"` // entries of the last plan, with their status
	PlanOf    int `json:"plan_of"`
	Next      int `json:"next"` // announced steps without a later step, stated in the text
	NextOf    int `json:"next_of"`
	Stale     int `json:"stale"`     // announced steps with a later step, stated as the next step
	Bag       int `json:"bag_chars"` // characters in lists of names
	Chars     int `json:"chars"`
}

func (h *Handoff) merge(o Handoff) {
	h.User += o.User
	h.UserOf += o.UserOf
	h.Fitting += o.Fitting
	h.FittingOf += o.FittingOf
	h.Failed += o.Failed
	h.FailedOf += o.FailedOf
	h.False += o.False
	h.Stated += o.Stated
	h.Changed += o.Changed
	h.ChangedOf += o.ChangedOf
	h.Unmade += o.Unmade
	h.UnmadeOf += o.UnmadeOf
	h.Plan += o.Plan
	h.PlanOf += o.PlanOf
	h.Next += o.Next
	h.NextOf += o.NextOf
	h.Stale += o.Stale
	h.Bag += o.Bag
	h.Chars += o.Chars
}

// judge counts the facts that a text states, as a successor would read it.
func (f *Facts) judge(text string) Handoff {
	v := viewOf(text)
	h := Handoff{UserOf: len(f.User), ChangedOf: len(f.Changed), PlanOf: len(f.Plan)}
	for _, s := range f.User {
		if even(s) == "" {
			h.UserOf--
			continue
		}
		h.User += count(v.says(s))
	}
	failing, failures := f.Failing(), v.with(failureWord)
	h.FailedOf = len(failing)
	for _, c := range failing {
		name := nameOf(c)
		h.Failed += count(failures.line(func(l line) bool { return l.names(name) }))
	}
	changes := v.with(changeWord)
	for _, p := range f.Changed {
		h.Changed += count(changes.line(func(l line) bool { return l.path(p) }))
	}
	h.Unmade, h.UnmadeOf = len(f.unmade(v)), len(f.Refused)
	for _, it := range f.Plan {
		h.Plan += count(v.line(func(l line) bool {
			return strings.Contains(l.low, head(it.Text, 40)) && it.Done == doneMark.MatchString(l.low)
		}))
	}
	if f.Next != "" {
		h.NextOf, h.Next = 1, count(strings.Contains(v.flat, head(f.Next, 60)))
	}
	h.Stale = len(f.stale(v))
	h.Stated, h.False = f.claims(v)
	returned, wrong := f.returns(v)
	h.Stated, h.False = h.Stated+returned, h.False+wrong
	return h
}

// announcing matches lines that state an announced step as the next step.
var announcing = lazy.Compile(`^- (?:announced|the last step)\b`)

// stale returns the announced steps that a text states as the next step although another
// step followed them.
func (f *Facts) stale(v view) []string {
	var out []string
	seen := map[string]bool{}
	for _, past := range f.Past {
		head := head(past, 60)
		if head == "" || seen[head] {
			continue
		}
		if seen[head] = true; (f.Next == "" || !strings.Contains(even(f.Next), head)) && v.line(func(l line) bool { return announcing.MatchString(l.low) && strings.Contains(l.low, head) }) {
			out = append(out, past)
		}
	}
	return out
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

var (
	failureWord = lazy.Compile(`fail|error|exit(?:ed)?(?: code| status)? [1-9]|exit(?:ed)? with|not found|refused|denied|timed out`)
	changeWord  = lazy.Compile(`edit|creat|delet|chang|wr[io]t|updat|add|remov|renam|modif|mov|replac`)
	doneMark    = lazy.Compile(`\[done\]|\[x\]|\bdone\b|completed|✓|✔|decided`)
	claimFailed = lazy.Compile(`\bfail(?:ed|s|ing)\b|exit(?:ed)?(?: with)?(?: code| status)? [1-9]`)
	sayPassed   = lazy.Compile(`\bpass(?:ed|es|ing)?\b|\bsucceeded\b|\bsuccessful|→ ok\b`)
	claimPassed = lazy.Compile(`\bpass(?:ed|es|ing)?\b|\bsucceeded\b|\bsuccessful|→ ok\b|exit(?:ed)?(?: with)?(?: code| status)? 0\b`)
)

// claims counts the lines that state the outcome of a command, and the lines among them
// that no run of the command confirms.
func (f *Facts) claims(v view) (stated, wrong int) {
	names := make([]commandName, len(f.Runs))
	for i, r := range f.Runs {
		names[i] = nameOf(r.Command)
	}
	for _, l := range v.lines {
		if l.words {
			continue
		}
		said := withoutAnnouncement(l.withoutCommands(names))
		bad, good := claimFailed.MatchString(said), claimPassed.MatchString(said)
		if bad == good {
			continue // no claim, or claims about several commands
		}
		named, confirmed := false, false
		for i, r := range f.Runs {
			if l.names(names[i]) {
				named = true
				confirmed = confirmed || bad && (r.Failed || r.quoted(claimFailed, l)) || good && (r.Passed || r.Zero && !sayPassed.MatchString(said) || r.quoted(claimPassed, l))
			}
		}
		stated += count(named)
		wrong += count(named && !confirmed)
	}
	return stated, wrong
}

// withoutAnnouncement returns a line about the last step without the sentence in which the
// assistant announced it, because the words of that sentence are not claims.
func withoutAnnouncement(said string) string {
	if _, outcome, ok := strings.Cut(said, " — "); ok && strings.HasPrefix(strings.TrimLeft(said, "-* "), "the last step: ") {
		return outcome
	}
	return said
}

// withoutCommands returns a line without the commands that it quotes, because the words of
// a command, such as a search, are not claims.
func (l line) withoutCommands(names []commandName) string {
	said := l.low
	for _, code := range l.code {
		for _, name := range names {
			if (line{low: code}).names(name) {
				said = strings.ReplaceAll(said, code, " ")
				break
			}
		}
	}
	return said
}

// quoted reports whether the result contains every claim of the line, together with the
// bytes that follow the claim in the line.
func (r Execution) quoted(claim *lazy.Pattern, l line) bool {
	const around = 16
	for _, at := range claim.FindAllStringIndex(l.low, -1) {
		if !strings.Contains(r.Result, l.low[at[0]:min(len(l.low), at[1]+around)]) {
			return false
		}
	}
	return true
}

// A view is a text and its lines, with white space and quoting normalized.
type view struct {
	flat  string
	lines []line
}

// A line is a line of a view.
type line struct {
	low      string
	words    bool // the line quotes typed text
	readable bool
	code     []string // texts in backticks
}

var inBackticks = lazy.Compile("`([^`]+)`")

// codeOf returns the normalized texts in backticks of a line.
func codeOf(l string) []string {
	var out []string
	for _, m := range inBackticks.FindAllStringSubmatch(l, -1) {
		out = append(out, even(m[1]))
	}
	return out
}

func viewOf(text string) view {
	v := view{flat: even(text)}
	words := false
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "## ") {
			words = l == "## What the user said"
		}
		if l != "" {
			v.lines = append(v.lines, line{even(l), words, readable(l), codeOf(l)})
		}
	}
	return v
}

var quoting = strings.NewReplacer("`", "", `"`, "", "'", "", `\n`, " ", "\\", "")

// even returns a text in lower case, on one line, without quoting characters.
func even(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(quoting.Replace(s))), " ")
}

// head normalizes a text and returns its first n bytes, and the rest of a rune that begins
// in these bytes.
func head(s string, n int) string {
	s = even(s)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return s[:min(n, len(s))]
}

// says reports whether the text contains a sentence word for word.
func (v view) says(s string) bool { return strings.Contains(v.flat, even(s)) }

func (v view) line(f func(line) bool) bool {
	for _, l := range v.lines {
		if l.readable && f(l) {
			return true
		}
	}
	return false
}

// with returns the readable lines that match.
func (v view) with(match *lazy.Pattern) view {
	var out view
	for _, l := range v.lines {
		if l.readable && match.MatchString(l.low) {
			out.lines = append(out.lines, l)
		}
	}
	return out
}

var changeFolder = lazy.Compile(`^(?:cd|pushd) \S+ ?(?:&&|;) ?`)

// commandHead is the number of bytes at the beginning of a command that a line must
// contain to name the command.
const commandHead = 24

// leastLast is the minimum number of bytes of the last line of a script that names it:
// "EOF" and ")" do not.
const leastLast = 10

// A commandName holds three texts by which a line can name a command, normalized: the
// beginning of the command, its beginning without a change of folder, and the beginning of
// its last line, because a script ends with the outcome of that line.
type commandName [3]string

func nameOf(command string) commandName {
	c := even(command)
	n := commandName{c[:min(len(c), commandHead)], head(changeFolder.ReplaceAllString(c, ""), commandHead)}
	n[2] = n[0]
	command = strings.TrimSpace(command)
	at := strings.LastIndexByte(command, '\n') + 1
	if last := head(command[at:], commandHead); at > 0 && len(last) >= leastLast {
		n[2] = last
	}
	return n
}

// names reports whether a line names a command.
func (l line) names(n commandName) bool {
	return strings.Contains(l.low, n[0]) || strings.Contains(l.low, n[1]) || strings.Contains(l.low, n[2])
}

// path reports whether a line names a file: whether it contains the name of the file and
// the name of its folder. A line may contain the folder once for several files.
func (l line) path(p string) bool {
	elems := strings.Split(strings.ToLower(strings.ReplaceAll(p, "\\", "/")), "/")
	n := len(elems)
	return strings.Contains(l.low, elems[n-1]) && (n < 2 || strings.Contains(l.low, elems[n-2]))
}
