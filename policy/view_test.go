package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/running"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A view that no engine made reads placeholders and markers by their text. A web page in the
// form of a dispatch placeholder is not masked: it would stay in full forever otherwise.
func TestViewWithoutAnEngineReadsPlaceholders(t *testing.T) {
	page := "[dispatch output masked — 5 chars]\n" + beginBlock + strings.Repeat("x", 4000) + endBlock
	for name, c := range map[string]struct {
		tool, text string
		masked     bool
		chars      int
	}{
		"a result":                                {"bash", "four", false, 4},
		"a placeholder":                           {"bash", "[observation masked — 4812 chars]", true, 4812},
		"a web page like a dispatch placeholder":  {"web", page, false, len([]rune(page))},
		"a dispatch placeholder of its own tool":  {"task", page, true, 5},
		"a text that only begins like one":        {"bash", "[observation masked — 4812 chars] and more", false, 42},
		"a text with a placeholder at its end":    {"bash", "more\n[observation masked — 4812 chars]", false, 38},
		"a placeholder with a reference, shorter": {"bash", "[observation masked — 9 chars · recall 3f9a2c1b70de]", true, 9},
	} {
		v := policy.NewView([]message.Message{message.User("go"), message.Assistant("", message.Call("1", c.tool, "{}")), message.ToolResult("1", c.text)}, pins, words{})
		v.Bind(running.Run{Dispatch: policy.DefaultDispatchTools()})
		if o := v.Origin(2, 0); v.Masked(2, 0) != c.masked || o.Chars != c.chars {
			t.Errorf("%s: masked %v, %d characters, want %v and %d", name, !c.masked, o.Chars, c.masked, c.chars)
		}
	}
}

// The shares of a view in results and in summaries, which the events report, need to know
// which messages those are.
func TestViewKnowsResultsAndSummaries(t *testing.T) {
	v := policy.NewView([]message.Message{policy.NewSummary(1, "what was"), message.User("go"), message.Assistant("", message.Call("1", "bash", "{}")), message.ToolResult("1", "x")}, pins, words{})
	for i, want := range []struct{ result, summary bool }{{false, true}, {false, false}, {false, false}, {true, false}} {
		if v.HasResult(i) != want.result || v.Summary(i) != want.summary {
			t.Errorf("message %d: result %v, summary %v, want %+v", i, v.HasResult(i), v.Summary(i), want)
		}
	}
}

// The floor of a view that no engine made assumes stages that summarize, remove copies and
// cut results. A caller would be told that its history cannot fit otherwise.
func TestFloorWithoutAnEngineAssumesStagesThatRemove(t *testing.T) {
	for name, c := range map[string]struct {
		msgs []message.Message
		gone []int
	}{
		"old turns":              {[]message.Message{message.System("s"), message.User(text(50)), message.Assistant(text(50)), message.User("now"), message.Assistant("b")}, []int{1, 2}},
		"copies of instructions": {[]message.Message{message.System(text(50)), message.User("now"), message.Assistant("a"), message.System(text(50)), message.Assistant("b")}, []int{2, 3}},
	} {
		v := policy.NewView(c.msgs, pins, words{})
		want := v.Total()
		for _, i := range c.gone {
			want -= v.Tokens[i]
		}
		if got := v.Floor(); got != want {
			t.Errorf("%s: the floor is %d, want %d of %d", name, got, want, v.Total())
		}
	}
}

// No stage shortens the text beside a result, or a sealed result. A floor without them would
// let a call run every stage, and fail all the same.
func TestFloorIncludesTextThatNoStageShortens(t *testing.T) {
	result := message.Part{Kind: message.KindToolResult, CallID: "1", Text: text(200)}
	sealed := result
	sealed.Sealed = true
	for name, c := range map[string]struct {
		part  message.Part
		least int
		most  int
	}{
		"a result":        {result, 0, 50},
		"a text":          {message.Part{Kind: message.KindText, Text: text(200)}, 200, 300},
		"a sealed result": {sealed, 200, 300},
	} {
		m := message.ToolResult("2", text(60))
		m.Parts = append(m.Parts, c.part)
		v := policy.NewView([]message.Message{message.User("go"), message.Assistant("", message.Call("1", "bash", "{}"), message.Call("2", "bash", "{}")), m}, pins, words{})
		if got := v.Floor(); got < c.least || got > c.most {
			t.Errorf("%s: the floor is %d, want %d to %d", name, got, c.least, c.most)
		}
	}
}

