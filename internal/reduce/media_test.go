package reduce

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// pictureCost counts one token per character, and 1000 per picture.
type pictureCost struct{}

func (pictureCost) Message(m message.Message) int {
	n := 4
	for i := range m.Parts {
		if n += utf8.RuneCountInString(m.Parts[i].Text); m.Parts[i].Kind.IsMedia() {
			n += 1000
		}
	}
	return n
}

func (pictureCost) Text(s string) int { return utf8.RuneCountInString(s) }

func picture(n int, call string) message.Part {
	return message.Part{Kind: message.KindImage, CallID: call, Media: &message.Media{MIME: "image/png", URL: fmt.Sprintf("data:image/png;base64,%04d", n), Bytes: 40_000}}
}

// browsing returns a task followed by calls that are answered by screenshots.
func browsing(steps int) []message.Message {
	task := message.User("Find the form.")
	task.Parts = append(task.Parts, picture(9999, ""))
	msgs := []message.Message{message.System("browse"), task}
	for i := range steps {
		id := fmt.Sprintf("c%d", i)
		call := message.Assistant("looking")
		call.Parts = append(call.Parts, message.Part{Kind: message.KindToolCall, CallID: id, Name: "screenshot", Args: []byte(`{}`)})
		shot := message.Message{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, CallID: id, Text: "a page of text that is there"}, picture(i, id)}}
		msgs = append(msgs, call, shot)
	}
	return msgs
}

