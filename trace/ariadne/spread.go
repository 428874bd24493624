package ariadne

import (
	"slices"

	"github.com/agentcompact/compact/trace"
)

// spreader gives spans the times that the viewer can draw: whole milliseconds,
// siblings never in the same one, parents ending after their children. It
// remembers the families of some thousand recent parents.
type spreader struct {
	recent, older map[parent]*family
}

// parent names the span whose children are a family; the empty span id stands
// for the trace itself.
type parent struct{ trace, span string }

// family is what has been sent below one parent, in milliseconds.
type family struct {
	starts []int64 // sorted; the latest few
	end    int64   // of the one that ends last
}

const (
	maxFamilies = 4096 // in each generation
	maxStarts   = 256  // per family
)

func newSpreader() *spreader { return &spreader{recent: map[parent]*family{}} }

// place returns where the span is to be drawn, in milliseconds since 1970:
// from its own start, or the next millisecond that no sibling has, to its own
// end, but for at least a millisecond and until after its last child.
func (s *spreader) place(ev *trace.Event) (start, end int64) {
	from, to := times(ev)
	f := s.family(parent{ev.TraceID, ev.ParentID})
	start = f.slot(from.UnixMilli())
	end = max(to.UnixMilli(), start+1)
	if children := s.lookup(parent{ev.TraceID, ev.SpanID}); children != nil {
		end = max(end, children.end+1)
	}
	f.end = max(f.end, end)
	return start, end
}

// traceEnd returns end, or a millisecond after the trace's last root.
func (s *spreader) traceEnd(traceID string, end int64) int64 {
	if roots := s.lookup(parent{trace: traceID}); roots != nil {
		return max(end, roots.end+1)
	}
	return end
}

func (f *family) slot(ms int64) int64 {
	i, _ := slices.BinarySearch(f.starts, ms)
	for ; i < len(f.starts) && f.starts[i] == ms; i++ {
		ms++
	}
	f.starts = slices.Insert(f.starts, i, ms)
	if len(f.starts) > maxStarts {
		f.starts = slices.Delete(f.starts, 0, 1)
	}
	return ms
}

// family finds or makes a family. When there are too many the older half is
// forgotten: their parents are long finished.
func (s *spreader) family(p parent) *family {
	if f := s.lookup(p); f != nil {
		return f
	}
	f := &family{}
	s.keep(p, f)
	return f
}

func (s *spreader) lookup(p parent) *family {
	if f := s.recent[p]; f != nil {
		return f
	}
	f := s.older[p]
	if f != nil {
		s.keep(p, f)
	}
	return f
}

func (s *spreader) keep(p parent, f *family) {
	if len(s.recent) >= maxFamilies {
		s.older, s.recent = s.recent, map[parent]*family{}
	}
	s.recent[p] = f
}
