package compat_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

type loopRow struct {
	ID    string
	Input struct {
		Initial []wireMessage `json:"initial_messages"`
		Turns   []struct {
			Assistant struct {
				Content string
				Calls   []string `json:"tool_call_ids"`
			}
			Results []string `json:"tool_results"`
		}
		Call struct{ Name, Arguments string } `json:"tool_call"`
	}
	Options struct {
		MaxResult int    `json:"max_tool_result_tokens"`
		Keep      string `json:"tool_result_truncation"`
		First     int    `json:"tool_result_keep_first"`
		Last      int    `json:"tool_result_keep_last"`
		Window    int    `json:"max_input_tokens"`
		MaxOutput *int   `json:"max_output_tokens"`
		Budget    int    `json:"loop_token_budget"`
	}
	Expected struct {
		Requests []struct {
			Tokens   int
			Messages []wireMessage
		}
	}
}

// turn returns the original messages of the model and the tools in turn i.
func (r *loopRow) turn(i int) []message.Message {
	turn := &r.Input.Turns[i]
	var calls []message.Part
	for _, id := range turn.Assistant.Calls {
		calls = append(calls, message.Call(id, r.Input.Call.Name, r.Input.Call.Arguments))
	}
	out := []message.Message{message.Assistant(turn.Assistant.Content, calls...)}
	for k, text := range turn.Results {
		if k < len(turn.Assistant.Calls) {
			out = append(out, message.ToolResult(turn.Assistant.Calls[k], text))
		}
	}
	return out
}

type request struct {
	messages []message.Message
	tokens   int
	over     bool
	broken   error
}

// requests runs the stages of the preset's loop before each model call.
func requests(t *testing.T, r *loopRow) (all []request) {
	t.Helper()
	o := r.Options
	since := at(len(r.Input.Initial))
	e := &reduce.Engine{Pins: systemPins, Cost: gateway, Steps: []reduce.Step{
		{When: policy.Always, Stage: policy.Truncate{MaxTokens: o.MaxResult, Keep: o.Keep, MarkerOnTop: true, NoShare: true, BytesPerToken: 4}},
		{When: policy.Always, Stage: policy.Mask{Since: since, KeepFirst: o.First, KeepLast: o.Last, Form: formname.Result}},
		{Goal: policy.ToBudget, Stage: compat.Groups{Since: since}},
	}}
	b := policy.Budget{Max: o.Window, Cap: o.Budget}.CapOnly()
	c := reduce.NewConversation(history(r.Input.Initial), systemPins, nil)
	for i := range r.Input.Turns {
		out, err := e.Run(context.Background(), reduce.Request{Conversation: c, Budget: b})
		if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
			t.Fatal(err)
		}
		q := request{messages: out.Conversation.Messages(), tokens: out.View.Total(), over: err != nil}
		for _, p := range out.Passes {
			q.broken = errors.Join(q.broken, p.Err)
		}
		all = append(all, q)
		c = out.Conversation.Append(r.turn(i))
	}
	return all
}

func TestVectorLoop(t *testing.T) {
	eachSet(t, "duragent-loop", func(t *testing.T, path string) {
		c := newTally(t, "run_agentic_loop")
		same, total := 0, 0
		for _, r := range rows[loopRow](t, path) {
			got := requests(t, &r)
			if wrong := soundLoop(&r, got); wrong != "" {
				t.Errorf("%s: %s", r.ID, wrong)
			}
			n, diff := firstDifference(&r, got)
			same, total = same+n, total+len(got)
			c.judge(r.ID, diff, "", loopDeviations(&r))
		}
		c.print()
		t.Logf("run_agentic_loop: %d of %d requests are equal before the first difference", same, total)
	})
}

// firstDifference returns the number of requests before the first difference, and
// describes that difference.
func firstDifference(r *loopRow, got []request) (n int, diff string) {
	if len(got) != len(r.Expected.Requests) {
		return 0, fmt.Sprintf("%d requests, want %d", len(got), len(r.Expected.Requests))
	}
	for i, q := range r.Expected.Requests {
		diff := cmp.Diff(lines(history(q.Messages)), lines(got[i].messages))
		if q.Tokens != got[i].tokens {
			diff += fmt.Sprintf("%d tokens, want %d", got[i].tokens, q.Tokens)
		}
		if got[i].over {
			diff += "insufficient budget"
		}
		if diff != "" {
			return i, fmt.Sprintf("request %d: %s", i+1, diff)
		}
	}
	return len(got), ""
}

