// Package responses reads requests of OpenAI's Responses API and writes them
// back: kept items byte for byte, edited ones with exactly one JSON string
// replaced.
//
// The wire lists items, not messages. Items that the model made together
// (reasoning, its message, its calls) are one message here, so that reasoning
// stays with its item. "instructions" is the first message; it is protected,
// and sent back unchanged.
package responses

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Name is the name of this wire.
const Name = "responses"

// Wire is the Responses API as a [wire.Format].
var Wire wire.Format = format{}

type format struct{}

func (format) Name() string { return Name }

func (format) ParseRequest(body []byte, c *wire.Cache) (wire.Request, error) {
	return parseRequest(body, c)
}

func (format) ParseMessage(raw []byte) (message.Message, error) { return ParseMessage(raw) }

func (format) AppendMessage(dst []byte, m message.Message) []byte { return AppendMessage(dst, m) }
