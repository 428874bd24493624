package strategy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// commits holds the last commit, and the files that were changed since then.
type commits struct {
	last  int                       // number of the step of the last commit, 0 if there is none
	files map[string]*pending       // by the key of the path
	more  int                       // number of files that a previous summary counted and did not name
	made  map[string][]commitChange // changed files of each commit, by its hash
	added []string                  // operands of git add since the last commit
}

// A commitChange holds the changes of one file in a commit.
type commitChange struct {
	path string
	file *pending
	back int  // number of calls
	sole bool // no earlier commit can hold changes of the file
}

// A pending holds the changes of a file since the last commit.
type pending struct {
	path      string
	changes   int   // number of calls
	commits   int   // number of commits with changes of the file
	step      int   // number of the step of the last change
	steps     []int // numbers of the steps of the changes that were not undone
	kept      int   // number of the step of the last change before the last commit, 0 if it is not known
	committed bool  // a commit, or a part of the history that is not known, may hold other changes
}

// findTakenBack drops the operations fileops.TookBack that took nothing back, and sets the
// number of changes that each of the others took back. It also finds the last commit,
// and the changes since then. It must run after findRewritten.
func (h *History) findTakenBack() {
	h.readCommits()
	h.eachCall(func(s *Step, c *Call) {
		kept := c.files[:0]
		for _, f := range c.files {
			if f.Op < fileops.Edited {
				kept = append(kept, f)
				continue
			}
			p := h.commits.files[h.key(f.Path)]
			if p == nil {
				p = &pending{}
				h.commits.files[h.key(f.Path)] = p
			}
			if f.Op != fileops.TookBack {
				p.path = f.Path
				p.changes, p.step = p.changes+1, s.ID
				p.steps = append(p.steps, s.ID)
				kept = append(kept, f)
				continue
			}
			if f.Last && p.changes > 1 {
				p.undoLast(&f)
				kept = append(kept, f)
				continue
			}
			if p.changes > 0 {
				f.Back, f.All, f.Kept = p.changes, !p.committed, p.kept
				kept = append(kept, f)
			}
			p.changes = 0
		}
		c.files = append(kept, h.commits.reverted(c)...)
		h.commits.adds(c)
		if c.commits() {
			h.commits.end(s.ID, c)
		}
	})
}

// undoLast takes back the last of several changes.
func (p *pending) undoLast(f *fileops.Op) {
	p.changes--
	p.steps = p.steps[:max(len(p.steps)-1, 0)]
	if f.Back = 1; len(p.steps) > 0 {
		p.step = p.steps[len(p.steps)-1]
		f.Kept = p.step
	}
}

// commits reports whether a call ran git commit, and no failure of it is known.
func (c *Call) commits() bool {
	return c.Answered && c.Outcome != Failed && shell.Any(c.Command(), func(simple string) bool { return strings.HasPrefix(simple, "git commit") })
}

// adds records the files that a call adds to the next commit.
func (c *commits) adds(by *Call) {
	if !by.Answered {
		return
	}
	for line := range strings.Lines(by.Command()[:min(len(by.Command()), shell.MaxLine)]) {
		for _, simple := range shell.Split(line) {
			if w := shell.Fields(simple); len(w) > 2 && w[0] == "git" && w[1] == "add" {
				c.added = append(c.added, shell.Operands(w[2:])...)
			}
		}
	}
}

// inCommit returns the changed files that a commit holds. If git counts as many files as
// were added, and other files were changed too, these are the added files. Otherwise they
// are all changed files, and all is true.
func (c *commits) inCommit(by *Call) (held []*pending, all bool) {
	var added []*pending
	for _, p := range c.files {
		if p.changes > 0 {
			held = append(held, p)
			if slices.ContainsFunc(c.added, func(o string) bool { return atOrBelow(p.path, o) }) {
				added = append(added, p)
			}
		}
	}
	if n, ok := by.filesIn(); ok && n == len(added) && n < len(held) {
		return added, false
	}
	return held, true
}

// atOrBelow reports whether a path is that of an operand of a command, or below it. The operand
// can be relative to a folder of the path.
func atOrBelow(p, operand string) bool {
	o := "/" + strings.Trim(path.Clean(operand), "/") + "/"
	return o != "/./" && strings.Contains("/"+strings.TrimPrefix(p, "./")+"/", o)
}

