// Package policy decides what a model is sent when a conversation no longer
// fits: the budget and its trigger, the partition of a conversation into what
// is pinned, recent and the rest, the stages that propose edits, and the
// engine that applies the shortest run of them that reaches the goal.
//
// It is pure: no clock, no disk, no network, no randomness. The same input
// gives the same output, in any process.
package policy
