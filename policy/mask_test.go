package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Some servers restart the ids of calls at every turn.
func TestMaskFindsTheToolOfAReusedCallID(t *testing.T) {
	var msgs []message.Message
	for _, tool := range []string{"keep", "mask", "keep", "mask", "last"} {
		msgs = append(msgs, message.User("go on"), message.Assistant("", message.Call("call_0", tool, "{}")), message.ToolResult("call_0", tool+strings.Repeat(" word", 200)))
	}
	v := policy.NewView(msgs, nil, words{})
	p, err := policy.Mask{WindowTurns: 1, ExcludeTools: []string{"keep"}}.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var masked []string
	for _, g := range p.Groups {
		for _, e := range g {
			masked = append(masked, msgs[e.Text.Index-1].Parts[0].Name)
		}
	}
	if !slices.Equal(masked, []string{"mask", "mask"}) {
		t.Errorf("the results of %v are masked, want those of the tool mask only", masked)
	}
}

// The model has not read the results of the open round yet. So they stay, even if
// Recent does not mark them.
func TestMaskKeepsTheOpenRound(t *testing.T) {
	msgs := loop(3, 100)
	msgs = append(msgs, message.Assistant("", message.Call("open", "bash", "{}"), message.Call("waits", "bash", "{}")), message.ToolResult("open", text(100)))
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(10_000)
	p, err := policy.Mask{Recent: func(v *policy.View) []bool { return make([]bool, len(v.Rounds)) }}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("error %v, %d groups, want 1 group", err, len(p.Groups))
	}
	var masked []int
	for _, e := range p.Groups[0] {
		masked = append(masked, e.Text.Index)
	}
	if !slices.Equal(masked, []int{3, 5, 7}) {
		t.Errorf("the messages %v of %d are masked, want [3 5 7]", masked, len(msgs))
	}
}

