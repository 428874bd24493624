// Package summarize writes the summaries of package strategy and puts them into a view, as
// a stage of package policy.
//
// A [Writer] splits a large history into pieces, asks a summarizer for drafts, and asks again if a
// draft is refused, cut off or too long. A strategy.Task verifies the drafts and adds missing
// identifiers. A [Stage] proposes the summary, or a notice if there is none, to the engine.
// [Flights] holds a summary that is written concurrently with the calls.
//
// The package writes no logs, reads no environment and stores nothing.
package summarize
