package strategy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// The values of a member or a line of a result, in addition to the values of the names
// in it.
const (
	returnedValue = 0.3
	shownValue    = 0.12
	mostReturned  = 24 // lines of one result that are offered
	wholeResult   = 320
	changedResult = 960 // of a list of changed files
	leastResult   = 4
	wholeValue    = 0.5
)

// returnedMark stands between a call and the quotation of its result.
const returnedMark = ", which returned"

// returnedLines returns lines that quote the results of tools: the members of JSON, the
// sentences of prose, and short results as a whole.
func (h *History) returnedLines(section int) []Line {
	var out []Line
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			if c := &s.Calls[k]; !h.outdated(at{i, k}) && c.Answered && c.Outcome != Failed && !running(c.Result) {
				out = append(out, h.returned(section, s, c)...)
			}
		}
	}
	return out
}

func (h *History) returned(section int, s *Step, c *Call) []Line {
	switch d := c.deed(); {
	case thinks(c.Tool):
	case c.partlyDone(): // partlyDoneFacts quotes both parts
		return []Line{{Section: section, Text: stepID(s.ID) + " " + c.tell(), Value: calledValue * h.recency(s.ID), Order: s.ID}}
	case c.doubt: // worth as much as a failure: somebody has to check whether the effect happened
		return []Line{{Section: section, Text: stepID(s.ID) + " " + c.tell(), Value: failedValue * h.recency(s.ID), Order: s.ID}}
	case d == deedCall || c.Effect() && d != deedRun:
		return h.brought(section, s, c)
	case d == deedLook:
		if text := c.shows(); text != "" {
			return []Line{{Section: section, Text: stepID(s.ID) + " " + c.name() + " showed: " + text, Value: wholeValue * h.recency(s.ID), Order: s.ID}}
		}
	}
	return nil
}

// shows returns the short output of a command that shows a state, "" for other
// commands.
func (c *Call) shows() string {
	if !tellsState(c.Command()) {
		return ""
	}
	if changed := []string{"git status", "git diff --stat", "git diff --name"}; shell.Any(c.Command(), func(s string) bool { return prose.BeginsAny(s, changed) }) {
		return wholeOf(c.Result, changedResult) // the list of the changed files has no gap
	}
	return wholeOf(c.Result, wholeResult)
}

// brought returns lines with the members or the sentences of a result.
func (h *History) brought(section int, s *Step, c *Call) []Line {
	b := quoting{h: h, step: s, section: section, value: returnedValue, factor: h.recency(s.ID), most: mostReturned,
		group: stepID(s.ID) + " called " + c.name() + " with" + argsBrief(c) + returnedMark}
	b.group = strings.Replace(b.group, " with"+returnedMark, returnedMark, 1)
	text := body(c.Result)
	if c.shortRecord() || c.confirmation() != "" || c.Effect() && !strings.HasSuffix(c.answer(), "…") {
		return nil // the work log, or the line about the effect, quotes all of it
	}
	alike := map[string]int{} // number of pieces by form
	if pieces := digest(text); len(pieces) > 0 {
		size := listSize(text)
		for i, p := range pieces {
			if form := withoutDigits(p.text); alike[form] < mostAlike {
				alike[form]++
				n := len(b.out)
				if b.offer(p.text); len(b.out) == n {
					break // the most that is quoted
				}
				last := &b.out[n]
				last.inside, last.of, last.member = n > 0, size, p.of
				if i == len(pieces)-1 && i+1 < digestPieces { // the end of the result; after pieceEnd, the bullet would get the mark of a gap
					last.Text = strings.TrimSuffix(last.Text, pieceEnd)
				}
			}
		}
		return b.out
	}
	if len(prose.Squash(text)) <= 2*maxWords || listsCode(text) {
		return nil // the work log quotes all of it, or its beginning
	}
	b.value, b.group = shownValue, stepID(s.ID)+" "+c.name()+" says"
	page := strings.HasPrefix(c.Target(), "http")
	passages(text, func(one prose.Sentence) {
		if t := one.Text; !one.Heading && quality(t) >= 0.6 && !claims(t) && !navigates(t) && !(page && onlyLinks(t)) && alike[withoutDigits(t)] < mostAlike {
			alike[withoutDigits(t)]++
			b.offer(t)
		}
	})
	return b.out
}

