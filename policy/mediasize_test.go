package policy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The size of media is what the request has of them.
func TestMediaSizeIsTheSizeInTheRequest(t *testing.T) {
	for want, p := range map[int]message.Part{
		5: {Media: &message.Media{Bytes: 5, URL: "a longer link"}, Args: []byte("{}")},
		8: {Media: &message.Media{URL: "12345678"}, Args: []byte("{}")},
		9: {Media: &message.Media{URL: "1"}, Args: []byte("{123456}x")},
		2: {Args: []byte("{}")},
	} {
		if got := mediaSize(&p); got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
	}
}

// Media stay in pinned messages, in the last user message and in the open round. Heavy media
// have 1 KiB or more.
func TestMediaOfferLeavesMediaThatStay(t *testing.T) {
	shot := func(id string, size int) message.Message {
		m := message.ToolResult(id, "seen")
		m.Parts = append(m.Parts, message.Part{Kind: message.KindImage, CallID: id, Media: &message.Media{Bytes: size, URL: "u"}})
		return m
	}
	guarded := shot("b", 4096)
	guarded.Protected = true
	user := message.User("look")
	user.Parts = append(user.Parts, message.Part{Kind: message.KindImage, Media: &message.Media{Bytes: 4096, URL: "u"}})
	msgs := []message.Message{
		message.Assistant("", message.Call("a", "camera", "{}")), shot("a", 1024), message.Assistant("", message.Call("b", "camera", "{}")), guarded, // 0 to 3
		message.Assistant("", message.Call("c", "browser", "{}")), shot("c", 1023), user, // 4 to 6
		message.Assistant("", message.Call("d", "camera", "{}"), message.Call("e", "camera", "{}")), shot("d", 4096), // 7, 8
	}
	v := NewView(msgs, nil, shotTokens{})
	for _, c := range []struct {
		m    Media
		want string
	}{{Media{}, "1 5"}, {Media{Heavy: true}, "1"}, {Media{ExcludeTools: []string{"browser"}}, "1"}, {Media{ExcludeTools: []string{"camera"}}, "5"}} {
		p, err := c.m.Propose(t.Context(), v)
		var got []string
		for _, g := range p.Groups {
			got = append(got, string(rune('0'+g[0].Text.Index)))
			if mark := g[0].Text.Segments[0].Mark; mark.What != "image" || mark.Tokens != 1000 {
				t.Errorf("%+v: the placeholder has %+v", c.m, mark)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: messages %v, %v, want %s", c.m, got, err, c.want)
		}
	}
}

// shotTokens counts a picture as 1000 tokens and a text by its words.
type shotTokens struct{}

func (shotTokens) Text(s string) int { return len(strings.Fields(s)) }
func (c shotTokens) Message(m message.Message) (n int) {
	for i := range m.Parts {
		if n += c.Text(m.Parts[i].Text); m.Parts[i].Kind.IsMedia() {
			n += 1000
		}
	}
	return n
}

// A conversation without a user message is divided, too.
func TestPartitionWithoutAUserMessage(t *testing.T) {
	v := NewView([]message.Message{message.Assistant("a"), message.Assistant("b"), message.Assistant("c")}, nil, shotTokens{})
	p := v.Partition(Keep{Turns: 1})
	if len(p.Remainder) != 2 || len(p.Recent) != 1 || len(p.Pinned) != 0 || p.Start != 2 || p.Anchor != -1 {
		t.Errorf("%+v, want the last answer to stay", p)
	}
	v = NewView([]message.Message{message.Assistant("a"), message.User("b"), message.Assistant("c")}, nil, shotTokens{})
	if p := v.Partition(Keep{Turns: 1}); p.Anchor != 1 || len(p.Remainder) != 1 {
		t.Errorf("%+v, want the last user message to stay", p)
	}
}
