package ariadne

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/trace"
)

// metadata returns the trace's metadata, with defaults for the keys by which
// the viewer groups and labels traces: one group per session, with a readable
// heading.
func metadata(ev *trace.Event) map[string]string {
	m := map[string]string{}
	for k, v := range ev.Trace.Metadata {
		m[k] = clip(v.String(), maxMeta)
	}
	session := cmp.Or(ev.Session, ev.Trace.GroupID).String()
	if session == "" {
		return m
	}
	m["session_id"] = cmp.Or(m["session_id"], clip(session, maxMeta))
	m["agent_id"] = cmp.Or(m["agent_id"], m["session_id"])
	m["agent_name"] = cmp.Or(m["agent_name"], label(m["session_id"], ev.Agent.String()))
	return m
}

// label returns the heading of a session's group: "session 7f3a
// (coding-agent)".
func label(session, agent string) string {
	s := headAndTail(session)
	if !strings.HasPrefix(s, "session") {
		s = "session " + s
	}
	if agent != "" {
		s += " (" + clip(agent, 64) + ")"
	}
	return s
}

// headAndTail returns an id in full, or the beginning and the end of a long
// one, so that ids with the same beginning stay different.
func headAndTail(id string) string {
	const most, end = 64, 24
	if len(id) <= most {
		return clip(id, most)
	}
	return clip(id, most-end) + "…" + strings.ToValidUTF8(id[len(id)-end:], "")
}

// data returns the payload, preceded by the measured duration and the session's
// id, for which a span has no other field.
func data(ev *trace.Event) []byte {
	payload := strings.TrimSpace(strings.ToValidUTF8(ev.Data.String(), "\uFFFD"))
	b := make([]byte, 0, 64+ev.Session.Len()+len(payload))
	b = append(b, `{"duration_ms":`...)
	b = strconv.AppendFloat(b, trace.Milliseconds(ev.Duration()), 'f', -1, 64)
	if ev.Severity == trace.SeverityWarning { // a higher one is in the payload
		b = appendMember(b, "severity", ev.Severity)
	}
	if ev.Session.Len() > 0 && !strings.HasPrefix(payload, `{"session_id":`) {
		b = appendMember(b, "session_id", ev.Session.String())
	}
	if payload == "" || payload == "{}" {
		return append(b, '}')
	}
	from := len(b)
	b = append(b, payload...)
	if payload[0] != '{' || !json.Valid(b[from:]) {
		b = appendMember(b[:from], "output_text", payload)
		return append(b, '}')
	}
	b[from] = ',' // in place of its opening bracket
	return b
}

// Limits of texts: the limits of the server, or limits of this package if the
// server has none. They are in bytes; a text never has fewer bytes than the UTF-16
// units that the server counts.
const (
	maxName = 1024
	maxMeta = 4096
)

// clip cuts s to at most n bytes, on a rune boundary.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
