package wire

import "github.com/agentcompact/compact/message"

// A Marker is a [Request] to a provider that caches prompts up to where the
// request says so.
type Marker interface {
	Request

	// WriteMarked is Write, which sets marks of its own, as far as the provider
	// allows more than there are: at the end of the system prompt, or of the tools
	// where there is none, behind the summary, and at the last message.
	WriteMarked(view []message.Message, sources []int) ([]byte, error)

	// Marked says which of Messages hold a mark of the caller's. It is shared.
	Marked() []bool
}
