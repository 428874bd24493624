// Package formats supports every wire of the module. It detects the wire of a
// body, and reads the files in which conversations are stored: bodies, lists of
// messages of any wire, and the session logs of agents.
//
// A [File] is written back with another conversation by splicing. A line, or an element
// of a list, keeps its bytes if it holds a kept message or no message. An edit replaces
// one JSON string in its line. A new message becomes a line in the format of the file.
package formats

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// All returns the wires.
func All() []wire.Format {
	return []wire.Format{openai.Wire, anthropic.Wire, responses.Wire, gemini.Wire}
}

// Lookup returns the wire with this name.
func Lookup(name string) (wire.Format, bool) {
	for _, f := range All() {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// ErrUnknown is wrapped by the error for a body or a file of unknown format.
var ErrUnknown = errors.New("formats: the format can't be detected")

// Detect finds the wire of a request body. It uses the first of these rules that
// applies:
//
//  1. A field "contents" means gemini, "input" means responses, and "messages"
//     one of the other two; two of these fields together are an error.
//  2. In "messages": features that only one of the two has. These are fields of
//     the body ("system" and "anthropic_version" for anthropic;
//     "stream_options", "max_completion_tokens" and others for openai), schemas
//     with "input_schema" or "function", roles ("system" at the head of the
//     list, "tool"), keys of messages ("tool_calls") and types of blocks
//     ("tool_use", "image_url").
//  3. A body without "max_tokens" is openai, because Anthropic requires this
//     field.
//  4. The model: claude-… means anthropic, any other openai.
//
// A body with signs of both, or without any, is an error that wraps [ErrUnknown].
func Detect(body []byte) (wire.Format, error) {
	doc, err := jsonscan.Split(body, "messages")
	if err != nil {
		return nil, err
	}
	has := keys(doc.Members)
	var found []wire.Format
	for _, c := range []struct {
		key string
		f   wire.Format
	}{{"contents", gemini.Wire}, {"input", responses.Wire}, {"messages", nil}} {
		if has[c.key] {
			found = append(found, c.f)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: it has none of the fields messages, input and contents", ErrUnknown)
	case len(found) > 1:
		return nil, fmt.Errorf("%w: it has more than one of the fields messages, input and contents", ErrUnknown)
	case found[0] != nil:
		return found[0], nil
	}
	return detectMessages(body, doc, has)
}

func keys(members []jsonscan.Member) map[string]bool {
	has := map[string]bool{}
	for _, m := range members {
		has[m.Key] = true
	}
	return has
}
