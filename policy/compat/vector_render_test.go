package compat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

type rendered struct {
	System   int `json:"system_tokens"`
	Tools    int `json:"tool_tokens"`
	History  int `json:"history_tokens"`
	Messages []wireMessage
}

// judgeRender compares the stage history with the output of the source: the
// system prompt, a notice, and the newest messages that fit.
func judgeRender(t *testing.T, c *tally, r *budgetRow) {
	var want rendered
	decode(t, r.Expected, &want)
	prompt := want.prompt(r.Input.Messages)
	in := steered(r.Input.Messages)
	limit := r.Options.MaxInput - r.Options.MaxOutput - r.Options.MaxInput/10
	got := rendered{System: estimate(prompt), Tools: schemas(t, r.Input.Tools), History: gateway.Messages(in)}
	out, err := render(in, got.System+got.Tools, limit, r.Options.MaxHistory)
	if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	diff := cmp.Diff(lines(history(want.Messages)), lines(out.Conversation.Messages()))
	if err != nil {
		diff += err.Error()
	}
	counts := cmp.Diff([3]int{want.System, want.Tools, want.History}, [3]int{got.System, got.Tools, got.History})
	if counts != "" {
		t.Errorf("%s: %s", r.ID, counts)
	}
	c.judge(r.ID, diff, "", renderDeviations(in, &want, limit-got.System-got.Tools, out, err))
}

// prompt removes the rendered system prompt: the first message, unless it belongs
// to the history.
func (want *rendered) prompt(in []wireMessage) string {
	if len(want.Messages) == 0 {
		return ""
	}
	first := want.Messages[0]
	inside := len(in) > 0 && in[0].Role == message.RoleSystem && in[0].text() == first.text() && want.System == 0
	if inside || want.System == 0 && (first.Role != message.RoleSystem || isNotice(first)) {
		return ""
	}
	want.Messages = want.Messages[1:]
	return first.text()
}

func TestRenderAdapterAcceptsOtherForms(t *testing.T) {
	system, user := "be good", "go"
	in := []wireMessage{{Role: message.RoleSystem, Content: &system}, {Role: message.RoleUser, Content: &user}}
	for name, c := range map[string]struct {
		want   rendered
		in     []wireMessage
		prompt string
		left   int
	}{
		"nothing at all":            {},
		"an empty history":          {want: rendered{System: 1, Messages: in[:1]}, prompt: system},
		"a prompt that is left out": {want: rendered{System: 1}},
		"a prompt in front":         {want: rendered{System: 1, Messages: in}, in: in[1:], prompt: system, left: 1},
		"a system message inside":   {want: rendered{Messages: in}, in: in, left: 2},
		"both":                      {want: rendered{System: 1, Messages: append(in[:1:1], in...)}, in: in, prompt: system, left: 2},
	} {
		if got := c.want.prompt(c.in); got != c.prompt || len(c.want.Messages) != c.left {
			t.Errorf("%s: prompt %q, %d messages are left; want %q and %d", name, got, len(c.want.Messages), c.prompt, c.left)
		}
	}
	bare := json.RawMessage(`[{"name":"run","description":"runs","parameters":{}}]`)
	wrapped := json.RawMessage(`[ {"type": "function", "function": {"name":"run","description":"runs","parameters":{}}} ]`)
	for raw, want := range map[string]int{"": 0, "null": 0, "[]": 0, string(bare): len(bare) / 4, string(wrapped): (len(wrapped) - 4) / 4} {
		if got := schemas(t, json.RawMessage(raw)); got != want {
			t.Errorf("tools %s: %d tokens, want %d", raw, got, want)
		}
	}
	if out, err := render(nil, 0, 100, 100); err != nil || out.Conversation.Len() != 0 {
		t.Errorf("an empty history: %v", err)
	}
}

func isNotice(m wireMessage) bool {
	_, ok := policy.ParseNotice(message.System(m.text()))
	return ok
}

// steered returns the history with the roles in the request.
func steered(msgs []wireMessage) []message.Message {
	out := history(msgs)
	for i := range out {
		if out[i].Role == "steering" {
			out[i].Role = message.RoleUser
		}
	}
	return out
}

// schemas returns the cost of the tools in the JSON of the request.
func schemas(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	if len(raw) == 0 {
		return 0
	}
	var tools []json.RawMessage
	decode(t, raw, &tools)
	if len(tools) == 0 {
		return 0
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return gateway.Tools(b.Bytes())
}

func render(in []message.Message, fixed, limit, most int) (*reduce.Outcome, error) {
	e := &reduce.Engine{Steps: []reduce.Step{{When: policy.Always, Stage: compat.History{MaxTokens: most}}}, Pins: systemPins, Cost: gateway}
	return e.Run(context.Background(), reduce.Request{
		Conversation: reduce.NewConversation(in, systemPins, nil), Fixed: fixed, Budget: policy.Budget{Max: limit, Cap: limit}.CapOnly(),
	})
}

// renderDeviations returns the predicates for messages that the source omits.
func renderDeviations(in []message.Message, want *rendered, room int, out *reduce.Outcome, err error) (d deviations) {
	notice, kept := 0, steered(want.Messages)
	if len(kept) > 0 && isNotice(want.Messages[0]) {
		notice, kept = gateway.Message(kept[0]), kept[1:]
	}
	first := len(in) - len(kept)
	rounds, anchor := message.Rounds(in), message.Anchor(in)
	sound := func() string { return soundRender(in, room, out, err) }
	d.add(first > anchor && anchor >= 0, "anchor_lost", sound)
	d.add(len(rounds) > 0 && first > rounds[len(rounds)-1].Start, "newest_round_lost", sound)
	d.add(first > message.Open(rounds), "open_round", sound)
	d.add(slices.ContainsFunc(rounds, func(s message.Round) bool { return s.Start < first && first < s.End }), "round_split", sound)
	cost := gateway.Messages(kept)
	d.add(notice > 0 && cost <= room && cost+notice > room, "notice_over_budget", sound)
	d.add(notice > 0 && notice >= gateway.Messages(in[:first]), "notice_grew", sound)
	return d
}

// soundRender checks that the output fits the budget and has the last user
// message, the newest round, only whole rounds, and a notice with the number of
// omitted messages.
func soundRender(in []message.Message, room int, out *reduce.Outcome, err error) string {
	left := out.Conversation.Messages()
	gone := 0
	for i := range in {
		if !out.Conversation.Holds(i) {
			gone++
		}
	}
	switch anchor := message.Anchor(in); {
	case err == nil && gateway.Messages(left) > max(room, 0):
		return fmt.Sprintf("%d tokens, there is room for %d", gateway.Messages(left), room)
	case anchor >= 0 && !out.Conversation.Holds(anchor), len(in) > 0 && !out.Conversation.Holds(len(in)-1):
		return "the last user message or the newest one is gone"
	case !subset(unpaired(left), unpaired(in)):
		return fmt.Sprintf("orphans %v", unpaired(left))
	case gone > 0 && lines(left)[0] != lines([]message.Message{policy.NewNotice(gone)})[0]:
		return fmt.Sprintf("%d messages are gone, the view begins with %s", gone, lines(left)[0])
	}
	return ""
}
