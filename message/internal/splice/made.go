package splice

import (
	"bytes"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// AppendBlocks writes the parts of a message that was made in Go as a list of
// blocks. The parts of a result, which begin with one of its texts, are written
// together; any other part is written by itself.
func AppendBlocks(dst []byte, parts []message.Part, one func([]byte, *message.Part) []byte, result func([]byte, []message.Part) []byte) []byte {
	dst = append(dst, '[')
	for i := 0; i < len(parts); {
		if i > 0 {
			dst = append(dst, ',')
		}
		if parts[i].Kind != message.KindToolResult {
			dst = one(dst, &parts[i])
			i++
			continue
		}
		end := resultEnd(parts, i)
		dst = result(dst, parts[i:end])
		i = end
	}
	return append(dst, ']')
}

// resultEnd returns the index after the parts of the result that begins with part i:
// its texts and its media.
func resultEnd(parts []message.Part, i int) int {
	end := i + 1
	for end < len(parts) && parts[end].CallID == parts[i].CallID && parts[i].CallID != "" && parts[end].Kind != message.KindToolCall {
		end++
	}
	return end
}

// AppendArgs writes the arguments of a call as JSON, or as a string if they are not
// JSON.
func AppendArgs(dst, args []byte) []byte {
	switch args = bytes.TrimSpace(args); {
	case len(args) == 0:
		return append(dst, "{}"...)
	case args[0] == '"' || jsonscan.Check(args) != nil:
		return jsonscan.AppendQuote(dst, string(args))
	}
	return append(dst, args...)
}