// end counts the changes so far as committed by a call. If git counts fewer files, these are
// the files that were added; the others remain.
func (c *commits) end(step int, by *Call) {
	files, all := c.inCommit(by)
	if c.last, c.added = step, nil; all {
		c.more = 0
	}
	var held []commitChange
	for _, p := range files {
		held = append(held, commitChange{p.path, p, p.changes, !p.committed})
		p.commits++
		p.changes, p.committed, p.kept = 0, true, p.step
	}
	if hash := commitHash(by.Result); hash != "" && by.holdsAll(len(held)) {
		c.made[hash] = held
	}
}

// reverted returns the files of the commits that a call reverts.
func (c *commits) reverted(by *Call) []fileops.Op {
	if !by.Answered || by.Outcome == Failed || !strings.Contains(by.Command(), "git revert") {
		return nil
	}
	var out []fileops.Op
	for hash, held := range c.made {
		if !shell.Any(by.Command(), func(simple string) bool { return reverts(simple, hash) }) {
			continue
		}
		for _, ch := range held {
			f := fileops.Op{Path: ch.path, Op: fileops.TookBack, Back: ch.back, All: ch.sole && ch.file.commits == 1 && ch.file.changes == 0}
			ch.file.committed = ch.file.committed && !f.All
			out = append(out, f)
		}
		delete(c.made, hash)
	}
	slices.SortFunc(out, func(a, b fileops.Op) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// holdsAll reports whether a commit holds changes of exactly n files: git says so, or the
// command commits all changed files.
func (c *Call) holdsAll(n int) bool {
	if files, ok := c.filesIn(); ok {
		return files == n
	}
	return shell.Any(c.Command(), func(simple string) bool {
		return prose.BeginsAny(simple, []string{"git commit -a", "git commit --all"})
	})
}

// filesIn returns the number of files in a commit, as git prints it.
func (c *Call) filesIn() (int, bool) {
	for line := range strings.Lines(c.Result) {
		count, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if files, err := strconv.Atoi(count); err == nil && prose.BeginsAny(rest, []string{"file changed", "files changed"}) {
			return files, true
		}
	}
	return 0, false
}

// Parts of the line about changes since the last commit.
const (
	changedSince = "changed and not in the last commit "
	changedAfter = "changed after the last commit " // of earlier versions
	furtherFiles = " more"
)

// readCommits reads the last commit and the changes since then from the previous summary.
func (h *History) readCommits() {
	h.commits.files, h.commits.made = map[string]*pending{}, map[string][]commitChange{}
	for _, f := range h.Previous.files() {
		h.commits.files[h.key(f.Path)] = &pending{committed: true}
	}
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			rest, ok := strings.CutPrefix(l, changedSince)
			if !ok {
				rest, ok = strings.CutPrefix(l, changedAfter)
			}
			switch {
			case ok:
				h.commits.last = lastStep(rest[:strings.IndexByte(rest+":", ':')])
				h.readUncommitted(rest)
			case strings.HasPrefix(l, "[done] ") && strings.Contains(l, "git commit"):
				h.commits.last = max(h.commits.last, lastStep(l))
			}
		}
		return lines
	})
}

// readUncommitted reads the files of a line about changes since the last commit.
func (h *History) readUncommitted(line string) {
	pieces := strings.Split(line, "`")
	for i := 1; i < len(pieces); i += 2 {
		h.commits.files[h.key(pieces[i])] = &pending{changes: 1, committed: true}
	}
	words := strings.Fields(pieces[len(pieces)-1])
	for i, w := range words {
		if n, err := strconv.Atoi(w); err == nil && i+1 < len(words) && words[i+1] == strings.TrimSpace(furtherFiles) {
			h.commits.more = n
		}
	}
}

// mostUncommitted is the maximum number of files that the line about changes since the
// last commit names. The line is worth less than facts that the agent can't get from
// git.
const (
	mostUncommitted  = 4
	uncommittedValue = 0.5
)

