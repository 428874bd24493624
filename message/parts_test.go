package message_test

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A part that is not there has no text, can't be edited, and is no cause of a panic.
func TestPartsOutOfRangeCanNotBeEdited(t *testing.T) {
	grown := mustParse(t, `{"role":"user","content":"x"}`)
	grown.Parts = append(grown.Parts[:1:1], message.Part{Kind: message.KindText, Text: "y"}, message.Part{Kind: message.KindImage})
	for name, c := range map[string]struct {
		m    message.Message
		at   []int
		made bool
	}{
		"of a wire":                     {mustParse(t, `{"role":"user","content":"x"}`), []int{-1, 1}, false},
		"made in Go":                    {message.User("x"), []int{-1, 1}, true},
		"without a place in a raw form": {grown, []int{-1, 1, 2, 3}, false},
	} {
		for _, i := range c.at {
			_, err := c.m.WithPartText(i, "new")
			if c.m.Editable(i) || c.m.Replaceable(i) || c.m.TextSpan(i) != (message.Span{}) || err == nil {
				t.Errorf("%s: part %d can be edited, error %v", name, i, err)
			}
		}
		if !c.m.Editable(0) || c.m.Replaceable(0) || (c.m.TextSpan(0) == message.Span{}) != c.made {
			t.Errorf("%s: editable %v, replaceable %v, at %v", name, c.m.Editable(0), c.m.Replaceable(0), c.m.TextSpan(0))
		}
	}
	for _, kind := range []message.Kind{message.KindImage, message.KindAudio, message.KindFile} {
		if m := (message.Message{Parts: []message.Part{{Kind: kind}}}); !m.Replaceable(0) {
			t.Errorf("no text can replace a part of kind %s that was made in Go", kind)
		}
	}
	sealed := message.Message{Parts: []message.Part{{Kind: message.KindImage, Sealed: true}}}
	if sealed.Replaceable(0) {
		t.Error("a sealed picture can be replaced")
	}
}

func TestTextsOfOneKindAreJoined(t *testing.T) {
	part := func(k message.Kind, text string) message.Part { return message.Part{Kind: k, Text: text} }
	mixed := message.Message{Parts: []message.Part{
		part(message.KindReasoning, "r"), part(message.KindText, "a"), part(message.KindToolResult, "x"), part(message.KindText, "b"), part(message.KindToolResult, "y"),
	}}
	for want, got := range map[string]string{
		"a\nb": mixed.Text(), "x\ny": mixed.ResultText(), "one": message.System("one").Text(), "dev": message.Developer("dev").Text(), "": message.User("u").ResultText(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheLastMessageOfTheUserIsTheAnchor(t *testing.T) {
	result := message.ToolResult("a", "x").Parts[0]
	user := func(parts ...message.Part) message.Message {
		return message.Message{Role: message.RoleUser, Parts: parts}
	}
	for name, c := range map[string]struct {
		msgs []message.Message
		want int
	}{
		"no message":           {nil, -1},
		"no user":              {[]message.Message{message.System("s"), message.ToolResult("a", "x")}, -1},
		"the first":            {[]message.Message{message.User("u"), message.Assistant("a")}, 0},
		"the later":            {[]message.Message{message.User("u"), message.User("v"), message.Assistant("a")}, 1},
		"results only":         {[]message.Message{message.User("u"), user(result, result)}, 0},
		"results and a text":   {[]message.Message{message.User("u"), user(result, message.Part{Kind: message.KindText, Text: "go on"})}, 1},
		"a message of nothing": {[]message.Message{message.User("u"), user()}, 1},
	} {
		if got := message.Anchor(c.msgs); got != c.want {
			t.Errorf("%s: the anchor is %d, want %d", name, got, c.want)
		}
	}
}

// A text in base64 is written in that form, and is not edited again.
func TestTextsInBase64AreWrittenOnce(t *testing.T) {
	raw := []byte(`{"f":[1],"t":"x"}`)
	parts := []message.Part{{Kind: message.KindFile}, {Kind: message.KindText, Text: "x"}}
	m := message.FromWire(message.Message{Role: message.RoleUser, Parts: parts}, "w", raw, []message.Span{{Start: 5, End: 8}, {Start: 13, End: 16}})
	edited, err := m.Slotted(map[int]message.Slot{0: {Before: `{"data":`, After: "}", Base64: true}}).WithPartText(0, "hi")
	if got, want := string(edited.Raw()), `{"f":{"data":"aGk="},"t":"x"}`; err != nil || got != want {
		t.Fatalf("got %s and error %v, want %s", got, err, want)
	}
	if _, err := edited.WithPartText(0, "again"); !errors.Is(err, message.ErrNotText) || edited.Editable(0) {
		t.Errorf("a second edit: %v, want ErrNotText", err)
	}
	if edited, err = edited.WithPartText(1, "y"); err != nil || string(edited.Raw()) != `{"f":{"data":"aGk="},"t":"y"}` {
		t.Errorf("got %s and error %v, want the other text replaced", edited.Raw(), err)
	}
	if same, err := m.WithPartTexts(nil); err != nil || !message.Same(same, m) {
		t.Errorf("no texts: %s, %v, want the message itself", same.Raw(), err)
	}
}

func TestMessagesOfTheModelHoldItsCalls(t *testing.T) {
	m := message.Assistant("", message.Call("c", "f", `{"a":1}`))
	if len(m.Parts) != 1 || string(m.Parts[0].Args) != `{"a":1}` {
		t.Errorf("parts %+v, want only the call with its arguments", m.Parts)
	}
	if m = message.Assistant(""); len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		t.Errorf("parts %+v, want an empty text", m.Parts)
	}
	if got := (message.KindFile + 1).String(); got != "other" {
		t.Errorf("a kind of a later version is %q, want other", got)
	}
}
