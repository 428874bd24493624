package tracetest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// viewer looks at accepted events as Ariadne's page does, and notes what it
// would show wrongly, or not at all.
type viewer struct {
	problems []string
	spans    []drawn
	ids      map[string]string // span id to the trace that has it
	traces   map[string]*row
	foreign  map[[2]string]bool // trace and span ids that the caller's own tracing made
	lossy    bool               // events were lost on purpose
}

// drawn is what of a span decides where it is drawn.
type drawn struct {
	trace, id, parent, name string
	start, end              int64 // milliseconds
}

// row is a trace in the list.
type row struct {
	labelled   bool
	first      bool // a trace event was seen
	start, end int64
}

func newViewer() viewer {
	return viewer{ids: map[string]string{}, traces: map[string]*row{}, foreign: map[[2]string]bool{}}
}

func (v *viewer) add(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// row finds or makes the row of a trace.
func (v *viewer) row(id string) *row {
	r := v.traces[id]
	if r == nil {
		r = &row{}
		v.traces[id] = r
	}
	return r
}

// see looks at one event.
func (v *viewer) see(e Event) {
	what := fmt.Sprintf("%s %q (trace %s, span %s)", e.Type, e.Name, e.TraceID, e.SpanID)
	for _, r := range e.remarks {
		v.add("%s: %s", what, r)
	}
	if e.Type == "trace" {
		v.seeTrace(e, what)
		return
	}
	v.seeSpan(e, what)
	v.seeData(e, what)
}

func (v *viewer) seeTrace(e Event, what string) {
	r := v.row(e.TraceID)
	m := e.Metadata
	r.labelled = cmp.Or(m["agent_name"], m["agent"], m["agent_id"]) != "" && e.GroupID != ""
	if e.StartedAt.IsZero() || beforeOurTime(e.StartedAt) {
		v.add("%s: no sensible started_at, so no bar", what)
	}
	if e.Name == "" {
		v.add("%s: no name, its id is shown", what)
	}
	if !r.first { // the first version stays on the screen
		r.first, r.start, r.end = true, e.StartedAt.UnixMilli(), 0
		if !e.EndedAt.IsZero() {
			r.end = e.EndedAt.UnixMilli()
		}
	}
}

var spanID = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (v *viewer) seeSpan(e Event, what string) {
	v.row(e.TraceID)
	if other, twice := v.ids[e.SpanID]; twice {
		v.add("%s: span_id was sent before, in trace %s; only the first is shown", what, other)
	}
	v.ids[e.SpanID] = e.TraceID
	switch {
	case !spanID.MatchString(e.SpanID):
		v.add("%s: span_id is not 16 hex digits", what)
	case e.Name == "" || e.Kind == "" || e.Status == "":
		v.add("%s: name, kind or status is missing", what)
	case e.StartedAt.IsZero() || e.EndedAt.IsZero():
		v.add("%s: without both times it stays in progress for ever", what)
	case beforeOurTime(e.StartedAt):
		v.add("%s: started_at %s ruins the time axis", what, e.StartedAt.Format(time.RFC3339))
	case oddIcon(e):
		v.add("%s: its name gives it the icon of a request or a tool", what)
	}
	v.spans = append(v.spans, drawn{e.TraceID, e.SpanID, e.ParentID, e.Name, e.StartedAt.UnixMilli(), e.EndedAt.UnixMilli()})
}

func beforeOurTime(t time.Time) bool { return t.Year() < 2000 }

// oddIcon reports whether the page picks an icon that the span doesn't mean.
func oddIcon(e Event) bool {
	name, kind := strings.ToLower(e.Name), strings.ToLower(e.Kind)
	for _, word := range []string{"handoff", "fetch", "check", "send", "get", "post"} {
		if strings.Contains(name, word) && !strings.Contains(kind, word) {
			return true
		}
	}
	return false
}

// shown are the keys of data in which the page looks for the text to show.
var shown = []string{"final_output", "output_text", "response", "output", "result", "message", "messages", "content", "tool_output"}

func (v *viewer) seeData(e Event, what string) {
	if len(e.DataKeys) == 0 {
		v.add("%s: no data, the inspector is empty", what)
		return
	}
	if id, ok := e.Data["session_id"].(string); !ok || id == "" {
		v.add("%s: data has no session_id to search for", what)
	}
	for _, k := range shown {
		if value, there := e.Data[k]; there {
			if s, ok := value.(string); !ok || s == "" {
				v.add("%s: data.%s is taken for the text to show, and is %.60q", what, k, fmt.Sprint(value))
			}
		}
	}
	last := e.DataKeys[len(e.DataKeys)-1]
	if last != "output_text" && last != "message" {
		v.add("%s: data ends with %q instead of the text to show", what, last)
	}
	if e.Status == "error" && e.Data["message"] == nil && e.Data["output_text"] == nil {
		v.add("%s: an error without a text", what)
	}
}

// verdict adds what only the whole picture shows.
func (v *viewer) verdict() []string {
	w := viewer{problems: slices.Clone(v.problems)}
	v.siblings(&w)
	if !v.lossy {
		v.families(&w)
		v.rows(&w)
	}
	return w.problems
}

// siblings finds those that start in the same millisecond: they are shown in
// reverse.
func (v *viewer) siblings(w *viewer) {
	spans := slices.Clone(v.spans)
	slices.SortFunc(spans, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.trace, b.trace), cmp.Compare(a.parent, b.parent), cmp.Compare(a.start, b.start))
	})
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		if a.trace == b.trace && a.parent == b.parent && a.start == b.start && a.id != b.id {
			w.add("spans %s %q and %s %q of trace %s start in the same millisecond", a.id, a.name, b.id, b.name, b.trace)
		}
	}
}

// families looks at spans and their parents.
func (v *viewer) families(w *viewer) {
	byID := make(map[[2]string]drawn, len(v.spans))
	for _, s := range v.spans {
		byID[[2]string{s.trace, s.id}] = s
	}
	for _, s := range v.spans {
		key := [2]string{s.trace, s.parent}
		parent, found := byID[key]
		switch {
		case s.parent == "" || v.foreign[key]:
		case !found:
			w.add("span %s %q: its parent %s is not in trace %s", s.id, s.name, s.parent, s.trace)
		case inCycle(byID, s):
			w.add("span %s %q is its own ancestor, and invisible", s.id, s.name)
		case parent.end <= s.end:
			w.add("span %s %q ends at or after its parent %q (%d, %d)", s.id, s.name, parent.name, s.end, parent.end)
		}
	}
}

func inCycle(byID map[[2]string]drawn, s drawn) bool {
	seen := map[string]bool{}
	for s.parent != "" {
		if seen[s.id] {
			return true
		}
		seen[s.id] = true
		next, found := byID[[2]string{s.trace, s.parent}]
		if !found {
			return false
		}
		s = next
	}
	return false
}

// rows looks at traces: their labels, and that their bar covers their roots.
func (v *viewer) rows(w *viewer) {
	for id, r := range v.traces {
		switch {
		case !r.first && !v.hasForeign(id):
			w.add("trace %s has no trace event: it is in no group, and its id is its name", id)
		case r.first && !r.labelled:
			w.add("trace %s is in a group without a label", id)
		}
	}
	for _, s := range v.spans {
		if r := v.traces[s.trace]; r.end != 0 && s.parent == "" && s.end >= r.end {
			w.add("span %s %q ends at or after its trace %s", s.id, s.name, s.trace)
		}
	}
}

func (v *viewer) hasForeign(trace string) bool {
	for key := range v.foreign {
		if key[0] == trace {
			return true
		}
	}
	return false
}
