package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Limits of the parts of a message in a prompt, in bytes.
const (
	maxArguments  = 4000 // arguments of one call
	maxReasoning  = 800  // reasoning of one message
	briefArgs     = 240  // arguments of one call, if observations are shortened
	briefThinking = 200  // reasoning of one message, if observations are shortened
)

// transcript writes the messages of the request as text.
func (r Request) transcript() string {
	var b strings.Builder
	for _, e := range r.entries() {
		b.WriteString(e.text(r.Shorten, r.Clip))
	}
	return strings.TrimRight(b.String(), "\n")
}

// An entry is one message in a prompt. Its observations are separate, so that they can be
// shortened.
type entry struct {
	head         string
	observations []observation
}

// An observation is a result in a prompt, in full and as one line.
type observation struct{ full, line string }

// entries renders each message of the request. An observation belongs to the message with
// the result, and has the name of its call.
func (r Request) entries() []entry {
	calls := map[string]*Call{}
	out := make([]entry, len(r.Messages))
	for i := range r.Messages {
		m := &r.Messages[i]
		var head strings.Builder
		head.WriteString(stepID(r.First+i) + " " + speaker(m) + ":")
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case message.KindText:
				head.WriteString(" " + p.Text)
			case message.KindReasoning:
				if !p.Sealed && p.Text != "" {
					head.WriteString("\n    (thinking) " + middle(p.Text, pick(r.Shorten, maxReasoning, briefThinking)))
				}
			case message.KindToolCall:
				c := readCall(p)
				calls[p.CallID] = &c
				head.WriteString("\n    calls " + p.Name + " " + middle(prose.Squash(string(p.Args)), pick(r.Shorten, maxArguments, briefArgs)))
			case message.KindToolResult:
				out[i].observations = append(out[i].observations, observe(calls[p.CallID], p))
			default:
				head.WriteString(" [" + p.Kind.String() + "]")
			}
		}
		out[i].head = head.String()
	}
	return out
}

func pick(shorten, whole, brief int) int {
	if shorten > 0 {
		return brief
	}
	return whole
}

func observe(c *Call, p *message.Part) observation {
	if c == nil {
		c = &Call{Tool: "tool", Exit: -1}
		if p.Name != "" {
			c.Tool = p.Name
		}
	}
	answered := *c
	answered.Result, answered.Answered = p.Text, true
	answered.read()
	return observation{full: p.Text, line: answered.Line()}
}

// text writes the entry. Observations of more than shorten bytes become one line; other
// texts are cut to about clip bytes. 0 = no limit.
func (e *entry) text(shorten, clip int) string {
	var b strings.Builder
	b.WriteString(middle(e.head, clip))
	for _, o := range e.observations {
		if shorten > 0 && len(o.full) > shorten {
			b.WriteString("\n    " + o.line)
			continue
		}
		b.WriteString("\n    result: " + middle(o.full, clip))
	}
	b.WriteByte('\n')
	return b.String()
}

func speaker(m *message.Message) string {
	if m.Name != "" {
		return string(m.Role) + " " + prose.Squash(m.Name)
	}
	return string(m.Role)
}

// middle shortens s to about n bytes: it cuts the middle, and keeps the beginning and the
// end. If n is 0, it cuts nothing.
func middle(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	head, tail := boundary(s, n*2/3), boundary(s, len(s)-n/3)
	return s[:head] + " […] " + s[tail:]
}

// boundary returns i, moved back to the beginning of a character.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}
