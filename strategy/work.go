package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A fileState is the net effect of a history on one file.
type fileState struct {
	Path    string
	From    string         // former name of a renamed file
	Op      fileops.Kind   // the most important operation: deleted, created, edited, ran, read
	Funcs   []string       // touched functions
	Added   []string       // headings or lines of text and settings, the newest last
	Changes int            // number of calls that changed the file
	named   []string       // other paths of the file in calls
	Undone  bool           // all changes were taken back
	addedIn map[string]int // number of the step that added an entry of Funcs or Added
	Last    int            // number of the last step that changed the file, or that used an unchanged file
}

// fileStates returns the files that calls used and the files of the previous summary.
// Changed files come first, beginning with the latest change; temporary files come last.
// Only the net effect counts: a file that was created and then deleted is deleted.
func (h *History) fileStates() []fileState {
	if h.files == nil {
		h.files = h.readFiles()
	}
	return h.files
}

func (h *History) readFiles() []fileState {
	byPath := map[string]int{}
	out := []fileState{}
	for _, f := range h.Previous.files() {
		if _, ok := byPath[h.key(f.Path)]; !ok {
			byPath[h.key(f.Path)] = len(out)
			out = append(out, f)
		}
	}
	h.eachCall(func(s *Step, c *Call) {
		for _, f := range c.files {
			key, from := h.key(f.Path), h.key(f.From)
			at, ok := byPath[key]
			if was, known := byPath[from]; f.Op == fileops.Renamed && known {
				if ok && at != was {
					out[at].Path = ""
				}
				at, ok = was, true
				out[at].Path, byPath[key] = f.Path, at
				delete(byPath, from)
			}
			if !ok {
				at = len(out)
				byPath[key] = at
				out = append(out, fileState{Path: f.Path, Op: f.Op})
			}
			if h.full[f.Path] == "" || !ok {
				out[at].Path = f.Path // the path in the calls; if they have both forms, the absolute path
			} else {
				f.Named = f.Path
			}
			out[at].merge(f, s.ID)
			if f.Named != "" && !slices.Contains(out[at].named, f.Named) {
				out[at].named = append(out[at].named, f.Named)
			}
		}
	})
	out = slices.DeleteFunc(out, func(f fileState) bool { return f.Path == "" })
	slices.SortStableFunc(out, func(a, b fileState) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(b.Last, a.Last))
	})
	return out
}

// rewrites lists phrases of results that report that an existing file was
// written.
var rewrites = []string{"has been updated", "updated successfully", "overwritten", "overwrote"}

// findRewritten changes the operation "created" to "edited" if the file existed before: an
// earlier call read or changed the file, or the tool says so.
func (h *History) findRewritten() {
	there := map[string]bool{}
	for _, f := range h.Previous.files() {
		there[h.key(f.Path)] = f.Op != fileops.Deleted
	}
	h.eachCall(func(_ *Step, c *Call) {
		said := prose.HasAny(c.Result[:min(len(c.Result), edge)], rewrites)
		for i := range c.files {
			f := &c.files[i]
			if f.Op == fileops.Created && (there[h.key(f.Path)] || said && len(c.files) == 1) {
				f.Op = fileops.Edited
			}
			there[h.key(f.From)] = there[h.key(f.From)] && f.Op != fileops.Renamed
			switch {
			case f.Op == fileops.Read && c.Command() != "" && (c.Exit != 0 || checks.HidesStatus(c.Command())) && !c.showsFile(): // the command may have reported that there is no such file
			case f.Op != fileops.Ran:
				there[h.key(f.Path)] = f.Op != fileops.Deleted
			}
		}
	})
}

// missing lists what commands print in place of a file.
var missing = []string{"no such file", "cannot open", "can't open", "cannot find", "not found", "does not exist", "nicht gefunden"}

// showsFile reports whether a pipe of commands printed text of the file that it reads: the
// status of a pipe is that of its last command.
func (c *Call) showsFile() bool {
	cmd, text := c.Command(), body(c.Result)
	return strings.Contains(cmd, "|") && c.Exit <= 0 && !prose.HasAny(cmd, []string{"2>", "||", ";", "\n", "echo", "&>"}) &&
		strings.Contains(strings.TrimSpace(text), "\n") && !prose.HasAny(strings.ToLower(text[:min(len(text), edge)]), missing)
}

func (s *fileState) weight() int {
	switch {
	case s.Op < fileops.Edited:
		return 0
	case throwaway(s.Path):
		return 1
	}
	return 2
}

