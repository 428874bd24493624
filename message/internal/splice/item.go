package splice

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/meta"
)

// A Head holds the positions of the members that an item of each of these wires
// has. If a name occurs twice, the last one is used.
type Head struct {
	Role, Content, Name, Meta jsonscan.Span
}

// ReadHead reads the head of an item whose blocks are in the member content.
func ReadHead(raw []byte, content string) (h Head, err error) {
	whole, err := jsonscan.Value(raw, 0)
	if err != nil {
		return h, err
	}
	if raw[whole.Start] != '{' {
		return h, &FieldError{Reason: "must be a JSON object"}
	}
	err = jsonscan.Object(raw, whole, func(m jsonscan.Member) error {
		switch m.Key {
		case "role":
			h.Role = m.Value
		case content:
			h.Content = m.Value
		case "name":
			h.Name = m.Value
		case meta.Key:
			h.Meta = m.Value
		}
		return nil
	})
	return h, err
}

// A Parser builds one message from an item.
type Parser struct {
	Data    []byte // valid JSON
	Message message.Message
	Spans   []message.Span // spans of the texts of its parts
	Slots   map[int]message.Slot

	Results, Rest bool // the item has tool results; the item has other content
}

// NewParser returns a parser that has read the head.
func NewParser(raw []byte, h Head) Parser {
	p := Parser{Data: raw}
	p.Message.Name, _ = jsonscan.Unquote(h.Name.Of(raw)) // not a field of these wires, but AppendMessage writes it
	p.Message.Protected = meta.Protected(raw, h.Meta)
	return p
}

// Text adds a part whose text is the JSON string at a span.
func (p *Parser) Text(part message.Part, at jsonscan.Span) error {
	s, err := jsonscan.Unquote(at.Of(p.Data))
	if err != nil {
		return err
	}
	part.Text = s
	p.Add(part, at)
	return nil
}

// Add adds a part. at is the span of its text; zero = the text can't be edited.
func (p *Parser) Add(part message.Part, at jsonscan.Span) {
	p.Message.Parts, p.Spans = append(p.Message.Parts, part), append(p.Spans, at)
}

// AddSlot adds media that a text may replace: the whole value at a span.
func (p *Parser) AddSlot(part message.Part, at jsonscan.Span, slot message.Slot) {
	if p.Slots == nil {
		p.Slots = map[int]message.Slot{}
	}
	p.Slots[len(p.Message.Parts)] = slot
	p.Add(part, at)
}

// messages reads an item as one message, or as two, results first.
func messages(g Grammar, raw []byte) ([]message.Message, error) {
	m, mixed, err := g.Item(raw)
	if err != nil || !mixed {
		return []message.Message{m}, err
	}
	blocks := g.Blocks(raw)
	results, _, err := g.Item(only(raw, blocks, true))
	if err != nil {
		return nil, err
	}
	rest, _, err := g.Item(only(raw, blocks, false))
	return []message.Message{results, rest}, err
}

// readPrompt makes a message of the system prompt, in the form of a list item.
// The message can't be edited.
func readPrompt(g Grammar, raw []byte) ([]message.Message, error) {
	content, err := g.Prompt(raw)
	if err != nil || content == nil {
		return nil, err
	}
	item := append([]byte(`{"role":"system","`+g.Content()+`":`), content...)
	m, _, err := g.Item(append(item, '}'))
	if err != nil || len(m.Parts) == 0 {
		return nil, err
	}
	m.Protected = true
	return []message.Message{message.FromWire(m, g.Name(), m.Raw(), nil)}, nil
}
