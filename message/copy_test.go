package message_test

import (
	"bytes"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

func TestCopySharesNoMemory(t *testing.T) {
	msgs, _, err := openai.Parse([]byte(`{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}],"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := msgs[0]
	raw, want := bytes.Clone(m.Raw()), m.Fingerprint()
	c := m.Copy()
	if c.Fingerprint() != want || !bytes.Equal(c.Raw(), raw) {
		t.Fatal("the copy differs from the message")
	}
	for i := range c.Parts {
		c.Parts[i].Text = "changed"
		for k := range c.Parts[i].Args {
			c.Parts[i].Args[k] = '!'
		}
		if c.Parts[i].Media != nil {
			c.Parts[i].Media.URL = "changed"
		}
	}
	clear(c.Raw())
	if !bytes.Equal(m.Raw(), raw) || m.Fingerprint() != want || m.Parts[0].Media == nil || m.Parts[0].Media.URL != "https://example.com/a.png" || string(m.Parts[1].Args) != "{}" {
		t.Errorf("a change of the copy changed the message: %+v, %s", m.Parts, m.Raw())
	}
	if c.Fingerprint() == want {
		t.Error("a changed copy has its old fingerprint")
	}
	if made := (message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "a"}}}).Copy(); made.Text() != "a" {
		t.Errorf("a copy of a literal: %+v", made)
	}
	if made := message.User("hello").Copy(); made.Text() != "hello" || made.Raw() != nil {
		t.Errorf("a copy of a message that was made in Go: %+v", made)
	}
}
