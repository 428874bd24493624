package openai

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Wire is chat completions as a [wire.Format].
var Wire wire.Format = format{}

type format struct{}

func (format) Name() string { return Name }

func (format) ParseMessage(raw []byte) (message.Message, error) { return ParseMessage(raw) }

func (format) AppendMessage(dst []byte, m message.Message) []byte { return AppendMessage(dst, m) }

func (format) ParseRequest(body []byte, c *wire.Cache) (wire.Request, error) {
	return parseRequest(body, c)
}
