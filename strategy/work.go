package strategy

import (
	"cmp"
	"slices"
)

// A FileState is what a history did to one file, all in all.
type FileState struct {
	Path    string
	Op      Op       // what weighs most: deleted, created, edited, ran, read
	Funcs   []string // touched
	Changes int      // calls that changed it
	Last    int      // number of the step that touched it last
}

// Files returns the files that calls touched, those that were changed last
// first. What a later call undid is not shown: a file that was created and
// then deleted is deleted.
func (h *History) Files() []FileState {
	byPath := map[string]int{}
	var out []FileState
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			for _, f := range h.Steps[i].Calls[k].Files {
				at, ok := byPath[f.Path]
				if !ok {
					at = len(out)
					byPath[f.Path] = at
					out = append(out, FileState{Path: f.Path, Op: f.Op})
				}
				out[at].merge(f, h.Steps[i].ID)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b FileState) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(b.Last, a.Last))
	})
	return out
}

func (s *FileState) weight() int {
	if s.Op >= Edited {
		return 1
	}
	return 0
}

func (s *FileState) merge(f FileOp, step int) {
	s.Last = step
	switch {
	case f.Op < Edited:
		s.Op = max(s.Op, f.Op)
		return
	case f.Op == Edited && s.Op == Created:
	default:
		s.Op = f.Op
	}
	s.Changes++
	for _, name := range f.Funcs {
		if !slices.Contains(s.Funcs, name) && len(s.Funcs) < maxFuncs {
			s.Funcs = append(s.Funcs, name)
		}
	}
}

// failures returns the commands and calls whose last run failed: what has to
// be dealt with.
func (h *History) failures() []Fact {
	last := map[string]Fact{}
	var order []string
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			key := c.head()
			if c.Outcome != Failed {
				delete(last, key)
				continue
			}
			value := 0.25
			if c.Check() {
				value = 0.8
			}
			order = append(order, key)
			last[key] = Fact{s.ID, key + " " + c.failure() + " " + stepID(s.ID), value * h.recency(s.ID) * h.recency(s.ID)}
		}
	}
	var out []Fact
	for _, key := range order {
		if f, ok := last[key]; ok {
			out = append(out, f)
			delete(last, key)
		}
	}
	return out
}

// failure says in a few words how a call failed.
func (c *Call) failure() string {
	if e := c.ErrorLine(); e != "" {
		return "failed: " + e
	}
	return "failed"
}

// effects returns the calls that changed something outside: done, not to be
// repeated.
func (h *History) effects() []Fact {
	var out []Fact
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			if c := &s.Calls[k]; c.Effect() {
				out = append(out, Fact{s.ID, c.doneLine() + " (do not repeat) " + stepID(s.ID), 0.45 * h.recency(s.ID)})
			}
		}
	}
	return out
}

// lastCheck returns the newest run of tests or a build that has a result.
func (h *History) lastCheck() (Fact, bool) {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		for k := len(s.Calls) - 1; k >= 0; k-- {
			c := &s.Calls[k]
			if !c.Check() || !c.Answered {
				continue
			}
			text := c.head() + " → passed"
			if c.Outcome == Failed {
				text = c.head() + " → " + c.failure()
			}
			return Fact{s.ID, text + " " + stepID(s.ID), 1}, true
		}
	}
	return Fact{}, false
}
