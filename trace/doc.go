// Package trace defines the events that describe compactions, and delivers them
// to exporters.
//
// Each [Event] has two destinations. The audit log writes the event as one line
// of JSON ([Event.AppendJSON]); a loss there is always reported. A [Pipeline]
// passes the event to exporters (Ariadne, OpenTelemetry, the console); it never
// blocks and never fails the call that emitted the event. Events that an exporter
// cannot take are dropped, oldest first, and counted.
//
// # Secrets
//
// The free text of an event, and the names of its session and agent, have the
// type [redact.Text], which only a redactor can make. Names and kinds are
// constants of this package. The ids of traces and spans are plain strings
// without free text. Code that takes ids from another tracing system must check
// that they contain none.
//
// # Payloads
//
// Each kind of event has a payload type ([TokenEstimate], [TriggerDecision],
// …). [Encode] turns it into JSON, which goes through the redactor and then
// into [New]:
//
//	p := trace.TokenEstimate{SessionID: id, TEst: 112_345, MaxTokens: 128_000}
//	e := trace.New(p, redactor.JSON(trace.Encode(p)), start, end)
//
// Use JSON, not Record, for redaction: Record keeps strings of hex digits, and a
// payload may quote a text with a key of that form.
package trace