// onlyLinks reports whether more than half of a line of a page is links: "The author:
// <https://example.org/author>". A page has many of them, for its sponsors and its other pages.
func onlyLinks(t string) bool {
	links := 0
	for w := range strings.FieldsSeq(t) {
		if strings.Contains(w, "://") {
			links += len(w)
		}
	}
	return 2*links > len(t)
}

// navigates reports whether more than half of a line is markdown links and
// images, as in the navigation of a page.
func navigates(t string) bool {
	n := 0
	for rest := t; ; {
		k := strings.Index(rest, "](")
		if k < 0 {
			return 2*n > len(t)
		}
		start := max(strings.LastIndexByte(rest[:k], '['), 0)
		end := len(rest)
		if i := strings.IndexByte(rest[k:], ')'); i >= 0 {
			end = k + i + 1
		}
		n += end - start
		rest = rest[end:]
	}
}

// thinks reports whether a tool only records the assistant's thought and has no effect.
func thinks(tool string) bool {
	low := strings.ToLower(tool)
	return low == "think" || low == "thinking" || strings.HasPrefix(low, "sequentialthinking") || strings.HasPrefix(low, "sequential_thinking")
}

// stateCommands show a state in a few lines.
var stateCommands = []string{"git status", "git log", "git diff --stat", "git diff --name", "git show --stat", "git show --name", "git branch", "git worktree list", "git remote", "git rev-parse", "wc ", "ls", "which ", "du ", "date"}

func tellsState(cmd string) bool {
	return cmd != "" && shell.Any(cmd, func(s string) bool { return prose.BeginsAny(s, stateCommands) })
}

// wholeOf returns a short output on one line, "" for a long output. A mark replaces a line
// that would read as an outcome. Words in paths do not count as outcomes.
func wholeOf(result string, most int) string {
	text := strings.TrimSpace(testrun.Uncolored(body(result)))
	if len(text) < leastResult || len(text) > 4*most {
		return ""
	}
	var lines []string
	kept := 0
	for line := range strings.Lines(text) {
		line = nameOnly(strings.TrimSpace(line))
		words := withoutPaths(line)
		switch n := len(lines); {
		case line == "" || framed(line) || ourOwn(line):
		case !claims(words) && !statesExit(words):
			lines, kept = append(lines, prose.Squash(line)), kept+1
		case n == 0 || lines[n-1] != "…":
			lines = append(lines, "…")
		}
	}
	if kept == 0 {
		return ""
	}
	return cutList(lines, most)
}

// cutList joins the lines of a list. At the end, it states the number of omitted lines.
func cutList(lines []string, n int) string {
	all := strings.Join(lines, "; ")
	if utf8.RuneCountInString(all) <= n {
		return all
	}
	kept, size := 0, 0
	for _, l := range lines {
		if size += utf8.RuneCountInString(l) + 2; size > n-len("… (+999 more)") {
			break
		}
		kept++
	}
	if kept == 0 {
		return prose.CutText(all, n)
	}
	return strings.Join(lines[:kept], "; ") + "; … (+" + itoa(len(lines)-kept) + " more)"
}

// withoutPaths returns a line without the words that are paths or names of files.
func withoutPaths(line string) string {
	if !strings.ContainsAny(line, "/.") {
		return line
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool {
		return strings.Contains(w, "/") || strings.Contains(strings.Trim(w, ".,:;"), ".")
	}), " ")
}

// longListing matches a line of "ls -l" up to the name.
var longListing = lazy.Compile(`^[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+[\d,.]+[KMGT]?\s+\S+\s+\S+\s+(?:[\d:]+\s+)?`)

// inListing reports whether a sentence is a line of "ls -l". Its first character can be
// missing, because it reads like the mark of an item.
func inListing(t string) bool { return nameOnly(t) != t || longListing.MatchString("-"+t) }

// nameOnly returns the name in a line of "ls -l", without permissions and times. It
// returns "" for a line without a file, and any other line unchanged.
func nameOnly(line string) string {
	if rest, ok := strings.CutPrefix(line, "total "); ok && prose.IsDigits(strings.TrimRight(rest, "KMGT")) {
		return ""
	}
	at := longListing.FindStringIndex(line)
	if at == nil {
		return line
	}
	if name := line[at[1]:]; name != "." && name != ".." {
		return name
	}
	return ""
}
