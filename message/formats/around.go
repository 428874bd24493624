package formats

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// paddedBody is a body with white space around it.
type paddedBody struct {
	wire.Request
	data []byte
	at   jsonscan.Span
}

func (a paddedBody) Write(view []message.Message, sources []int) ([]byte, error) {
	body, err := a.Request.Write(view, sources)
	if err != nil || len(body) == a.at.End-a.at.Start && offset(a.data, body) == a.at.Start {
		return a.data, err
	}
	out := append([]byte(nil), a.data[:a.at.Start]...)
	return append(append(out, body...), a.data[a.at.End:]...), nil
}
