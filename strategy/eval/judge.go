package eval

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// Judge reads a text as a successor would, and returns what it tells of the
// facts.
func (f *Facts) Judge(text string) Handoff { return f.judge(text) }

// Text is what messages say to a reader: their texts, and the values of the
// arguments of their calls.
func Text(msgs ...message.Message) string {
	var b strings.Builder
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			b.WriteString(p.Text + "\n")
			if len(p.Args) > 0 {
				b.WriteString(strings.Join(arguments(p.Args), " ") + "\n")
			}
		}
	}
	return b.String()
}
