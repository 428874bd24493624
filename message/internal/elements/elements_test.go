package elements

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func with(p message.Part, change func(*message.Part)) message.Part {
	change(&p)
	return p
}

func seal(p *message.Part) { p.Sealed = true }

// An edit may replace a picture by a text in the result of the same call. No edit changes a
// picture in another way.
func TestChangedAllowsATextInPlaceOfMedia(t *testing.T) {
	picture := message.Part{Kind: message.KindImage, CallID: "a", Media: &message.Media{URL: "u"}}
	sealed := with(picture, seal)
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
		"a picture for a text":     {text, picture, true},
		"a sealed text":            {picture, with(text, func(p *message.Part) { p.Sealed = true }), true},
		"a text with media":        {picture, with(text, func(p *message.Part) { p.Media = picture.Media }), true},
		"a text of a user":         {picture, with(text, func(p *message.Part) { p.Kind = message.KindText }), false},
		"a text for a call":        {call, text, true},
		"a call of another tool":   {call, with(call, func(p *message.Part) { p.Name = "g" }), true},
		"a result of another call": {text, other, true},
		"other arguments":          {call, with(call, func(p *message.Part) { p.Args = []byte("{}") }), true},
		"another sealed text":      {with(text, seal), with(empty, seal), true},
		"the same sealed text":     {with(text, seal), with(text, seal), false},
		"another text":             {text, message.Part{Kind: message.KindToolResult, CallID: "a", Text: "x"}, false},
	} {
		was, is := message.Message{Role: message.RoleTool, Parts: []message.Part{c.was}}, message.Message{Role: message.RoleTool, Parts: []message.Part{c.is}}
		if got := Changed(&was, &is); got != c.changed {
			t.Errorf("%s: Changed returns %v, want the opposite", name, got)
		}
	}
	one, two := message.Message{Parts: []message.Part{text}}, message.Message{Parts: []message.Part{text, text}}
	if !Changed(&one, &two) || !Changed(&two, &one) {
		t.Error("another number of parts must be a change")
	}
}
