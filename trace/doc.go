// Package trace says what a compaction did, as events.
//
// One type, [Event], has two ways out. The audit log writes each event as one
// line of JSON ([Event.AppendJSON]); whoever keeps that loses none without saying
// so. A [Pipeline] hands events
// to exporters (Ariadne, OpenTelemetry, the console); it never blocks and
// never fails the call that emitted them, so what an exporter can't take is
// dropped, oldest first, and counted.
//
// # Secrets
//
// The free text of an event, and what its session and agent are called, is of
// type [redact.Text], which only a redactor can make. Names and kinds are
// constants of this package. The ids of traces and spans are plain strings, and
// hold no text: who takes them from somebody else's tracing checks that.
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
// It has to be JSON, not Record: the latter leaves strings of hex digits alone,
// and a payload quotes text from outside, in which they may be somebody's key.
package trace
