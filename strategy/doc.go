// Package strategy writes the summaries that stand for the old part of a
// conversation, and brings them into a view as a stage of package policy.
//
// A [Strategy] says what a summary must hold: its sections, the prompt that a
// model is given, and an extractor that fills the same sections from the
// messages without any model. Four are built in: task_state, decision_log,
// code_delta and brief. A fifth is one more file.
//
// A [Summarizer] writes one draft. [Extractive] is deterministic, needs no
// network and is the default; package strategy/openai asks any server that
// speaks OpenAI's chat completions. A [Writer] stands between the two and the
// caller: it cuts a history that is too large into pieces, asks again when a
// draft is refused, cut off or too long, verifies whatever comes back against
// its source, and adds the identifiers that are missing. A [Stage] proposes
// the result, or what is left when there is none, to the policy engine.
//
// The package writes no logs, reads no environment and stores nothing.
package strategy
