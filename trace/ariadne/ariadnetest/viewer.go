package ariadnetest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// viewer examines accepted events like Ariadne's page, and records everything
// that the page would display wrongly or not at all. It keeps about 60 bytes
// per span, without pointers, so that minutes of load cost little memory.
type viewer struct {
	problems []string
	spans    []drawnPlace
	ids      map[uint64]uint32 // span id → index of the trace that has it
	traces   map[string]*row
	byIndex  []string          // ids of the traces
	odd      map[uint64]string // span ids that are not 16 hex digits
	names    map[string]uint32
	byName   []string
	foreign  map[[2]string]bool // trace and span ids of the caller's own tracing
	lossy    bool               // some events were lost on purpose
}

// drawnPlace holds the parts of a span that determine where it is drawn.
type drawnPlace struct {
	trace, name uint32
	id, parent  uint64 // 0: none
	start, end  int64  // milliseconds
}

// row is a trace in the list.
type row struct {
	index      uint32
	labeled    bool
	first      bool // a trace event was seen
	start, end int64
}

func newViewer() viewer {
	return viewer{
		ids: map[uint64]uint32{}, traces: map[string]*row{}, odd: map[uint64]string{}, names: map[string]uint32{}, foreign: map[[2]string]bool{},
	}
}

func (v *viewer) add(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// row finds or makes the row of a trace.
func (v *viewer) row(id string) *row {
	r := v.traces[id]
	if r == nil {
		id = strings.Clone(id) // don't retain the body
		r = &row{index: uint32(len(v.byIndex))}
		v.traces[id] = r
		v.byIndex = append(v.byIndex, id)
	}
	return r
}

// number converts a span id to a number. An id that is not 16 hex digits is
// hashed and remembered.
func (v *viewer) number(id string) uint64 {
	if id == "" {
		return 0
	}
	if isSpanID(id) {
		n, _ := strconv.ParseUint(id, 16, 64) // a span id is a valid hex number
		return n
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	v.odd[h.Sum64()] = strings.Clone(id)
	return h.Sum64()
}

// spelled returns the span id of a number.
func (v *viewer) spelled(n uint64) string {
	if id, odd := v.odd[n]; odd {
		return id
	}
	return fmt.Sprintf("%016x", n)
}

func (v *viewer) nameIndex(name string) uint32 {
	i, known := v.names[name]
	if !known {
		name = strings.Clone(name)
		i = uint32(len(v.byName))
		v.names[name] = i
		v.byName = append(v.byName, name)
	}
	return i
}

// about identifies the event of a remark.
func about(e *Event) string {
	return fmt.Sprintf("%s %q (trace %s, span %s)", e.Type, e.Name, e.TraceID, e.SpanID)
}

// note adds a remark about an event.
func (v *viewer) note(e *Event, format string, args ...any) {
	v.add("%s: %s", about(e), fmt.Sprintf(format, args...))
}

// see examines one event.
func (v *viewer) see(e *Event) {
	for _, r := range e.remarks {
		v.note(e, "%s", r)
	}
	if e.Type == "trace" {
		v.seeTrace(e)
		return
	}
	v.seeSpan(e)
	v.seeData(e)
}

func (v *viewer) seeTrace(e *Event) {
	r := v.row(e.TraceID)
	m := e.Metadata
	r.labeled = cmp.Or(m["agent_name"], m["agent"], m["agent_id"]) != "" && e.GroupID != ""
	if e.StartedAt.IsZero() || beforeOurTime(e.StartedAt) {
		v.note(e, "no sensible started_at, so no bar")
	}
	if e.Name == "" {
		v.note(e, "no name, its id is shown")
	}
	if !r.first { // the page keeps the first version
		r.first, r.start, r.end = true, e.StartedAt.UnixMilli(), 0
		if !e.EndedAt.IsZero() {
			r.end = e.EndedAt.UnixMilli()
		}
	}
}

// isSpanID reports whether id has the form that the page expects.
func isSpanID(id string) bool {
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(id) == 16
}

func (v *viewer) seeSpan(e *Event) {
	r, id := v.row(e.TraceID), v.number(e.SpanID)
	if other, twice := v.ids[id]; twice {
		v.note(e, "span_id was sent before, in trace %s; only the first is shown", v.byIndex[other])
	}
	v.ids[id] = r.index
	switch {
	case !isSpanID(e.SpanID):
		v.note(e, "span_id is not 16 hex digits")
	case e.Name == "" || e.Kind == "" || e.Status == "":
		v.note(e, "name, kind or status is missing")
	case e.StartedAt.IsZero() || e.EndedAt.IsZero():
		v.note(e, "without both times it stays in progress for ever")
	case beforeOurTime(e.StartedAt):
		v.note(e, "started_at %s ruins the time axis", e.StartedAt.Format(time.RFC3339))
	case oddIcon(e):
		v.note(e, "its name gives it the icon of a request or a tool")
	}
	v.spans = append(v.spans, drawnPlace{r.index, v.nameIndex(e.Name), id, v.number(e.ParentID), e.StartedAt.UnixMilli(), e.EndedAt.UnixMilli()})
}

func beforeOurTime(t time.Time) bool { return t.Year() < 2000 }

// oddIcon reports whether the page picks an icon that does not fit the span.
func oddIcon(e *Event) bool {
	name, kind := strings.ToLower(e.Name), strings.ToLower(e.Kind)
	for _, word := range []string{"handoff", "fetch", "check", "send", "get", "post"} {
		if strings.Contains(name, word) && !strings.Contains(kind, word) {
			return true
		}
	}
	return false
}

// shown lists the keys of data in which the page looks for the text to show.
var shown = []string{"final_output", "output_text", "response", "output", "result", "message", "messages", "content", "tool_output"}

func (v *viewer) seeData(e *Event) {
	n := len(e.data.members)
	if n == 0 {
		v.note(e, "no data, the inspector is empty")
		return
	}
	if id, _ := e.data.get("session_id"); id.kind != '"' || id.text == "" {
		v.note(e, "data has no session_id to search for")
	}
	for _, k := range shown {
		if s, there := e.data.get(k); there && (s.kind != '"' || s.text == "") {
			v.note(e, "data.%s is taken for the text to show, and is %.60q", k, fmt.Sprint(s.plain()))
		}
	}
	last := e.data.members[n-1].key
	if last != "output_text" && last != "message" {
		v.note(e, "data ends with %q instead of the text to show", last)
	}
	if e.Status == "error" && !e.has("message") && !e.has("output_text") {
		v.note(e, "an error without a text")
	}
}

// has reports whether the data has a key that is not null.
func (e *Event) has(key string) bool {
	s, there := e.data.get(key)
	return there && s.kind != 'n'
}

// verdict returns all problems, including problems that only all events together
// reveal.
func (v *viewer) verdict() []string {
	w := viewer{problems: slices.Clone(v.problems)}
	v.siblings(&w)
	if !v.lossy {
		v.families(&w)
		v.rows(&w)
	}
	return w.problems
}