func runMedia(t *testing.T, msgs []message.Message, target int, steps ...Step) *Outcome {
	t.Helper()
	e := Engine{Steps: steps, Pins: policy.Pins{message.RoleSystem}, Keep: policy.Keep{Turns: 3, Pairs: 2}, Cost: pictureCost{}}
	o, err := e.Run(context.Background(), Request{
		Conversation: NewConversation(msgs, e.Pins, nil), Budget: policy.Budget{Max: 1 << 20, Cap: 1 << 20, Trigger: target, Target: target},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Passes {
		if p.Err != nil {
			t.Fatalf("%s: %v", p.Stage, p.Err)
		}
	}
	return o
}

// pictures returns a letter for each part of a view that is or was a picture: P for a
// picture, - for a placeholder.
func pictures(o *Outcome) string {
	var b strings.Builder
	for _, m := range o.Conversation.Messages() {
		for _, p := range m.Parts {
			_, _, _, _, masked := message.ParseMediaText(p.Text)
			switch {
			case masked:
				b.WriteByte('-')
			case p.Kind.IsMedia():
				b.WriteByte('P')
			}
		}
	}
	return b.String()
}

func TestMediaReplacesTheOldestPicturesDownToTheGoal(t *testing.T) {
	msgs := browsing(10) // 11 pictures; the first is in the last user message
	for _, c := range []struct {
		target int
		want   string
	}{
		{20_000, "PPPPPPPPPPP"},
		{9_000, "P---PPPPPPP"},
		{6_000, "P------PPPP"},
		{100, "P-------PPP"}, // the pictures of the last turns stay
	} {
		if got := pictures(runMedia(t, msgs, c.target, Step{Stage: policy.Media{}})); got != c.want {
			t.Errorf("target %d: %s, want %s", c.target, got, c.want)
		}
	}
	deep := runMedia(t, msgs, 100, Step{Stage: policy.Media{Deep: true}})
	if got := pictures(deep); got != "P---------P" {
		t.Errorf("unreachable target: %s", got)
	}
	if got := pictures(runMedia(t, msgs, 100, Step{Stage: policy.Media{ExcludeTools: []string{"screenshot"}}})); strings.Contains(got, "-") {
		t.Errorf("excluded tool: %s", got)
	}
}

func TestEngineReplacesPicturesBeforeTexts(t *testing.T) {
	o := runMedia(t, browsing(30), 24_000, Step{Stage: policy.Media{}}, Step{Stage: policy.Mask{WindowTurns: 3}})
	for _, m := range o.Conversation.Messages() {
		if strings.Contains(m.ResultText(), "[observation masked") {
			t.Fatal("a text was masked although the pictures were enough")
		}
	}
	if got := pictures(o); !strings.HasPrefix(got, "P-") || !strings.HasSuffix(got, "PPP") {
		t.Errorf("%s", got)
	}
}

func TestMediaPlaceholderStatesSizeAndReference(t *testing.T) {
	msgs := browsing(10)
	o := runMedia(t, msgs, 100, Step{Stage: policy.Media{}})
	got := o.Conversation.Messages()[3].Parts[1]
	want := "[image masked — ~1000 tokens, 40000 bytes · ref " + msgs[3].Parts[1].Fingerprint().Ref() + "]"
	if got.Text != want || got.Kind != message.KindToolResult || got.CallID != "c0" {
		t.Errorf("%+v, want %s", got, want)
	}
	if text := o.Conversation.Messages()[3].Parts[0].Text; text != msgs[3].Parts[0].Text {
		t.Errorf("the text beside the picture became %q", text)
	}
	// A replay and another run do not change the view.
	c := NewConversation(msgs, policy.Pins{message.RoleSystem}, nil)
	again, err := c.Replay(o.Passes[0].Recipe)
	if err != nil || again.Messages()[3].Fingerprint() != o.Conversation.Messages()[3].Fingerprint() {
		t.Fatalf("the replay fails: %v", err)
	}
	twice := runMedia(t, o.Conversation.Messages(), 100, Step{Stage: policy.Media{}})
	if len(twice.Passes) != 0 {
		t.Errorf("the second run edits %+v", twice.Passes)
	}
}

func TestFloorExcludesReplaceablePictures(t *testing.T) {
	msgs := browsing(10)
	e := Engine{Steps: []Step{{Goal: policy.ToBudget, Stage: policy.Media{Deep: true}}}, Pins: policy.Pins{message.RoleSystem}, Keep: policy.Keep{Turns: 3, Pairs: 2}, Cost: pictureCost{}, Floors: true}
	q := Request{Conversation: NewConversation(msgs, e.Pins, nil), Budget: policy.Budget{Max: 4_000, Cap: 4_000, Trigger: 4_000, Target: 3_000}}
	o, err := e.Run(context.Background(), q)
	if err != nil || o.View.Total() > 4_000 {
		t.Fatalf("%v: the view can fit", err)
	}
	q.Budget = policy.Budget{Max: 2_000, Cap: 2_000, Trigger: 2_000, Target: 1_500}
	if _, err := e.Run(context.Background(), q); err == nil {
		t.Error("no error, although two pictures that must stay cost more than the budget")
	}
	if floor, got := e.View(q.Conversation, q).Floor(), o.View.Total(); floor > got {
		t.Errorf("the floor is %d, and the view costs %d", floor, got)
	}
}

// A request that is too large loses old pictures until it reaches the target. If these
// are not enough, it loses newer pictures until it is halfway between limit and target.
// Links do not count.
func TestByteGoalsReplaceLargePictures(t *testing.T) {
	heavy := func(n int, url string) []message.Message {
		msgs := browsing(n)
		for i := range msgs {
			for p := range msgs[i].Parts {
				if part := &msgs[i].Parts[p]; part.Kind == message.KindImage && i == 3 {
					part.Media = &message.Media{URL: url, Bytes: len(url)}
				}
			}
		}
		return msgs
	}
	msgs := heavy(10, "https://example.com/shot.png") // the other messages have 40,000 bytes
	e := Engine{Steps: []Step{{Goal: ToBytes, Stage: policy.Media{Heavy: true}}, {Goal: InBytes, Stage: policy.Media{Heavy: true, Deep: true}}}, Pins: policy.Pins{message.RoleSystem}, Keep: policy.Keep{Turns: 3, Pairs: 2}, Cost: pictureCost{}}
	for _, c := range []struct {
		most, target int
		want         string
	}{
		{0, 0, "PPPPPPPPPPP"},             // no bound
		{500_000, 400_000, "PP-PPPPPPPP"}, // steps work for the target; the caller decides whether they run
		{300_000, 200_000, "PP------PPP"}, // the stage stops when it reaches the target
		{160_000, 100_000, "PP-------PP"}, // halfway between limit and target is enough
		{90_000, 80_000, "PP--------P"},   // the pictures of the task and the last call stay
	} {
		q := Request{Conversation: NewConversation(msgs, e.Pins, nil), Budget: policy.Budget{Max: 1 << 20, Cap: 1 << 20, Trigger: 1 << 20, Target: 1 << 20, MaxBytes: c.most, TargetBytes: c.target}}
		o, err := e.Run(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if got := pictures(o); got != c.want {
			t.Errorf("%d down to %d: %s, want %s; %d bytes", c.most, c.target, got, c.want, o.View.Bytes())
		}
	}
	if (&Engine{Steps: append(e.Steps, Step{Goal: policy.ToBudget, Stage: policy.Media{}})}).HasTarget() {
		t.Error("a step with a goal in bytes has a target in tokens")
	}
}