// A picture of the user can be replaced, too. The floor knows that.
func TestFloorLeavesOutPicturesOfTheUser(t *testing.T) {
	shown := message.User("look")
	shown.Parts = append(shown.Parts, message.Part{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", URL: "data:image/png;base64,q", Bytes: 40_000}})
	v := policy.NewView([]message.Message{shown, message.Assistant("a"), message.User("next"), message.Assistant("b"), message.User("now"), message.Assistant("c")}, pins, shotCost{})
	v.SetLater([]policy.Stage{policy.Media{Deep: true}})
	if got := v.Floor(); got > 100 {
		t.Errorf("the floor is %d, with the picture of 1000", got)
	}
}

// A placeholder that became protected stays as it is. The other placeholders still lose what
// the budget requires, and the error of a smaller budget states the size of that view.
func TestSqueezeLeavesProtectedPlaceholders(t *testing.T) {
	e := engine(reduce.Step{Stage: policy.Mask{WindowTurns: 1, Form: formname.Recall}, Goal: policy.All})
	e.Keep, e.Cost = policy.Keep{Turns: 1, Pairs: 1}, bytesCost{}
	masked, err := run(t, e, loop(3, 40), budget(10_000))
	if err != nil {
		t.Fatal(err)
	}
	msgs := masked.Conversation.Messages()
	v := policy.NewView(msgs, pins, bytesCost{})
	v.Origins = func(i, p int) (policy.Origin, bool) {
		return policy.Origin{Chars: 199, Ref: "3f9a2c1b70de", Masked: true}, msgs[i].Role == message.RoleTool && i < 7
	}
	v.Pinned[3], v.Budget = true, budget(1)
	p, err := policy.Squeeze{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(p.Groups), err)
	}
	for _, edit := range p.Groups[0] {
		if edit.Text.Index == 3 {
			t.Errorf("the protected placeholder is edited")
		}
	}
	v.Pinned[3], v.Budget = false, budget(1)
	smallest, err := policy.Squeeze{}.Propose(t.Context(), v)
	if err != nil || len(smallest.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(smallest.Groups), err)
	}
	out, err := reduce.NewConversation(msgs, pins, nil).Apply(smallest.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	v.SetLater([]policy.Stage{policy.Squeeze{}})
	if got, want := v.Floor(), policy.NewView(out.Messages(), pins, bytesCost{}).Total(); got != want {
		t.Errorf("the floor is %d, the smallest view costs %d", got, want)
	}
}

// A placeholder with large dispatch blocks is not cut: the blocks are what masking kept.
func TestTruncateLeavesDispatchBlocks(t *testing.T) {
	block := beginBlock + " " + text(100) + " " + endBlock
	for whole, want := range map[string]int{"[dispatch output masked — 400 chars]\n" + block: 0, text(100): 1} {
		v := policy.NewView([]message.Message{message.User("go"), message.Assistant("", message.Call("1", "task", "{}")), message.ToolResult("1", whole)}, pins, words{})
		v.Bind(running.Run{Dispatch: policy.DefaultDispatchTools()})
		if p, err := (policy.Truncate{MaxTokens: 30, NoShare: true}).Propose(t.Context(), v); err != nil || len(p.Groups) != want {
			t.Errorf("%.40q: %d cuts, %v, want %d", whole, len(p.Groups), err, want)
		}
	}
}

// The placeholder of a template of the caller has the sizes and the turn of the result.
func TestPlaceholdersOfATemplateNameTheTurn(t *testing.T) {
	v := policy.NewView(loop(4, 30), pins, words{})
	v.Forms = policy.Forms{"own@1": "[turn {turn}, {tokens} tokens, {chars} chars]"}
	p, err := policy.Mask{WindowTurns: 1, Form: "own@1"}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) == 0 {
		t.Fatalf("%d groups, %v", len(p.Groups), err)
	}
	for k, e := range p.Groups[0] {
		got, err := v.Forms.Text(*e.Text.Segments[0].Mark)
		if want := fmt.Sprintf("[turn %d, 30 tokens, 149 chars]", k+1); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}
