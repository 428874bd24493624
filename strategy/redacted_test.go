package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The copy is redacted in each place that holds text, and the history stays unchanged.
// Parts without a secret are not copied.
func TestRedactedCopiesOnlyChangedParts(t *testing.T) {
	const secret = "hunter22"
	clean := func(s string) string { return strings.ReplaceAll(s, secret, "[gone]") }
	part := func(set func(*message.Part)) message.Message {
		parts := []message.Part{{Kind: message.KindText, Text: "before"}, {Kind: message.KindToolCall, Name: "read", CallID: "c", Args: []byte(`{"a":1}`)}}
		set(&parts[1])
		return message.Message{Role: message.RoleAssistant, Parts: parts}
	}
	for name, m := range map[string]message.Message{
		"text": part(func(p *message.Part) { p.Text = secret }),
		"name": part(func(p *message.Part) { p.Name = secret }),
		"id":   part(func(p *message.Part) { p.CallID = secret }),
		"args": part(func(p *message.Part) { p.Args = []byte(`{"p":"` + secret + `"}`) }),
		"media": part(func(p *message.Part) {
			p.Media = &message.Media{Name: secret, URL: "data:" + secret, MIME: "image/png"}
		}),
		"speaks": {Role: message.RoleUser, Name: secret, Parts: []message.Part{{Kind: message.KindText, Text: "hi"}}},
	} {
		out := redacted([]message.Message{m}, clean)[0]
		held := func(m message.Message) (all string) {
			all = m.Name
			for _, p := range m.Parts {
				all += p.Text + p.Name + p.CallID + string(p.Args)
				if p.Media != nil {
					all += p.Media.Name + p.Media.URL
				}
			}
			return all
		}
		if s := held(out); strings.Contains(s, secret) || !strings.Contains(s, "[gone]") {
			t.Errorf("%s: %q is not redacted", name, s)
		}
		if !strings.Contains(held(m), secret) {
			t.Errorf("%s: the history was changed", name)
		}
	}
	m := part(func(*message.Part) {})
	if out := redacted([]message.Message{m}, clean)[0]; &out.Parts[0] != &m.Parts[0] {
		t.Error("parts without a secret are copied")
	}
}
