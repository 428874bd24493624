// Package running holds what an engine tells a view of its run, and nobody else
// can: package policy takes it, package internal/reduce gives it.
package running

import "github.com/agentcompact/compact/message"

// A Run is what an engine knows of a view while it runs.
type Run struct {
	// Dispatch names the tools whose dispatch blocks survive masking.
	Dispatch []string
	// Before returns message i as it was when the run began; nil = unchanged.
	Before func(i int) message.Message
	// Masks reports whether part p of message i is masked. known is false if the
	// part was never edited. nil = not known of any part.
	Masks func(i, p int) (masked, known bool)
}
