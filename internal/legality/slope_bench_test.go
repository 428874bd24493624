package legality

import (
	"fmt"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/slope"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// longRequest returns a request of about a given number of messages.
func longRequest(b *testing.B, w provider.Wire, messages int) []byte {
	b.Helper()
	rows := longRows(messages / 2)
	return render.New(w, 1, rows).Body(len(rows))
}

// masked returns a message with its results cut to a few words.
func masked(b *testing.B, m message.Message) message.Message {
	for p := range m.Parts {
		if m.Parts[p].Kind == message.KindToolResult && m.Editable(p) {
			var err error
			if m, err = m.WithPartText(p, "[it is not shown]"); err != nil {
				b.Fatal(err)
			}
		}
	}
	return m
}

// read returns a parsed request, and a view with some masked tool results.
func read(b *testing.B, w provider.Wire, messages int) (req wire.Request, view []message.Message, sources []int) {
	b.Helper()
	req, err := parse(w, longRequest(b, w, messages))
	if err != nil {
		b.Fatal(err)
	}
	for i, m := range req.Messages() {
		if i%4 == 0 {
			m = masked(b, m)
		}
		view, sources = append(view, m), append(sources, i)
	}
	return req, view, sources
}

// BenchmarkWireLength measures how the time of a wire grows with the length of a
// request's history.
func BenchmarkWireLength(b *testing.B) {
	for _, w := range provider.Wires() {
		b.Run(fmt.Sprintf("%s/parse", w), func(b *testing.B) {
			slope.Report(b, func(n int) func() {
				body := longRequest(b, w, n)
				return func() {
					if _, err := parse(w, body); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
		b.Run(fmt.Sprintf("%s/check", w), func(b *testing.B) {
			slope.Report(b, func(n int) func() {
				req, view, sources := read(b, w, n)
				return func() {
					if found := req.Check(view, sources); len(found) > 0 {
						b.Fatal(found[0])
					}
				}
			})
		})
		b.Run(fmt.Sprintf("%s/edit", w), func(b *testing.B) {
			slope.Report(b, func(n int) func() {
				req, view, sources := read(b, w, n)
				return func() {
					if _, err := req.Write(view, sources); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
