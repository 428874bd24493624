// Package policy decides what a model is sent when a conversation no longer fits
// its window. It computes the budget and its trigger, and divides a conversation
// into pinned, recent and remaining rounds. A [Stage] proposes edits of a [View]; the
// engine of this module (internal/reduce) applies the shortest run of them that
// reaches the goal. Package message defines rounds, turns and the anchor.
//
// It is pure: no clock, no disk, no network, no randomness. The same input gives
// the same output, in any process.
package policy