// uncommittedLines returns a line about the changed files that the last commit does not hold. A
// file in the folder of git is in no commit.
// It returns no lines for a history without a commit, because there the lines of the files
// say the same.
func (h *History) uncommittedLines(section int) []Line {
	var names []string
	last, more := 0, h.commits.more
	for _, f := range h.fileStates() {
		p := h.commits.files[h.key(f.Path)]
		switch {
		case p == nil || p.changes == 0 || temporary(f.Path) || throwaway(f.Path) || strings.Contains("/"+f.Path, "/.git/"):
		case len(names) == mostUncommitted:
			more++
		default:
			names, last = append(names, "`"+f.Path+"`"), max(last, f.Last)
		}
	}
	if h.commits.last == 0 || len(names) == 0 {
		return nil
	}
	text := changedSince + stepID(h.commits.last) + ": " + strings.Join(names, ", ")
	if more > 0 {
		text += " and " + itoa(more) + furtherFiles
	}
	return []Line{{Section: section, Text: text + cite(last), Value: uncommittedValue * h.recency(last), Order: last}}
}

// tookBackHere is the value of a log entry about changes that were taken back.
const tookBackHere = 0.5

// tookBack reports whether a call took back changes of a file.
func (c *Call) tookBack() bool {
	return slices.ContainsFunc(c.files, func(f fileops.Op) bool { return f.Op == fileops.TookBack })
}

// takeBack removes the changes that a call took back from the state of a file.
func (s *fileState) takeBack(f fileops.Op, step int) {
	s.Changes = max(s.Changes-f.Back, 0)
	switch {
	case f.All:
		s.Undone, s.Changes, s.Last, s.Funcs, s.Added = true, 0, step, nil, nil
	case f.Kept > 0:
		s.Last = f.Kept
		later := func(text string) bool { return s.addedIn[text] > f.Kept }
		s.Funcs, s.Added = slices.DeleteFunc(s.Funcs, later), slices.DeleteFunc(s.Added, later)
	}
}

// undoneText ends the description of a file whose changes were all taken back.
const undoneText = ", then taken back"

// undone returns undoneText for a file whose changes were all taken back, else "".
func (s *fileState) undone() string {
	if s.Undone {
		return undoneText
	}
	return ""
}

// undoneIn reports whether the description of a file in a summary says that its changes
// were taken back.
func undoneIn(deeds string) bool {
	head, _, _ := strings.Cut(deeds, " — ")
	return strings.Contains(head, undoneText)
}

// revertedIn returns the number of the step that reverted the commit of a call, 0 if no
// step did. A commit is known by the hash that it printed.
func (h *History) revertedIn(commit *Call, step int) int {
	hash := commitHash(commit.Result)
	if hash == "" || commit.repeated() == "" {
		return 0
	}
	in := 0
	h.eachCall(func(s *Step, c *Call) {
		if in != 0 || s.ID <= step || !c.Answered || c.Outcome == Failed {
			return
		}
		if shell.Any(c.Command(), func(simple string) bool { return reverts(simple, hash) }) {
			in = s.ID
		}
	})
	return in
}

// reverts reports whether a command is a git revert of the commit with a hash. Either
// form of the hash may be the shorter one.
func reverts(simple, hash string) bool {
	words := shell.Fields(simple)
	if len(words) < 3 || words[0] != "git" || words[1] != "revert" {
		return false
	}
	for _, w := range words[2:] {
		if len(w) >= leastHash && (strings.HasPrefix(w, hash) || strings.HasPrefix(hash, w)) {
			return true
		}
	}
	return false
}

// leastHash is the minimum length of an abbreviated hash, as git prints it.
const leastHash = 7

// commitHash reads the first hash from the output of git commit: "[main 4be1f02] subject". It
// returns "" if there is none.
func commitHash(result string) string {
	if hashes := commitHashes(result); len(hashes) > 0 {
		return hashes[0]
	}
	return ""
}

// commitHashes reads the hashes of all commits from an output.
func commitHashes(result string) (out []string) {
	for line := range strings.Lines(result) {
		if line = strings.TrimSpace(line); committed(line) {
			head, _, _ := strings.Cut(line, "] ")
			out = append(out, head[strings.LastIndexByte(head, ' ')+1:])
		}
	}
	return out
}
