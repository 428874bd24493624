package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// viewPrinter prints a view in readable form: redacted, and without characters that a
// terminal would execute.
type viewPrinter struct {
	strings.Builder
	style    style
	redactor *redact.Redactor
}

// printView writes the messages of a view, including the summary.
func printView(w io.Writer, s style, r *redact.Redactor, res *compact.Result) error {
	_, err := io.WriteString(w, shown(s, r, res.Messages, res.Sources))
	return err
}

// shown returns messages in readable form. sources holds the index of each in the
// history; -1 = none.
func shown(s style, r *redact.Redactor, msgs []message.Message, sources []int) string {
	v := &viewPrinter{style: s, redactor: r}
	for i := range msgs {
		v.message(sources[i], &msgs[i])
	}
	return v.String()
}

func (v *viewPrinter) message(source int, m *message.Message) {
	title := "── " + string(m.Role)
	switch _, notice := policy.ParseNotice(*m); {
	case policy.IsSummary(*m):
		title = "── summary"
	case notice && source < 0:
		title = "── notice"
	case source >= 0:
		title += fmt.Sprintf(" · message %d", source+1)
	}
	fmt.Fprintln(v, v.style.bold(title))
	for i := range m.Parts {
		v.part(m, &m.Parts[i])
	}
	v.WriteByte('\n')
}

func (v *viewPrinter) part(m *message.Message, p *message.Part) {
	switch p.Kind {
	case message.KindToolCall:
		v.text("→ " + p.Name + " " + string(p.Args))
	case message.KindToolResult:
		v.text("← " + p.Text)
	case message.KindReasoning:
		v.text("(reasoning) " + p.Text)
	case message.KindText:
		if _, body, ok := policy.ParseSummary(*m); ok {
			v.text(body)
			return
		}
		v.text(p.Text)
	default:
		v.text("(" + string(p.Kind) + ")")
	}
}

func (v *viewPrinter) text(s string) {
	fmt.Fprintln(v, strings.TrimRight(printable(v.redactor.Text(s).String()), "\n"))
}