// loopDeviations returns the predicates for the changes of each result from request
// to request, beginning with the text that the tool returned.
func loopDeviations(r *loopRow) (d deviations) {
	type result struct{ turn, k int }
	found := map[string]bool{}
	last := map[result]string{}
	for n, q := range r.Expected.Requests {
		found["over_budget"] = found["over_budget"] || q.Tokens > r.Options.Budget
		// Groups are removed from the front, so turns are counted from the end.
		turn, k := n, 0
		for i := len(q.Messages) - 1; i >= len(r.Input.Initial); i-- {
			m := q.Messages[i]
			if m.Role != message.RoleTool {
				turn, k = turn-1, 0
				continue
			}
			k++
			results := r.Input.Turns[turn-1].Results[:min(len(r.Input.Turns[turn-1].Results), len(r.Input.Turns[turn-1].Assistant.Calls))]
			at := result{turn - 1, len(results) - k}
			was, seen := last[at]
			if !seen {
				was = results[at.k]
			}
			last[at] = m.text()
			if was == m.text() {
				continue
			}
			for _, name := range resultDeviations(message.ToolResult(m.ToolCallID, was), m.text(), seen) {
				found[name] = true
			}
		}
	}
	for _, name := range []string{"grew", "no_saving", "remasked", "size_of_the_cut", "truncates_placeholder", "truncated_twice", "over_budget"} {
		d.add(found[name], name, nothing) // see soundLoop
	}
	return d
}

// resultDeviations returns the predicates for one edit: a truncation when the result
// first appears, a mask later.
func resultDeviations(was message.Message, is string, seen bool) (names []string) {
	var removed int
	_, err := fmt.Sscanf(is, "[result masked — ~%d tokens removed]", &removed)
	switch {
	case seen:
		names, _ = resultMaskDeviations(was, is, false)
		return names
	case err == nil && isMark(was.ResultText()):
		return []string{"remasked"}
	case err == nil: // cut and masked before any model read it
		overhead := gateway.Message(was) - estimate(was.ResultText())
		if cut := removed - overhead; estimate(is) > cut {
			names = append(names, "grew")
		} else if estimate(is) == cut {
			names = append(names, "no_saving")
		}
		if removed != gateway.Message(was) {
			names = append(names, "size_of_the_cut")
		}
		return names
	}
	for _, x := range truncateDeviations(was.ResultText(), is, "", 1) {
		names = append(names, x.name)
	}
	return names
}

// soundLoop checks the requirements for every request.
func soundLoop(r *loopRow, got []request) string {
	masked, raw := map[string]string{}, map[string]message.Message{}
	for i := range r.Input.Turns {
		for _, m := range r.turn(i)[1:] {
			raw[m.Parts[0].CallID] = m
		}
	}
	for i, q := range got {
		switch {
		case q.broken != nil:
			return q.broken.Error()
		case !q.over && q.tokens > r.Options.Budget:
			return fmt.Sprintf("request %d has %d tokens, the budget is %d", i+1, q.tokens, r.Options.Budget)
		case len(unpaired(q.messages)) > len(unpaired(history(r.Input.Initial))):
			return fmt.Sprintf("request %d has orphans %v", i+1, unpaired(q.messages))
		}
		for _, m := range q.messages {
			if m.Role != message.RoleTool {
				continue
			}
			id, text := m.Parts[0].CallID, m.ResultText()
			if before, ok := masked[id]; ok && before != text {
				return fmt.Sprintf("request %d changes a placeholder to %q", i+1, text)
			}
			if !isMark(text) {
				continue
			}
			masked[id] = text
			if want := fmt.Sprintf("[result masked — ~%d tokens removed]", gateway.Message(raw[id])); text != want && !isMark(raw[id].ResultText()) {
				return fmt.Sprintf("request %d says %q, want %q: the size of the tool's output", i+1, text, want)
			}
		}
	}
	return ""
}
