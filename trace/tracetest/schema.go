package tracetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf16"
)

// Limits in UTF-16 units from which on the server cuts.
const (
	maxText = 102_400 // a string in data
	maxName = 1_024
	cutMark = "... [truncated]"
)

// Event is one event as the server keeps it after validation.
type Event struct {
	Type      string            `json:"type"` // "trace" or "span"
	TraceID   string            `json:"trace_id"`
	SpanID    string            `json:"span_id,omitempty"`
	ParentID  string            `json:"parent_id,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Name      string            `json:"name,omitempty"`
	GroupID   string            `json:"group_id,omitempty"`
	StartedAt time.Time         `json:"started_at,omitzero"`
	EndedAt   time.Time         `json:"ended_at,omitzero"`
	Status    string            `json:"status,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Data      map[string]any    `json:"data,omitempty"`

	DataKeys []string `json:"-"` // the keys of data in the order in which they were sent

	remarks []string // what was stripped, cut or turned into something else
}

// parseBody is what the server does with a body: decode, tell an envelope from
// a single event, validate.
func parseBody(body []byte) ([]Event, *fault) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	var root any
	if err := json.Unmarshal(body, &root); err != nil {
		return nil, &fault{status: http.StatusInternalServerError, message: err.Error()}
	}
	switch v := root.(type) {
	case map[string]any:
		return parseObject(v, body)
	case []any:
		return nil, invalidInput()
	}
	return nil, &fault{status: http.StatusInternalServerError, message: "cannot use 'in' operator to search for 'batch'"}
}

func parseObject(root map[string]any, body []byte) ([]Event, *fault) {
	batch, enveloped := root["batch"]
	if !enveloped {
		v := validator{keys: dataKeys(body, false)}
		return v.all([]any{root}, false)
	}
	list, ok := batch.([]any)
	if !ok {
		return nil, &fault{status: http.StatusInternalServerError, message: "batch is not iterable"}
	}
	v := validator{keys: dataKeys(body, true)}
	return v.all(list, true)
}

// invalidInput is all that the server says of a value of the wrong type.
func invalidInput() *fault {
	return &fault{status: http.StatusBadRequest, issues: []issue{{[]any{}, "Invalid input"}}}
}

// validator checks events against the schema: a union of trace and span.
type validator struct {
	keys   [][]string // of the data of each event
	path   []any
	issues []issue
	wrong  bool // a value of the wrong type was seen
}

func (v *validator) all(list []any, enveloped bool) ([]Event, *fault) {
	events := make([]Event, 0, len(list))
	for i, raw := range list {
		v.path = nil
		if enveloped {
			v.path = []any{"batch", i}
		}
		m, ok := raw.(map[string]any)
		if !ok {
			return nil, invalidInput()
		}
		e := v.event(m)
		if i < len(v.keys) {
			e.DataKeys = v.keys[i]
		}
		events = append(events, e)
	}
	switch {
	case v.wrong:
		return nil, invalidInput()
	case len(v.issues) > 0:
		return nil, &fault{status: http.StatusBadRequest, issues: v.issues}
	}
	return events, nil
}

var (
	traceKeys = []string{"type", "trace_id", "name", "group_id", "started_at", "ended_at", "metadata"}
	spanKeys  = []string{"type", "trace_id", "span_id", "parent_id", "kind", "name", "started_at", "ended_at", "data", "status"}
)

func (v *validator) event(m map[string]any) Event {
	e := Event{Type: v.text(m, "type")}
	known := traceKeys
	switch e.Type {
	case "trace":
		e.GroupID = v.text(m, "group_id")
		e.Metadata = v.metadata(m)
	case "span":
		known = spanKeys
		e.SpanID = v.id(m, "span_id")
		e.ParentID, e.Kind, e.Status = v.text(m, "parent_id"), v.text(m, "kind"), v.status(m)
		e.Data = v.data(m, &e)
	default:
		v.wrong = true
	}
	e.TraceID = v.id(m, "trace_id")
	e.Name = cutText(v.text(m, "name"), maxName, "name", &e)
	v.times(m, &e)
	for k := range m {
		if !slices.Contains(known, k) {
			e.remarks = append(e.remarks, fmt.Sprintf("key %q is silently stripped", k))
		}
	}
	slices.Sort(e.remarks)
	return e
}

