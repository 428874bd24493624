package eval

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// Judge counts the facts that a text states, as a successor would read it.
func (f *Facts) Judge(text string) Handoff { return f.judge(text) }

// Text returns the text of messages for a reader: their texts, and the values
// of the arguments of their calls.
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
