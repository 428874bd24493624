package wire

import "github.com/agentcompact/compact/message"

// Lookback is the number of blocks in which Anthropic looks for a cached prefix: the marked
// block and the blocks before it. Source:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const Lookback = 20

// A Marker is a [Request] to a provider that caches prompts up to the marks of the
// request.
type Marker interface {
	Request

	// WriteMarked is Write with additional marks, as many as the provider allows. It sets
	// them at these places, in this order:
	//
	//   - the last message;
	//   - the end of the previous request, if the provider would not find its prefix from
	//     the last message;
	//   - the end of the system prompt, or of the tools if there is no system prompt;
	//   - message settled of the view (-1 = none), the last one that a compaction changed,
	//     because later compactions leave most of the messages before it unchanged;
	//   - the summary.
	WriteMarked(view []message.Message, sources []int, settled int) ([]byte, error)

	// Marked reports, for each message of Messages, whether it has a mark of the
	// caller. The slice is shared.
	Marked() []bool

	// Room reports whether the tools have a mark of the caller, and how many marks the
	// provider allows in addition to those of the caller.
	Room() (tools bool, left int)

	// HasMarks reports whether the request may have a mark of the caller, in a message or
	// elsewhere. If it reports false, the provider caches nothing of the request.
	HasMarks() bool

	// Reaches reports whether the provider finds the prefix that it cached with the previous
	// request. The provider searches from the first mark of the caller after the end of that
	// request, and looks back only a limited number of blocks. Without such a mark, Reaches reports
	// true.
	Reaches() bool
}
