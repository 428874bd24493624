package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// shots returns a task followed by calls, each answered by a picture of 40,000 bytes.
func shots(n int) []message.Message {
	msgs := []message.Message{message.System("browse"), message.User("Find the form.")}
	for i := range n {
		id := fmt.Sprint("c", i)
		picture := message.Part{Kind: message.KindImage, CallID: id, Media: &message.Media{MIME: "image/png", URL: "data:image/png;base64," + id, Bytes: 40_000}}
		shot := message.ToolResult(id, "a page")
		shot.Parts = append(shot.Parts, picture)
		msgs = append(msgs, message.Assistant("", message.Call(id, "screenshot", "{}")), shot)
	}
	return msgs
}

// left reports, for each picture, whether it is still there.
func left(o *reduce.Outcome) string {
	var b strings.Builder
	for _, m := range o.Conversation.Messages() {
		for _, p := range m.Parts {
			if _, _, _, _, masked := message.ParseMediaText(p.Text); masked {
				b.WriteByte('-')
			} else if p.Kind.IsMedia() {
				b.WriteByte('P')
			}
		}
	}
	return b.String()
}

// shotCost counts 1000 for a picture, and the words of texts.
type shotCost struct{ words }

func (c shotCost) Message(m message.Message) int {
	n := c.words.Message(m)
	for i := range m.Parts {
		if m.Parts[i].Kind.IsMedia() {
			n += 1000
		}
	}
	return n
}

func runShots(t *testing.T, q reduce.Request, keep policy.Keep, step reduce.Step) *reduce.Outcome {
	t.Helper()
	e := engine(step)
	e.Keep, e.Cost = keep, shotCost{}
	q.Conversation = reduce.NewConversation(shots(10), pins, nil)
	out, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An offer of the economic trigger says how many turns keep their pictures. The last calls
// also keep their pictures, because the model has just seen them and may refer to them.
func TestMediaKeepsPicturesOfTheLastCalls(t *testing.T) {
	for _, c := range []struct {
		keep  policy.Keep
		turns int
		want  string
	}{
		{policy.Keep{Turns: 6, Pairs: 1}, 2, "--------PP"},
		{policy.Keep{Turns: 1, Pairs: 4}, 2, "------PPPP"},
		{policy.Keep{Turns: 1, Pairs: 1}, 5, "-----PPPPP"},
		{policy.Keep{Turns: 6, Pairs: 1}, 1, "---------P"},
		{policy.Keep{Turns: 6, Pairs: 1}, 0, "----PPPPPP"},
	} {
		out := runShots(t, reduce.Request{Budget: budget(1 << 20)}, c.keep, reduce.Step{Stage: policy.Media{Turns: c.turns}, Goal: policy.All})
		if got := left(out); got != c.want {
			t.Errorf("%d turns, keep %+v: %s, want %s", c.turns, c.keep, got, c.want)
		}
	}
}

// The provider limits the bytes of the whole request. Tool schemas and system prompts
// outside the messages leave less room for pictures.
func TestMediaCountsBytesOutsideTheMessages(t *testing.T) {
	step := reduce.Step{Stage: policy.Media{Heavy: true}, Goal: reduce.ToBytes}
	for outside, want := range map[int]string{0: "---PPPPPPP", 80_000: "-----PPPPP", 120_000: "------PPPP"} {
		b := budget(1 << 20)
		b.MaxBytes, b.TargetBytes = 350_000, 300_000
		if got := left(runShots(t, reduce.Request{Budget: b, Outside: outside}, policy.Keep{Turns: 1, Pairs: 1}, step)); got != want {
			t.Errorf("%d bytes outside the messages: %s, want %s", outside, got, want)
		}
	}
}

// The last user message keeps its picture, even if it is older than the last turns: the
// user asks about it.
func TestMediaKeepsPicturesOfTheLastUserMessage(t *testing.T) {
	msgs := shots(6)
	question := message.User("What is on this picture?")
	question.Parts = append(question.Parts, message.Part{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", URL: "data:image/png;base64,q", Bytes: 40_000}})
	msgs[1] = question
	v := policy.NewView(msgs, pins, shotCost{})
	v.Keep = policy.Keep{Turns: 1, Pairs: 1}
	p, err := policy.Media{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 5 {
		t.Fatalf("%d groups, %v; want one for each older screenshot", len(p.Groups), err)
	}
	for _, group := range p.Groups {
		if group[0].Text.Index <= v.Anchor {
			t.Errorf("an edit of message %d, the last user message is %d", group[0].Text.Index, v.Anchor)
		}
	}
}

// A link is not replaced to make the request smaller.
func TestHeavyMediaExcludesLinks(t *testing.T) {
	for heavy, want := range map[bool]int{true: 8, false: 9} {
		msgs := shots(10)
		link := &msgs[3].Parts[1]
		link.Media = &message.Media{MIME: "image/png", URL: "https://a.example/page.png"}
		v := policy.NewView(msgs, pins, shotCost{})
		v.Keep = policy.Keep{Turns: 1, Pairs: 1}
		if p, err := (policy.Media{Heavy: heavy}).Propose(t.Context(), v); err != nil || len(p.Groups) != want {
			t.Errorf("heavy %v: %d pictures are replaced, want %d, %v", heavy, len(p.Groups), want, err)
		}
	}
}

// byteCost counts the bytes of texts, 3 for each message and 1000 for each picture.
type byteCost struct{}

func (byteCost) Text(s string) int { return len(s) }

func (byteCost) Message(m message.Message) int {
	n := 3
	for i := range m.Parts {
		n += len(m.Parts[i].Text)
		if m.Parts[i].Kind.IsMedia() {
			n += 1000
		}
	}
	return n
}

// The text in place of a picture states what the picture costs, without the message around
// it, and its bytes.
func TestMediaStatesWhatAPictureCosts(t *testing.T) {
	v := policy.NewView(shots(3), pins, byteCost{})
	v.Keep = policy.Keep{Turns: 1, Pairs: 1}
	p, err := policy.Media{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 2 {
		t.Fatalf("%d groups, %v; want one for each older screenshot", len(p.Groups), err)
	}
	c, err := reduce.NewConversation(v.Messages, pins, nil).Apply(p.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	what, tokens, size, _, ok := message.ParseMediaText(c.Messages()[3].Parts[1].Text)
	if !ok || what != message.KindImage || tokens != 1000 || size != 40_000 {
		t.Errorf("%v of %d tokens and %d bytes (%v), want an image of 1000 tokens and 40000 bytes", what, tokens, size, ok)
	}
}