// Each turn is a user message, a call and its result: message 3n+2 is the result of
// turn n.
func TestMaskSelectsResultsByItsSettings(t *testing.T) {
	turns := func(n int) (msgs []message.Message) {
		for range n {
			msgs = append(msgs, message.User("go on"), message.Assistant("", message.Call("c", "bash", "{}")), message.ToolResult("c", text(100)))
		}
		return msgs
	}
	since := func(i int) func(*policy.View) int { return func(*policy.View) int { return i } }
	first := func(v *policy.View) []bool { r := make([]bool, len(v.Rounds)); r[0], r[1] = true, true; return r }
	for _, tc := range []struct {
		name  string
		mask  policy.Mask
		keep  policy.Keep
		turns int
		want  []int // turns
	}{
		{"the last turns stay", policy.Mask{WindowTurns: 2}, policy.Keep{Turns: 1}, 5, []int{0, 1, 2}},
		{"Keep has more turns", policy.Mask{WindowTurns: 2}, policy.Keep{Turns: 3}, 5, []int{0, 1}},
		{"fewer turns than stay", policy.Mask{WindowTurns: 7}, policy.Keep{}, 5, nil},
		{"as many as stay", policy.Mask{WindowTurns: 5}, policy.Keep{}, 5, nil},
		{"the last pairs stay", policy.Mask{WindowTurns: 1}, policy.Keep{Pairs: 3}, 5, []int{0, 1}},
		{"Mask has its own turns", policy.Mask{WindowTurns: 4, Turns: 1}, policy.Keep{Turns: 4}, 5, []int{0, 1, 2, 3}},
		{"a batch is not full", policy.Mask{WindowTurns: 2, Every: 3}, policy.Keep{}, 4, nil},
		{"a batch is full", policy.Mask{WindowTurns: 2, Every: 3}, policy.Keep{}, 5, []int{0, 1, 2}},
		{"a full batch and one more", policy.Mask{WindowTurns: 2, Every: 3}, policy.Keep{}, 6, []int{0, 1, 2}},
		{"batches of one", policy.Mask{WindowTurns: 2, Every: 1}, policy.Keep{}, 6, []int{0, 1, 2, 3}},
		{"Recent names the rounds", policy.Mask{Recent: first}, policy.Keep{Turns: 9, Pairs: 9}, 4, []int{1, 2, 3}},
		{"all but the first and the last ones", policy.Mask{Since: since(0), KeepFirst: 1, KeepLast: 2}, policy.Keep{Turns: 9}, 6, []int{1, 2, 3}},
		{"all but the last one, from a message on", policy.Mask{Since: since(5), KeepLast: 1}, policy.Keep{}, 4, []int{1, 2}},
		{"all but the first one, from a message on", policy.Mask{Since: since(6), KeepFirst: 1}, policy.Keep{}, 4, []int{3}},
		{"a message before the first one", policy.Mask{Since: since(-3), KeepFirst: 1}, policy.Keep{}, 3, []int{1, 2}},
		{"a message after the last one", policy.Mask{Since: since(99), KeepFirst: 1}, policy.Keep{}, 3, nil},
		{"neither first nor last ones", policy.Mask{Since: since(0)}, policy.Keep{}, 3, nil},
		{"a saving that is too small", policy.Mask{WindowTurns: 1, MinTokens: 101}, policy.Keep{}, 3, nil},
		{"a saving that is enough", policy.Mask{WindowTurns: 1, MinTokens: 50}, policy.Keep{}, 3, []int{0, 1}},
	} {
		v := policy.NewView(append(turns(tc.turns), message.User("and now?")), pins, words{})
		v.Keep = tc.keep
		v.Budget = budget(100_000)
		p, err := tc.mask.Propose(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, g := range p.Groups {
			for _, e := range g {
				got = append(got, e.Text.Index/3)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: the results of turns %v are masked, want %v", tc.name, got, tc.want)
		}
	}
}

func TestMaskKeepsPinnedAndExcludedResults(t *testing.T) {
	msgs := loop(6, 100)
	msgs[3].Protected = true
	msgs = append(msgs, message.User("and now?"))
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(100_000)
	for _, tc := range []struct {
		exclude []string
		want    []int
	}{{nil, []int{5, 7, 9, 11, 13}}, {[]string{"read"}, []int{5, 7, 9, 11, 13}}, {[]string{"read", "bash"}, nil}} {
		p, err := policy.Mask{ExcludeTools: tc.exclude}.Propose(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, g := range p.Groups {
			for _, e := range g {
				got = append(got, e.Text.Index)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("excluded %v: the messages %v are masked, want %v", tc.exclude, got, tc.want)
		}
	}
}

// Mask does not encode a message with many results again for each placeholder.
func TestMaskReplacesManyResultsOfOneMessage(t *testing.T) {
	const n = 20
	var calls, results []message.Part
	for i := range n {
		id := string(rune('a' + i))
		size := 100
		if i%4 == 0 {
			size = 1
		}
		calls = append(calls, message.Call(id, "bash", "{}"))
		results = append(results, message.ToolResult(id, text(size)).Parts...)
	}
	msgs := []message.Message{message.System("be good"), message.User("read all"), message.Assistant("", calls...), {Role: message.RoleTool, Parts: results}}
	v := policy.NewView(append(msgs, loop(6, 10)[1:]...), pins, words{})
	v.Budget = budget(100_000)
	p, err := policy.Mask{WindowTurns: 1}.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var masked []int
	for _, g := range p.Groups {
		for _, e := range g {
			if e.Text.Index == 3 {
				masked = append(masked, e.Text.Part)
			}
		}
	}
	if want := []int{1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19}; !slices.Equal(masked, want) {
		t.Errorf("the results %v are masked, want %v", masked, want)
	}
}

// A result that its placeholder would not make cheaper stays, in a message of few and of
// many results.
func TestMaskLeavesResultsThatItWouldNotMakeCheaper(t *testing.T) {
	placeholder := len(strings.Fields("[observation masked — 99 chars]"))
	for _, parts := range []int{1, 2, 16, 17, 40} {
		for size, want := range map[int]int{placeholder: 0, placeholder + 1: parts} {
			var calls, results []message.Part
			for i := range parts {
				id := fmt.Sprint("c", i)
				calls = append(calls, message.Call(id, "read", "{}"))
				results = append(results, message.ToolResult(id, strings.TrimSpace(strings.Repeat("incomprehensibly ", size))).Parts...)
			}
			all := message.ToolResult("", "")
			all.Parts = results
			msgs := append([]message.Message{message.User("go"), message.Assistant("", calls...), all}, loop(2, 1)[1:]...)
			p, err := policy.Mask{WindowTurns: 1}.Propose(t.Context(), policy.NewView(msgs, pins, words{}))
			got := 0
			if len(p.Groups) > 0 {
				got = len(p.Groups[0])
			}
			if err != nil || got != want {
				t.Errorf("%d results of %d tokens: %d are masked, want %d (%v)", parts, size, got, want, err)
			}
		}
	}
}

// MinTokens is the smallest saving for which Mask makes a placeholder.
func TestMaskMakesAPlaceholderThatSavesMinTokens(t *testing.T) {
	msgs := ran(`{}`, "made it")
	const placeholder = "[observation masked — 607 chars]"
	saving := len(msgs[2].ResultText()) - len(placeholder)
	for least, want := range map[int]bool{saving: true, saving + 1: false} {
		out, _ := maskAll(t, policy.Mask{MinTokens: least}, false, msgs...)
		if got := out.Messages()[2].ResultText() == placeholder; got != want {
			t.Errorf("a placeholder that saves %d tokens, with MinTokens %d: masked is %v, want %v", saving, least, got, want)
		}
	}
}
