// Package replay runs recorded sessions through policies and says what each
// would have cost and kept.
//
// Every assistant message of a session is one model call, whose prompt is all
// that stands before it. A [Policy] says what that call is sent: a manager of
// package compact under a configuration ([Managed]), or one of the references
// that tools without a manager amount to ([Raw], [Sliding], [DropOldest],
// [Summarize]).
//
// What a call costs goes by a price card: the tokens that its prompt shares
// with the prompt of the call before are read from the provider's cache, the
// rest is written into it. What a policy kept is measured at use: of the
// identifiers that the recorded answer uses and that its full prompt held, the
// share that the sent view still shows.
//
// With summarizer.backend agent the extractive backend writes in the model's place,
// and each summary is billed as the prompt of the call before, read from the cache,
// the instruction, and its own text.
//
// A replay is deterministic: two runs give the same numbers, durations aside.
// The answers are the recorded ones, so that a policy that takes away what an
// answer needed is charged with that and with nothing that would have followed.
package replay
