package token

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// Overhead of the chat format, as published in OpenAI's cookbook. The overhead of
// a tool call is not published; 3 was measured.
const (
	perMessage = 3
	perName    = 1
	perCall    = 3
	perReply   = 3
)

// chat is the format of the chat-completions API.
type chat struct {
	counter Counter
	media   mediaRule
	schemas schemaCost
}

func newChat(model string, counter Counter) *chat {
	enc, _ := EncodingForModel(model)
	return &chat{counter: counter, media: mediaFor(model), schemas: schemaCostFor(enc)}
}

func (c *chat) text(s string) int { return c.counter.Count(s) }

func (c *chat) reply() int { return perReply }

func (c *chat) tools(schemas []byte) int { return c.schemas.count(schemas, c.counter) }

func (c *chat) message(m *message.Message) priced {
	p := priced{Mix: Mix{Fixed: perMessage + c.text(string(m.Role))}}
	if m.Name != "" {
		p.Fixed += perName + c.text(m.Name)
	}
	for i := range m.Parts {
		p.add(&m.Parts[i], c.part(&m.Parts[i]))
	}
	return p
}

// add adds the cost of a part.
func (p *priced) add(part *message.Part, mix Mix) {
	p.Mix = p.Plus(mix)
	if part.Kind == message.KindToolCall || part.Kind == message.KindToolResult {
		p.tools = append(p.tools, mix.Total())
	}
}

func (c *chat) part(p *message.Part) Mix {
	switch p.Kind {
	case message.KindText:
		return prose(p.Text, c.text(p.Text))
	case message.KindReasoning:
		n := c.text(p.Text)
		if size := sealed(p); p.Sealed && size > n {
			return Mix{Prose: size} // the text is only a summary of the encrypted reasoning
		}
		return prose(p.Text, n)
	case message.KindToolCall:
		args := string(p.Args)
		return code(args, perCall+c.text(p.Name)+c.text(args))
	case message.KindToolResult:
		mix := code(p.Text, c.text(p.Text))
		if p.Media != nil {
			mix.Fixed += c.media.image(p.Media)
		}
		return mix
	case message.KindImage, message.KindAudio, message.KindFile:
		return Mix{Fixed: c.media.cost(p) + c.text(p.Text)}
	}
	return Mix{Code: max(1, c.text(p.Text)+c.other(string(p.Args)))}
}

// blobs are the texts that precede base64 in JSON.
var blobs = [3]string{";base64,", `"encrypted_content":"`, `"encrypted_content": "`}

// other returns the cost of JSON of an unknown kind: it counts as text, except
// that base64 counts by its size. It takes linear time, because it searches for
// each mark only once.
func (c *chat) other(raw string) int {
	var next [3]int // start of the base64 after each mark; len(raw) = there is no such mark
	for i := range next {
		next[i] = blob(raw, 0, blobs[i])
	}
	n, from := 0, 0
	for from < len(raw) {
		at := min(next[0], next[1], next[2])
		n += c.text(raw[from:at])
		if at == len(raw) {
			break
		}
		end := len(raw)
		if size := strings.IndexByte(raw[at:], '"'); size >= 0 {
			end = at + size
		}
		n += sealedTokens(end - at)
		from = end
		for i := range next {
			if next[i] < from {
				next[i] = blob(raw, from, blobs[i])
			}
		}
	}
	return n
}

// blob returns the start of the next base64 after a mark, or len(raw) if there
// is none.
func blob(raw string, from int, mark string) int {
	if at := strings.Index(raw[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(raw)
}

// sealed returns the cost of encrypted reasoning, estimated from its size.
func sealed(p *message.Part) int {
	size := len(p.Args)
	if p.Media != nil {
		size = max(size, p.Media.Bytes)
	}
	return sealedTokens(size)
}

// sealedTokens returns the cost of size bytes of base64: one token per four
// decoded bytes.
func sealedTokens(size int) int { return max(1, size*3/16) }
