// Package policy decides which messages a model receives when a conversation no longer
// fits its window. It computes the budget and its trigger, and divides a conversation
// into pinned, recent and remaining rounds. A [Stage] proposes edits of a [View]; the
// engine of this module (internal/reduce) applies the shortest run of them that
// reaches the goal. Package message defines rounds, turns and the anchor.
//
// The package is pure: it uses no clock, disk, network or randomness. The same input
// gives the same output, in any process.
package policy