// text returns an optional string.
func (v *validator) text(m map[string]any, key string) string {
	raw, there := m[key]
	s, ok := raw.(string)
	if there && !ok {
		v.wrong = true // null too
	}
	return s
}

// id returns a required string of at least one character.
func (v *validator) id(m map[string]any, key string) string {
	if _, there := m[key]; !there {
		v.wrong = true
	}
	s := v.text(m, key)
	if s == "" {
		v.complain(key, "Too small: expected string to have >=1 characters")
	}
	return s
}

func (v *validator) status(m map[string]any) string {
	s := v.text(m, "status")
	if _, there := m["status"]; there && s != "ok" && s != "error" {
		v.wrong = true
	}
	return s
}

func (v *validator) metadata(m map[string]any) map[string]string {
	raw, there := m["metadata"]
	if !there {
		return nil
	}
	object, ok := raw.(map[string]any)
	if !ok {
		v.wrong = true
	}
	out := make(map[string]string, len(object))
	for k, value := range object {
		s, ok := value.(string)
		if !ok {
			v.wrong = true
		}
		out[k] = s
	}
	return out
}

// data returns an object. Arrays and strings become one, as JavaScript spreads
// them, which nobody can have meant.
func (v *validator) data(m map[string]any, e *Event) map[string]any {
	raw, there := m["data"]
	if !there {
		return nil
	}
	out := make(map[string]any)
	switch d := raw.(type) {
	case map[string]any:
		out = d
	case []any:
		e.remarks = append(e.remarks, "data is an array, not an object")
		for i, x := range d {
			out[fmt.Sprint(i)] = x
		}
	case string:
		e.remarks = append(e.remarks, "data is a string, not an object")
		for i, unit := range utf16.Encode([]rune(d)) {
			out[fmt.Sprint(i)] = string(rune(unit))
		}
	default:
		v.wrong = true
	}
	cutObject(out, "data", e)
	return out
}

func (v *validator) times(m map[string]any, e *Event) {
	var begun, over bool
	e.StartedAt, begun = v.time(m, "started_at")
	e.EndedAt, over = v.time(m, "ended_at")
	if begun && over && e.EndedAt.UnixMilli() < e.StartedAt.UnixMilli() {
		v.complain("ended_at", "ended_at must be >= started_at")
	}
	if (begun && e.StartedAt.IsZero()) || (over && e.EndedAt.IsZero()) {
		e.remarks = append(e.remarks, "the zero time of Go is accepted, and ruins the time axis")
	}
}

// time returns an optional time, and whether there is one.
func (v *validator) time(m map[string]any, key string) (time.Time, bool) {
	s := v.text(m, key)
	if _, there := m[key]; !there || v.wrong {
		return time.Time{}, false
	}
	t, ok := parseDatetime(s)
	if !ok {
		v.complain(key, "Invalid datetime")
	}
	return t, ok
}

func (v *validator) complain(key, message string) {
	v.issues = append(v.issues, issue{append(slices.Clone(v.path), key), message})
}

// cutObject cuts long strings at any depth of objects, but not in arrays.
func cutObject(m map[string]any, path string, e *Event) {
	for k, value := range m {
		switch x := value.(type) {
		case string:
			m[k] = cutText(x, maxText, path+"."+k, e)
		case map[string]any:
			cutObject(x, path+"."+k, e)
		}
	}
}

func cutText(s string, units int, path string, e *Event) string {
	if len(s) <= units { // bytes are never fewer than units
		return s
	}
	u := utf16.Encode([]rune(s))
	if len(u) <= units {
		return s
	}
	e.remarks = append(e.remarks, fmt.Sprintf("%s has %d UTF-16 units and is cut to %d", path, len(u), units))
	return string(utf16.Decode(u[:units])) + cutMark
}
