package ariadne

import (
	"slices"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/internal/recent"
)

// spreader gives spans the times that the viewer can draw: whole milliseconds,
// siblings never in the same one, parents ending after their children. It
// remembers the families of some thousand recent parents.
type spreader struct{ families *recent.Map[parent, *family] }

// parent names the span whose children are a family; the empty span id stands
// for the trace itself.
type parent struct{ trace, span string }

// family is what has been sent below one parent, in milliseconds.
type family struct {
	starts []int64 // sorted; the latest few
	end    int64   // of the one that ends last
}

const (
	families  = 4096 // that are remembered at least
	maxStarts = 256  // per family
)

func newSpreader() *spreader { return &spreader{recent.New[parent, *family](families)} }

// place returns where the span is to be drawn, in milliseconds since 1970:
// from its own start, or the next millisecond that no sibling has, to its own
// end, but for at least a millisecond and until after its last child.
func (s *spreader) place(ev *trace.Event) (start, end int64) {
	from, to := times(ev)
	f := s.family(parent{ev.TraceID, ev.ParentID})
	start = f.slot(from.UnixMilli())
	end = max(to.UnixMilli(), start+1)
	if children, ok := s.families.Find(parent{ev.TraceID, ev.SpanID}); ok {
		end = max(end, children.end+1)
	}
	f.end = max(f.end, end)
	return start, end
}

// traceEnd returns end, or a millisecond after the trace's last root.
func (s *spreader) traceEnd(traceID string, end int64) int64 {
	if roots, ok := s.families.Find(parent{trace: traceID}); ok {
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

// family finds or makes a family. Those that were not used for long are
// forgotten: their parents are long finished.
func (s *spreader) family(p parent) *family {
	f, ok := s.families.Find(p)
	if !ok {
		f = &family{}
		s.families.Put(p, f)
	}
	return f
}
