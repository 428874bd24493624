package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// Some servers restart the ids of calls at every turn. The account still names the tool
// of each result, and counts each recall with its own answer.
func TestAnAccountTellsCallsWithOneIdApart(t *testing.T) {
	a := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Archive: a, Model: "gpt-4o", MaxContextTokens: 8000})
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.User("go on")}
	tools := []string{"read", "bash", "recall"}
	for i := range 45 {
		if _, err := m.Preflight(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		tool := tools[i%len(tools)]
		history = append(history, message.Assistant("", message.Call("c0", tool, fmt.Sprintf(`{"ref":"%012x"}`, i))),
			message.ToolResult("c0", fmt.Sprintf("%s %d: %s", tool, i, strings.Repeat("words ", 300+i))))
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	x, named := accountOf(t, a, "s"), map[string]int{}
	for _, s := range x.Steps {
		for _, g := range s.Gone {
			if tool, _, _ := strings.Cut(g.Words, " "); g.Role == "tool" {
				if named[tool]++; g.Tool != tool {
					t.Errorf("step %d: %.20q is of the tool %s", s.Step, g.Words, g.Tool)
				}
			}
		}
	}
	if len(x.Steps) < 2 || len(named) != len(tools) {
		t.Fatalf("%d steps, results of %v", len(x.Steps), named)
	}
	if len(x.Recalls) < 8 {
		t.Errorf("%d recalls", len(x.Recalls))
	}
	for k, r := range x.Recalls {
		i := 3*k + 2
		if want := fmt.Sprintf(`{"ref":"%012x"}`, i); r.Asked != want || r.Tokens < 300+i || r.Tokens > 310+i {
			t.Errorf("recall %d asked %s and had %d tokens, want %s and about %d", k+1, r.Asked, r.Tokens, want, 304+i)
		}
	}
}

// The result of another tool with the id of an earlier recall is no answer of that recall.
func TestAnAnswerOfAnotherToolIsNoRecall(t *testing.T) {
	count, err := counter()
	if err != nil {
		t.Fatal(err)
	}
	all := recalling{count: count, at: map[recallKey]int{}}
	all.begin()
	for _, p := range []message.Part{message.Call("1", "recall", `{"ref":"3f9a2c1b70de"}`), {Kind: message.KindToolResult, CallID: "1", Text: "one line"},
		message.Call("1", "bash", `{"command":"cat all.txt"}`), {Kind: message.KindToolResult, CallID: "1", Text: strings.Repeat("many lines\n", 400)}} {
		all.part(&p, &AccountStep{})
	}
	if len(all.found) != 1 || all.found[0].Tokens == 0 || all.found[0].Tokens > 20 {
		t.Errorf("%+v", all.found)
	}
}
