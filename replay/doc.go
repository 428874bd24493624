// Package replay runs recorded sessions through policies and reports the cost of each
// policy and the share of needed identifiers that it would have kept.
//
// Every assistant message of a session is one model call, whose prompt is
// everything before it. A [Policy] decides which view that call sends: a
// manager of package compact with a configuration ([Managed]), or a reference
// policy of tools without a manager ([Raw], [Sliding], [DropOldest],
// [Summarize]).
//
// The cost of a call follows a price card: the tokens that its prompt shares
// with the previous prompt are read from the provider's cache, the rest is
// written into it. A policy's kept share is measured at use. An identifier is
// needed if the recorded answer uses it and the full prompt contained it. The
// kept share is the share of the needed identifiers that the sent view
// contains.
//
// With summarizer.backend agent the extractive backend writes the summaries, and
// each is billed as the previous prompt, read from the cache, plus the instruction
// and the summary.
//
// A replay is deterministic: two runs give the same numbers, except durations.
// The answers are the recorded ones, so a policy that removes text that an
// answer needed is charged for the missing text, but not for the consequences.
package replay
