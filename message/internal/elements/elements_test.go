package elements

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// An edit may replace a picture by a text in the result of the same call. No edit changes a
// picture in another way.
func TestChangedAllowsATextInPlaceOfMedia(t *testing.T) {
	picture := message.Part{Kind: message.KindImage, CallID: "a", Media: &message.Media{URL: "u"}}
	sealed := picture
	sealed.Sealed = true
	text := message.Part{Kind: message.KindToolResult, CallID: "a", Text: "[image masked]"}
	other, empty, call := text, text, text
	other.CallID, empty.Text, call.Kind = "b", "", message.KindToolCall
	for name, c := range map[string]struct {
		was, is message.Part
		changed bool
	}{
		"a text":                   {picture, text, false},
		"a text of another call":   {picture, other, true},
		"no text":                  {picture, empty, true},
		"a call":                   {picture, call, true},
		"a text for a sealed part": {sealed, text, true},
		"another text":             {text, message.Part{Kind: message.KindToolResult, CallID: "a", Text: "x"}, false},
	} {
		was, is := message.Message{Role: message.RoleTool, Parts: []message.Part{c.was}}, message.Message{Role: message.RoleTool, Parts: []message.Part{c.is}}
		if got := Changed(&was, &is); got != c.changed {
			t.Errorf("%s: Changed returns %v, want the opposite", name, got)
		}
	}
}
