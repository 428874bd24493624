// Package compat holds the stages of the presets "gateway" and "history-reducer". These
// presets reproduce the edits of two other systems, and the units in which those measure
// sizes. No other preset uses the package. The parts that all presets share, such as masking and truncation, are in
// package policy.
//
// The tests with Vector in their names compare compat and policy with outputs of the
// original systems. docs/COMPATIBILITY.md lists the differences.
package compat
