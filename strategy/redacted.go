package strategy

import (
	"slices"

	"github.com/agentcompact/compact/message"
)

// redacted returns copies of messages with f applied to every text.
func redacted(msgs []message.Message, f func(string) string) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		out[i] = message.Message{Role: m.Role, Name: f(m.Name), Parts: redactedParts(m.Parts, f), Protected: m.Protected}
	}
	return out
}

// redactedParts returns parts with f applied to every text. It returns parts
// itself if f changes nothing, which is the common case.
func redactedParts(parts []message.Part, f func(string) string) []message.Part {
	out, own := parts, false
	for k := range parts {
		p, changed := redactedPart(parts[k], f)
		if changed && !own {
			out, own = slices.Clone(parts), true
		}
		if changed {
			out[k] = p
		}
	}
	return out
}

// redactedPart applies f to a part and reports whether the part changed. The copy of a
// media part keeps only type and name.
func redactedPart(was message.Part, f func(string) string) (p message.Part, changed bool) {
	p = was
	p.Text, p.Name, p.CallID = f(was.Text), f(was.Name), f(was.CallID)
	changed = p.Text != was.Text || p.Name != was.Name || p.CallID != was.CallID
	if len(was.Args) > 0 {
		if args := f(string(was.Args)); args != string(was.Args) {
			p.Args, changed = []byte(args), true
		}
	}
	if was.Media != nil {
		p.Media, changed = &message.Media{MIME: was.Media.MIME, Name: f(was.Media.Name)}, true
	}
	return p, changed
}