func (s *fileState) merge(f fileops.Op, step int) {
	if f.Op < fileops.Edited {
		if s.Op = max(s.Op, f.Op); s.Op < fileops.Edited {
			s.Last = step
		}
		return
	}
	if f.Op == fileops.TookBack {
		s.takeBack(f, step)
		return
	}
	if s.Undone {
		s.Undone, s.Op, s.From = false, f.Op, ""
	}
	s.Last = step
	was := s.Op == fileops.Deleted && s.Changes > 0
	switch {
	case (f.Op == fileops.Edited || f.Op == fileops.Renamed) && s.Op == fileops.Created && s.Changes > 0, f.Op == fileops.Edited && s.Op == fileops.Renamed:
	default:
		s.Op = f.Op
	}
	if f.Op == fileops.Renamed && s.From == "" {
		s.From = f.From
	}
	if (f.Op != fileops.Deleted || !was) && (f.Op != fileops.Renamed || s.Op != fileops.Created) {
		s.Changes++ // a rename of a created file does not count, because its line has the new name
	}
	if s.addedIn == nil {
		s.addedIn = map[string]int{}
	}
	for _, text := range f.Added {
		s.addedIn[text] = step
		s.Added = append(slices.DeleteFunc(s.Added, func(had string) bool { return had == text }), text)
	}
	for _, name := range f.Funcs {
		if !slices.Contains(s.Funcs, name) && len(s.Funcs) < fileops.MaxFuncs {
			s.Funcs, s.addedIn[name] = append(s.Funcs, name), step
		}
	}
}

// effects returns the calls with an effect outside the session, which must not be
// repeated. Sessions commit and push again and again, so effects returns only the last few
// commits and pushes. Effects of one kind in one step share a line.
func (h *History) effects() []fact {
	var all []effect
	times := map[string]int{}
	probes := h.probes()
	h.eachCall(func(s *Step, c *Call) {
		if !c.Effect() || probes[c] {
			return
		}
		e := effect{call: c, step: s.ID, kind: c.effectKind(), repeats: c.repeated()}
		if n := len(all); n > 0 && all[n-1].takes(&e) {
			return
		}
		all = append(all, e)
		times[e.repeats]++
	})
	seen := map[string]int{}
	all = foldGroups(all)
	out := h.partlyDoneFacts()
	for i := range all {
		e := &all[i]
		if seen[e.repeats]++; e.repeats == "" || seen[e.repeats] > times[e.repeats]-mostRepeated {
			out = append(out, fact{e.step, e.tell() + h.howItStands(e, all[i+1:]) + " " + stepID(e.step), failedValue + 0.2*h.recency(e.step)})
		}
	}
	return out
}

// laterNotes returns the notes about effects to which something happened later, in place of the note
// that they must not be repeated.
func (h *History) laterNotes() map[*Call]string {
	var all []effect
	h.eachCall(func(s *Step, c *Call) {
		if c.Effect() {
			all = append(all, effect{call: c, step: s.ID, kind: c.effectKind(), repeats: c.repeated()})
		}
	})
	out := map[*Call]string{}
	for i := range all {
		if how := h.howItStands(&all[i], all[i+1:]); how != doneOnce {
			out[all[i].call] = how
		}
	}
	return out
}

// doneOnce is the note after an effect to which nothing happened later.
const doneOnce = " (do not repeat)"

// howItStands returns the words after an effect: that it must not be repeated, that it was
// only requested, or what happened to it later.
func (h *History) howItStands(e *effect, later []effect) string {
	said, pending := h.refusedLater(e.call, e.step), e.call.pending()
	switch {
	case said != "" && pending:
		return onlyAsked + said
	case said != "":
		return " (" + said
	case pending:
		return waiting
	}
	if then := afterwards(e, later); then != "" {
		return then
	}
	if in := h.revertedIn(e.call, e.step); in > 0 {
		return " (reverted " + stepID(in) + ")"
	}
	if in := h.resetIn(e.call, e.step); in > 0 {
		return " (then taken back with git reset " + stepID(in) + ")"
	}
	return doneOnce
}

// mostRepeated is the maximum number of effects of one command of repeatedCommands.
const mostRepeated = 3

// repeatedCommands lists commands that a session runs again and again.
var repeatedCommands = []string{"git commit", "git push"}

// repeated returns the command of repeatedCommands that a call ran, "" if it ran no
// such command.
func (c *Call) repeated() (of string) {
	shell.Any(c.Command(), func(simple string) bool {
		for _, r := range repeatedCommands {
			if strings.HasPrefix(shell.WithoutGlobals(simple), r) {
				of = r
			}
		}
		return false
	})
	return of
}
