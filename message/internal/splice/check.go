package splice

import (
	"bytes"
	"strconv"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

// ID is the id of a violation in a message of the view: the message that it
// was, so that it is the same before and after, and what it is about.
func ID(source int, about string) string {
	from := "new"
	if source >= 0 {
		from = strconv.Itoa(source)
	}
	if about == "" {
		return from
	}
	return from + "/" + about
}

// Changed reports whether what can't be edited is other than it was in message
// s of the request: a sealed part, or the number and kinds of the parts.
func (l *List) Changed(m *message.Message, s int) bool {
	was := &l.msgs[s]
	if elements.Same(m, was) {
		return false
	}
	if len(m.Parts) != len(was.Parts) {
		return true
	}
	for i := range m.Parts {
		a, b := &m.Parts[i], &was.Parts[i]
		if a.Kind != b.Kind || a.Sealed != b.Sealed || a.CallID != b.CallID || a.Name != b.Name || !bytes.Equal(a.Args, b.Args) {
			return true
		}
		if a.Sealed && a.Text != b.Text {
			return true
		}
	}
	return false
}
