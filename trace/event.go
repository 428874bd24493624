package trace

import (
	"time"

	"github.com/agentcompact/compact/redact"
)

// A Status is the outcome of the action that an event describes.
type Status string

// The two statuses. The zero value of [Status] is treated as [StatusOK].
const (
	StatusOK    Status = "ok"
	StatusError Status = "error"
)

// SeverityHigh marks an event that needs attention, for example disabled
// redaction.
const SeverityHigh = "high"

// SeverityWarning marks a failure that the call recovered from: a fallback, a
// failed attempt, a refusal.
const SeverityWarning = "warning"

// An Event describes one action of a manager. It is a value: exporters get copies,
// which share the strings.
//
// An event with an empty SpanID describes no span. It only carries Trace, for
// example at the end of a session.
type Event struct {
	Name string // one of the Name constants
	Kind string // one of the Kind constants

	TraceID  string // 32 hex digits, or an id of the caller's own tracing
	SpanID   string // 16 hex digits, unique across traces
	ParentID string // SpanID of the parent; empty for a root

	Session redact.Text // name of the session
	Agent   redact.Text // name of the agent; may be empty

	Start time.Time // when it began, unrounded
	End   time.Time // when it ended; never before Start

	Status   Status
	Severity string // "", SeverityWarning or SeverityHigh

	// Data is one JSON object: numbers first, long text after them,
	// output_text last. The empty Text stands for no data.
	Data redact.Text

	// Trace describes the trace. It is set on the event that completes the
	// trace (one trace per call), or on every event (one trace per session).
	// Exporters must not modify it.
	Trace *TraceInfo
}

// TraceInfo describes a whole trace, for viewers that list and group them.
type TraceInfo struct {
	Name     redact.Text            // display name: "session 7f3a", "model call #12"
	GroupID  redact.Text            // groups traces: the session's id
	Start    time.Time              // when the trace began
	End      time.Time              // when it ended; zero while it runs
	Metadata map[string]redact.Text // model, agent, …; exporters add what their viewer needs
}

// Failed reports whether the event has [StatusError].
func (e Event) Failed() bool { return e.Status == StatusError }

// Duration returns End - Start, or 0 if either is missing.
func (e Event) Duration() time.Duration {
	if e.Start.IsZero() || e.End.IsZero() {
		return 0
	}
	return e.End.Sub(e.Start)
}
