package wiretest

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Parse reads a body that can be read.
func Parse(t *testing.T, f wire.Format, body string) wire.Request {
	t.Helper()
	r, err := f.ParseRequest([]byte(body), nil)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return r
}

// Sources are those of a view in which each of n messages is where it was.
func Sources(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Notice is, among the sources of [View], a notice that was made since.
const Notice = -2

// View is the view with these sources, and the sources: -1 is a summary that
// was made since, and what replace has stands in place of a message.
func View(msgs []message.Message, sources []int, replace map[int]message.Message) ([]message.Message, []int) {
	view, from := make([]message.Message, len(sources)), slices.Clone(sources)
	for k, src := range sources {
		m, replaced := replace[k]
		switch {
		case replaced:
			view[k] = m
		case src == Notice:
			view[k], from[k] = message.System(message.NoticeText(2)), -1
		case src == -1:
			view[k] = message.Assistant(message.SummaryText(1, "s"))
		default:
			view[k] = msgs[src]
		}
	}
	return view, from
}

// Edited is a message whose first part reads s.
func Edited(t *testing.T, m message.Message, s string) message.Message {
	t.Helper()
	m, err := m.WithPartText(0, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Broken are the checks that fail, each with the id of what it is about, in
// order of the alphabet.
func Broken(vs []wire.Violation) (out []string) {
	for _, v := range vs {
		out = append(out, v.Check+" "+v.ID)
	}
	slices.Sort(out)
	return out
}
