package token

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// What the chat format adds, as OpenAI's cookbook publishes it. The cost of a
// tool call is not published; 3 is what the marks around it were measured at.
const (
	perMessage = 3
	perName    = 1
	perCall    = 3
	perReply   = 3
)

// chat prices as the chat-completions format does.
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

// add adds what a part costs.
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
			return Mix{Prose: size} // the text is no more than a summary of what is encrypted
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

// blobs are what base64 stands behind in JSON.
var blobs = [3]string{";base64,", `"encrypted_content":"`, `"encrypted_content": "`}

// other prices JSON that no rule knows as text, with what it holds in base64
// priced by size. It is linear: each mark is looked for once.
func (c *chat) other(raw string) int {
	var next [3]int // where base64 begins behind each mark; len(raw) = nowhere
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

// blob returns where the next base64 behind a mark begins, len(raw) where
// there is none.
func blob(raw string, from int, mark string) int {
	if at := strings.Index(raw[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(raw)
}

// sealed prices encrypted reasoning, of which only the size is known.
func sealed(p *message.Part) int {
	size := len(p.Args)
	if p.Media != nil {
		size = max(size, p.Media.Bytes)
	}
	return sealedTokens(size)
}

// sealedTokens returns what size bytes of base64 are priced at: four bytes of
// what was encoded are one token.
func sealedTokens(size int) int { return max(1, size*3/16) }
