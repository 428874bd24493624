package ariadnetest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Limits of the server in UTF-16 units, above which it cuts.
const (
	maxText = 102_400 // a string in data
	maxName = 1_024
	cutMark = "... [truncated]"
)

// Event is one event as the server stores it after validation.
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

	data    value    // source of Data and DataKeys
	remarks []string // descriptions of the stripped, cut or converted parts
}

// complete sets Data and DataKeys.
func (e *Event) complete() {
	if e.data.kind == 0 {
		return
	}
	e.Data = e.data.object()
	for _, f := range e.data.members {
		e.DataKeys = append(e.DataKeys, f.key)
	}
	e.data = value{}
}

// parseBody handles a body as the server does: it decodes it, distinguishes an
// envelope from a single event, and validates.
func parseBody(body []byte) ([]Event, *fault) {
	root, err := decode(strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\uFEFF"))), "\uFFFD"))
	if err != nil {
		return nil, &fault{status: http.StatusInternalServerError, message: err.Error()}
	}
	switch root.kind {
	case '{':
		return parseObject(root)
	case '[':
		return nil, invalidInput()
	}
	return nil, &fault{status: http.StatusInternalServerError, message: "cannot use 'in' operator to search for 'batch'"}
}

func parseObject(root value) ([]Event, *fault) {
	var v validator
	batch, enveloped := root.get("batch")
	switch {
	case !enveloped:
		return v.all([]member{{val: root}}, false)
	case batch.kind != '[':
		return nil, &fault{status: http.StatusInternalServerError, message: "batch is not iterable"}
	}
	return v.all(batch.members, true)
}

// invalidInput returns the server's answer to a value of the wrong type.
func invalidInput() *fault {
	return &fault{status: http.StatusBadRequest, issues: []issue{{[]any{}, "Invalid input"}}}
}

// validator checks events against the schema: a union of trace and span.
type validator struct {
	path   []any
	issues []issue
	wrong  bool // a value of the wrong type was seen
}

func (v *validator) all(list []member, enveloped bool) ([]Event, *fault) {
	events := make([]Event, 0, len(list))
	for i, raw := range list {
		v.path = nil
		if enveloped {
			v.path = []any{"batch", i}
		}
		if raw.val.kind != '{' {
			return nil, invalidInput()
		}
		events = append(events, v.event(raw.val))
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

func (v *validator) event(m value) Event {
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
		e.data = v.data(m, &e)
	default:
		v.wrong = true
	}
	e.TraceID = v.id(m, "trace_id")
	e.Name = cutText(v.text(m, "name"), maxName, "name", &e)
	v.times(m, &e)
	for _, f := range m.members {
		if !slices.Contains(known, f.key) {
			e.remarks = append(e.remarks, fmt.Sprintf("key %q is silently stripped", f.key))
		}
	}
	slices.Sort(e.remarks)
	return e
}

// text returns an optional string.
func (v *validator) text(m value, key string) string {
	raw, there := m.get(key)
	if there && raw.kind != '"' {
		v.wrong = true // including null
	}
	return raw.text
}

// id returns a required string of at least one character.
func (v *validator) id(m value, key string) string {
	if _, there := m.get(key); !there {
		v.wrong = true
	}
	s := v.text(m, key)
	if s == "" {
		v.complain(key, "Too small: expected string to have >=1 characters")
	}
	return s
}

func (v *validator) status(m value) string {
	s := v.text(m, "status")
	if _, there := m.get("status"); there && s != "ok" && s != "error" {
		v.wrong = true
	}
	return s
}

func (v *validator) metadata(m value) map[string]string {
	raw, there := m.get("metadata")
	if !there {
		return nil
	}
	if raw.kind != '{' {
		v.wrong = true
	}
	out := make(map[string]string, len(raw.members))
	for _, f := range raw.members {
		if f.val.kind != '"' {
			v.wrong = true
		}
		out[f.key] = f.val.text
	}
	return out
}

// data returns an object. Arrays and strings become objects, as in a spread of
// JavaScript, with a remark: no sender intends that.
func (v *validator) data(m value, e *Event) value {
	raw, there := m.get("data")
	if !there {
		return value{}
	}
	switch raw.kind {
	case '{':
	case '[':
		e.remarks = append(e.remarks, "data is an array, not an object")
		for i := range raw.members {
			raw.members[i].key = strconv.Itoa(i)
		}
	case '"':
		e.remarks = append(e.remarks, "data is a string, not an object")
		for i, unit := range utf16.Encode([]rune(raw.text)) {
			raw.members = append(raw.members, member{strconv.Itoa(i), value{kind: '"', text: string(rune(unit))}})
		}
	default:
		v.wrong = true
	}
	raw.kind = '{'
	cutObject(raw, "data", e)
	return raw
}

func (v *validator) times(m value, e *Event) {
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

// time returns an optional time, and whether it is there.
func (v *validator) time(m value, key string) (time.Time, bool) {
	s := v.text(m, key)
	if _, there := m.get(key); !there || v.wrong {
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

// cutObject cuts long strings in objects of any depth, but not in arrays.
func cutObject(v value, path string, e *Event) {
	for i := range v.members {
		switch f := &v.members[i]; f.val.kind {
		case '"':
			if len(f.val.text) > maxText {
				f.val.text = cutText(f.val.text, maxText, path+"."+f.key, e)
			}
		case '{':
			cutObject(f.val, path+"."+f.key, e)
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
