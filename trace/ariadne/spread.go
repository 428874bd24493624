package ariadne

import (
	"slices"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/internal/recent"
)

// spreader gives spans times that the viewer can draw: whole milliseconds, siblings in
// different milliseconds, and parents that end after their children. It remembers the
// families of some thousand recent parents.
type spreader struct{ families *recent.Map[parent, *family] }

// parent identifies the span whose children form a family. An empty span id
// stands for the trace itself.
type parent struct{ trace, span string }

// family describes the spans that were sent below one parent, in milliseconds.
type family struct {
	starts []int64 // sorted; the last maxStarts
	end    int64   // of the child that ends last
}

const (
	families  = 4096 // minimum number that is remembered
	maxStarts = 256  // per family
)

func newSpreader() *spreader { return &spreader{recent.New[parent, *family](families)} }

// place returns the interval in which the span is drawn, in milliseconds since
// 1970. It begins at the span's start, or at the next millisecond without a
// sibling. It ends at the span's end, but lasts at least a millisecond and ends
// after the last child.
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

// family finds or makes a family. Families that were not used for long are
// forgotten, because their parents have finished.
func (s *spreader) family(p parent) *family {
	f, ok := s.families.Find(p)
	if !ok {
		f = &family{}
		s.families.Put(p, f)
	}
	return f
}
