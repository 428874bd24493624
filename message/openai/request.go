package openai

import (
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/wire"
)

// request is the body of a POST to …/chat/completions.
type request struct {
	body  []byte
	list  elements.List
	msgs  []message.Message
	about wire.About
}

func parseRequest(data []byte, c *wire.Cache) (*request, error) {
	doc, err := c.Split(data, "messages")
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	top := body.New(data, doc.Members)
	if err := top.Once("messages"); err != nil {
		return nil, err
	}
	if doc.At.End == 0 {
		return nil, &FieldError{Field: "messages", Reason: "is missing, or is not an array"}
	}
	r := &request{body: data, list: elements.List{At: doc.At}, about: aboutOf(top)}
	r.msgs = make([]message.Message, len(doc.List))
	r.list.Elems = make([]jsonscan.Span, len(doc.List))
	for i, e := range doc.List {
		r.list.Elems[i] = e.Span
		one, err := c.Messages(Name, e.Of(data), parseElement)
		if err != nil {
			return nil, wire.In("messages", i, err)
		}
		r.msgs[i] = one[0]
	}
	return r, nil
}

// parseElement reads a message of a request. The field meta, which must not
// reach the provider, is removed at once.
var parseElement = meta.Without(func(raw []byte) ([]message.Message, error) {
	m, err := parse(raw)
	return []message.Message{m}, err
})

func aboutOf(b body.Body) wire.About {
	a := b.About()
	a.Tools = b.JSON("tools", "functions")
	a.MaxOutput = b.Int("max_completion_tokens", "max_tokens")
	return a
}

func (r *request) Format() wire.Format { return Wire }

func (r *request) Messages() []message.Message { return r.msgs }

func (r *request) About() wire.About { return r.about }

func (r *request) Write(view []message.Message, sources []int) ([]byte, error) {
	if err := elements.Sources(view, sources, len(r.msgs)); err != nil {
		return nil, err
	}
	pieces := make([]elements.Piece, len(view))
	same := len(view) == len(r.msgs)
	for k, src := range sources {
		p := elements.Piece{From: src}
		if src < 0 || !elements.Same(&view[k], &r.msgs[src]) || r.cut(src) {
			p.Raw = AppendMessage(nil, view[k])
		}
		same = same && p.Raw == nil && src == k
		pieces[k] = p
	}
	if same {
		return r.body, nil
	}
	return r.list.Write(r.body, pieces), nil
}

// cut reports whether the "meta" of message i was removed.
func (r *request) cut(i int) bool {
	return len(r.msgs[i].Raw()) != r.list.Elems[i].End-r.list.Elems[i].Start
}
