// Package trace defines the events that describe compactions, and delivers them
// to exporters.
//
// An [Event] takes two ways. The audit log writes each event as one line of JSON
// ([Event.AppendJSON]); a loss there is always reported. A [Pipeline] hands
// events to exporters (Ariadne, OpenTelemetry, the console); it never blocks and
// never fails the call that emitted them. Events that an exporter cannot take are
// dropped, oldest first, and counted.
//
// # Secrets
//
// The free text of an event, and the names of its session and agent, have the
// type [redact.Text], which only a redactor can make. Names and kinds are
// constants of this package. The ids of traces and spans are plain strings
// without free text: code that takes them from another tracing system must
// check that.
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
// Use JSON, not Record: Record keeps strings of hex digits, which may be a key
// in the text that a payload quotes.
package trace
