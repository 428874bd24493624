package trace

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// LineVersion is the value of "v" in the lines that [Event.AppendJSON] writes. It
// changes when a key changes its meaning or is removed, not when a key is added.
const LineVersion = 3

// AppendJSON appends the event to dst in the form of the audit log: one JSON object on
// one line, without a line feed at the end. The keys, in this order:
//
//	v           3 (LineVersion)
//	name, kind  constants of this package
//	session, agent, trace_id, span_id, parent_id
//	started_at, ended_at   RFC 3339 in UTC with nanoseconds: true times
//	status      "ok" or "error"
//	severity    "warning" or "high"
//	data        the payload, an object
//	trace       {name, group_id, started_at, ended_at, metadata}
//
// v, name, kind, session, trace_id and status are always present, the others unless
// they are empty. Data that is not a JSON object becomes {"output_text": data}, so
// every line can be parsed.
//
// The identifiers are written unchanged; an archive that takes only redacted text
// passes the line through [redact.Redactor.Record].
func (e Event) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, LineVersion, 10)
	dst = appendMember(dst, "name", e.Name)
	dst = appendMember(dst, "kind", e.Kind)
	dst = appendMember(dst, "session", e.Session.String())
	dst = appendOptional(dst, "agent", e.Agent.String())
	dst = appendMember(dst, "trace_id", e.TraceID)
	dst = appendOptional(dst, "span_id", e.SpanID)
	dst = appendOptional(dst, "parent_id", e.ParentID)
	dst = appendTime(dst, "started_at", e.Start)
	dst = appendTime(dst, "ended_at", e.End)
	dst = appendMember(dst, "status", string(e.status()))
	dst = appendOptional(dst, "severity", e.Severity)
	dst = appendData(dst, e.Data.String())
	if e.Trace != nil {
		dst = e.Trace.appendJSON(append(dst, `,"trace":`...))
	}
	return append(dst, '}')
}

func (e Event) status() Status {
	if e.Status == "" {
		return StatusOK
	}
	return e.Status
}

func (t *TraceInfo) appendJSON(dst []byte) []byte {
	dst = jsonscan.AppendQuote(append(dst, `{"name":`...), t.Name.String())
	dst = appendOptional(dst, "group_id", t.GroupID.String())
	dst = appendTime(dst, "started_at", t.Start)
	dst = appendTime(dst, "ended_at", t.End)
	if len(t.Metadata) > 0 {
		dst = append(dst, `,"metadata":`...)
		open := byte('{')
		for _, k := range slices.Sorted(maps.Keys(t.Metadata)) {
			dst = jsonscan.AppendQuote(append(dst, open), k)
			dst = jsonscan.AppendQuote(append(dst, ':'), t.Metadata[k].String())
			open = ','
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendData(dst []byte, data string) []byte {
	if data == "" {
		return dst
	}
	dst = append(dst, `,"data":`...)
	raw := []byte(data)
	switch {
	case data[0] != '{' || jsonscan.Check(raw) != nil:
		return append(jsonscan.AppendQuote(append(dst, `{"output_text":`...), data), '}')
	case bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0: // white space between tokens: inside strings it is escaped
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err == nil {
			raw = line.Bytes()
		}
	}
	return append(dst, raw...)
}

func appendMember(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return jsonscan.AppendQuote(dst, value)
}

func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMember(dst, key, value)
}

func appendTime(dst []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	return appendMember(dst, key, t.UTC().Format(time.RFC3339Nano))
}
