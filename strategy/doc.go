// Package strategy defines the contents of summaries of the old part of a conversation.
//
// A [Strategy] defines the contents of a summary: its sections, the prompt for
// a model, and an extractor that fills the same sections without a model. Four
// are built in: task_state, decision_log, code_delta and brief. Another strategy
// needs only one more file.
//
// A [Summarizer] writes one draft. [Extractive] is deterministic, needs no network and
// is the default. Package strategy/openai asks any server that implements OpenAI's chat
// completions. Package compact writes a summary with a strategy and a summarizer
// (compact.Config): it splits a large history into pieces, asks again if a draft is
// refused, cut off or too long, verifies each draft against its source, and adds
// missing identifiers. If there is no summary, a notice replaces the messages.
//
// The package writes no logs, reads no environment and stores nothing.
package strategy
