package gemini

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// Messages that were made in Go are written with what they have: ids, names and media only if
// there are any.
func TestMadeMessagesAreWrittenInFull(t *testing.T) {
	call := message.Assistant("", message.Call("1", "ls", `{"a":1}`))
	for want, m := range map[string]message.Message{
		`{"role":"model","parts":[{"functionCall":{"id":"1","name":"ls","args":{"a":1}}}]}`:                       call,
		`{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}`:                                     message.Assistant("", message.Call("", "ls", `{}`)),
		`{"role":"user","parts":[{"text":"x"}]}`:                                                                  message.Assistant("x"),
		`{"role":"user","name":"bob","parts":[{"text":"x"}]}`:                                                     {Role: message.RoleUser, Name: "bob", Parts: message.User("x").Parts},
		`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"","response":{"output":"x"}}}]}`:           message.ToolResult("1", "x"),
		`{"role":"user","parts":[{"functionResponse":{"name":"","response":{"output":"x"}}}]}`:                    message.ToolResult("", "x"),
		`{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://x","displayName":"a"}}]}`: {Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", URL: "https://x", Name: "a"}}}},
		`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`:                         {Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindImage, Media: &message.Media{URL: "data:image/png;base64,AAAA"}}}},
		`{"role":"user","parts":[{"inlineData":{"x":1}}]}`:                                                        {Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindFile, Args: []byte(`{"x":1}`)}}},
		`{"role":"user","parts":[{"video":1}]}`:                                                                   {Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindOther, Args: []byte(`{"video":1}`)}}},
		`{"role":"user","parts":[{"text":"as text"}]}`:                                                            {Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindOther, Text: "as text", Args: []byte(`{`)}}},
	} {
		if got := string(appendContent(nil, m, madeRole(m))); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if user := message.User("x"); madeRole(message.Message{Role: message.RoleUser, Parts: append(user.Parts, call.Parts...)}) != "user" {
		t.Error("a call in a message of the user makes it the model's")
	}
}
