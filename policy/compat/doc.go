// Package compat holds the stages of the presets "gateway" and "history-reducer",
// which reproduce two other systems: what these systems do to a conversation, and
// the units in which they count. No other preset uses it. What the presets share
// with the others (masking, truncating, the engine) is in package policy.
//
// The tests with Vector in their name compare it and package policy with outputs
// of the original systems. docs/COMPATIBILITY.md lists the differences.
package compat
