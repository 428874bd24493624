// Package running holds the data about a run that an engine gives to a view. Package
// internal/reduce provides the data, and package policy uses it. No other package can.
package running

import "github.com/agentcompact/compact/message"

// A Run holds the data of an engine about a view during a run.
type Run struct {
	// Dispatch names the tools whose dispatch blocks survive masking.
	Dispatch []string
	// Before returns message i as it was when the run began; nil = unchanged.
	Before func(i int) message.Message
	// Masks reports whether part p of message i is masked. known is false if the
	// part was never edited. nil = unknown for all parts.
	Masks func(i, p int) (masked, known bool)
}
