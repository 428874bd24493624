package invariant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// textCost and cost count in a simple unit: a quarter of the characters.
func textCost(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func cost(m message.Message) int {
	n := 4
	for _, p := range m.Parts {
		n += textCost(p.Text) + textCost(p.Name) + textCost(string(p.Args))
	}
	return n
}

func byRole(m message.Message) bool {
	return m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

func wire(t testing.TB, raw string) message.Message {
	t.Helper()
	m, err := openai.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func protected(m message.Message) message.Message {
	m.Protected = true
	return m
}

func edit(t testing.TB, m message.Message, text string) message.Message {
	t.Helper()
	out, err := m.WithPartText(0, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

const dispatch = blockBegin + " job 7: passed " + blockEnd

// history returns an agent's session: five turns, a protected message among them, and a question
// without an answer.
func history(t testing.TB) []message.Message {
	return []message.Message{
		0:  message.System("You are careful."),
		1:  message.Developer("Answer in English."),
		2:  message.User("Find the bug."),
		3:  message.Assistant("", message.Call("a1", "read", `{"path":"a.go"}`)),
		4:  wire(t, `{"role":"tool", "x":1e999, "tool_call_id":"a1","content":"`+words(400)+`","cache":{"y":"z"}}`),
		5:  message.Assistant("Both.", message.Call("a2", "read", `{}`), message.Call("a3", "dispatch", `{}`)),
		6:  message.ToolResult("a2", words(300)),
		7:  message.ToolResult("a3", words(100)+"\n"+dispatch+"\n"+words(100)),
		8:  protected(message.User("Never touch main.")),
		9:  message.Assistant("I will not. " + words(200)),
		10: message.User("Go on."),
		11: message.Assistant("", message.Call("b1", "test", `{}`)),
		12: message.ToolResult("b1", words(2000)),
		13: message.Assistant("Done."),
		14: message.User("And now?"),
	}
}

func decided(n int, other map[int]string) []string {
	out := slices.Repeat([]string{kept}, n)
	for i, d := range other {
		out[i] = d
	}
	return out
}

// maskedCase masks two results and truncates a third.
func maskedCase(t testing.TB) Case {
	in := history(t)
	out := slices.Clone(in)
	out[4] = edit(t, in[4], fmt.Sprintf("[observation masked — %d chars]", utf8.RuneCountInString(in[4].Parts[0].Text)))
	outside := utf8.RuneCountInString(in[7].Parts[0].Text) - len(dispatch)
	out[7] = edit(t, in[7], fmt.Sprintf("[dispatch output masked — %d chars]\n%s", outside, dispatch))
	text := in[12].Parts[0].Text
	out[12] = edit(t, in[12], text[:400]+fmt.Sprintf("\n\n[truncated: kept first ~120 of ~%d tokens (head)]", textCost(text)))
	return stated(Case{
		In: in, Out: out, Pinned: byRole, Cost: cost, Text: textCost,
		Decisions: decided(len(in), map[int]string{4: masked, 7: masked, 12: truncated}),
		Budget:    4000, Target: 3000, Triggered: true,
		KeepTurns: 2, KeepPairs: 1, MaskWindow: 2,
	})
}

// summaryCase replaces all old messages by a summary.
func summaryCase(t testing.TB) Case {
	in := history(t)
	out := []message.Message{in[0], in[1], in[8],
		message.Assistant("<COMPACT-SUMMARY v1>\nThe bug is in a.go.\n</COMPACT-SUMMARY>"),
		in[10], in[11], in[12], in[13], in[14]}
	gone := map[int]string{}
	for _, i := range []int{2, 3, 4, 5, 6, 7, 9} {
		gone[i] = summarized
	}
	return stated(Case{
		In: in, Out: out, Pinned: byRole, Cost: cost, Text: textCost,
		Decisions: decided(len(in), gone), Budget: 6000, Target: 2000, Triggered: true,
		KeepTurns: 2, KeepPairs: 1, MaxSummaryTokens: 100, Summarizes: true,
	})
}

// stated fills in the numbers that a result would state.
func stated(c Case) Case {
	c.Fixed = 3
	c.Reported = &Reported{In: 3 + sum(costs(c.In, cost)), Out: 3 + sum(costs(c.Out, cost))}
	at := 0
	for i := range c.In {
		after := 0
		if c.Decisions[i] == kept {
			after = cost(c.In[i])
		}
		if len(c.In) == len(c.Out) {
			after = cost(c.Out[at])
			at++
		}
		c.Reported.Messages = append(c.Reported.Messages, [2]int{cost(c.In[i]), after})
	}
	return c
}

func remove(msgs []message.Message, i int) []message.Message {
	return slices.Delete(slices.Clone(msgs), i, i+1)
}

func insert(msgs []message.Message, i int, m ...message.Message) []message.Message {
	return slices.Insert(slices.Clone(msgs), i, m...)
}

func rules(found []Violation) []string {
	var out []string
	for _, v := range found {
		if !slices.Contains(out, v.Rule) {
			out = append(out, v.Rule)
		}
	}
	return out
}
