package compact

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
)

// tidiedWithin is the number of turns within which a repeated request shows that
// the agent needed the reduced result.
const tidiedWithin = 10

// countTidied sets the counts of reducers in this call.
func (c *call) countTidied(out *reduce.Outcome) {
	if !c.tidies() {
		return
	}
	by := map[string]*Tidied{}
	of := func(name string) *Tidied {
		if by[name] == nil {
			by[name] = &Tidied{Reducer: name}
		}
		return by[name]
	}
	if out != nil {
		for i := range out.Passes {
			countEdits(&out.Passes[i], of)
			countFailed(out.Passes[i].Err, of)
		}
	}
	c.readAgain(of)
	if !c.q.dry {
		for name, n := range c.s.takeRecalled() {
			of(name).Recalled += n
		}
	}
	c.res.Tidied = nil
	for _, t := range by {
		c.res.Tidied = append(c.res.Tidied, *t)
	}
	slices.SortFunc(c.res.Tidied, func(a, b Tidied) int { return strings.Compare(a.Reducer, b.Reducer) })
}

func countEdits(p *reduce.Pass, of func(string) *Tidied) {
	if p.Stage != tidy.StageName || p.Applied == 0 {
		return
	}
	for k := range p.Recipe.Texts {
		t := &p.Recipe.Texts[k]
		name, ok := reducerOf(t.Reason)
		mark := markOf(t)
		if !ok || mark == nil {
			continue
		}
		of(name).Results++
		of(name).TokensSaved += mark.Tokens - mark.Kept
	}
}

func countFailed(err error, of func(string) *Tidied) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			countFailed(err, of)
		}
		return
	}
	var failed *tidy.ReducerError
	if errors.As(err, &failed) {
		of(failed.Reducer).Failed++
	}
}

// reducerOf returns the reducer that a reason names.
func reducerOf(reason string) (string, bool) { return strings.CutPrefix(reason, tidy.Reason) }

func markOf(t *reduce.TextRecipe) *policy.Mark {
	for i := range t.Segments {
		if t.Segments[i].Mark != nil {
			return t.Segments[i].Mark
		}
	}
	return nil
}

// readAgain counts the reduced results, at most tidiedWithin turns old, that a new
// result repeats, each of them once.
func (c *call) readAgain(of func(string) *Tidied) {
	v, sent := c.view(), c.wasSent()
	for i := v.Arrived(); i < len(v.Messages); i++ {
		for p := range v.Messages[i].Parts {
			if v.Messages[i].Parts[p].Kind != message.KindToolResult || sent.has(&v.Messages[i]) {
				continue
			}
			k, first := tidy.Before(v, i, p)
			if k < 0 || !first || v.TurnOf(i)-v.TurnOf(k) > tidiedWithin || c.now.conv.Source(k) < 0 {
				continue
			}
			_, reason := c.now.conv.Decision(c.now.conv.Source(k))
			if name, ok := reducerOf(reason); ok {
				of(name).ReadAgain++
			}
		}
	}
}

// wasRecalled records that the text of a reference was recalled.
func (s *session) wasRecalled(ref string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.edits.All {
		for k := range s.edits.All[i].Recipes {
			r := &s.edits.All[i].Recipes[k]
			for t := range r.Texts {
				mark := markOf(&r.Texts[t])
				if name, ok := reducerOf(r.Texts[t].Reason); ok && mark != nil && mark.Ref == ref {
					if s.recalled == nil {
						s.recalled = map[string]int{}
					}
					s.recalled[name]++
					return
				}
			}
		}
	}
}

// takeRecalled returns the number of recalls since the last call, by reducer.
func (s *session) takeRecalled() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.recalled
	s.recalled = nil
	return out
}
