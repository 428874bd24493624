package message_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A field that a caller changes after the fingerprint was computed counts.
func TestFingerprintReflectsEveryChangedField(t *testing.T) {
	for name, change := range map[string]func(*message.Message){
		"role":      func(m *message.Message) { m.Role = message.RoleUser },
		"name":      func(m *message.Message) { m.Name = "n" },
		"a part":    func(m *message.Message) { m.Parts = m.Parts[:2] },
		"kind":      func(m *message.Message) { m.Parts[2].Kind = message.KindOther },
		"text":      func(m *message.Message) { m.Parts[1].Text = "u" },
		"tool":      func(m *message.Message) { m.Parts[2].Name = "g" },
		"arguments": func(m *message.Message) { m.Parts[2].Args = []byte(`[]`) },
		"more":      func(m *message.Message) { m.Parts[2].Args = []byte(`{"a":1}`) },
		"media":     func(m *message.Message) { m.Parts[3].Media = &message.Media{URL: "v"} },
		"the call":  func(m *message.Message) { m.Parts[0].CallID = "b" },
	} {
		m := message.ToolResult("a", "")
		m.Parts = append(m.Parts, message.Part{Kind: message.KindToolResult, CallID: "a", Text: "t"}, message.Call("c", "f", "{}"), message.Part{Kind: message.KindImage, Media: &message.Media{URL: "u"}})
		before := m.Fingerprint()
		change(&m)
		if got, want := m.Fingerprint(), (message.Message{Role: m.Role, Name: m.Name, Parts: m.Parts}).Fingerprint(); got != want || got == before {
			t.Errorf("%s: fingerprint %s, want %s", name, got, want)
		}
	}
}
