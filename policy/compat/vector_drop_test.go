package compat_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy/compat"
)

type dropRow struct {
	ID      string
	Input   struct{ Messages []wireMessage }
	Options struct {
		End    int `json:"conversation_end_idx"`
		Budget int `json:"token_budget"`
	}
	Expected struct {
		Messages []wireMessage
		After    int `json:"tokens_after"`
	}
}

func TestVectorDrop(t *testing.T) {
	eachSet(t, "duragent-drop", func(t *testing.T, path string) {
		c := newTally(t, "drop_oldest_iterations")
		for _, r := range rows[dropRow](t, path) {
			out, err := stage(t, compat.Groups{Since: at(r.Options.End)}, history(r.Input.Messages), r.Options.Budget)
			proposed := lines(out.Conversation.Messages())
			diff := cmp.Diff(lines(history(r.Expected.Messages)), proposed)
			counts := differ(fmt.Sprint(r.Expected.After), fmt.Sprint(out.View.Total()))
			d := dropDeviations(&r, out, diff)
			if err != nil {
				diff += err.Error()
			}
			c.judge(r.ID, diff, counts, d)
		}
		c.print()
	})
}

func dropDeviations(r *dropRow, out *reduce.Outcome, diff string) (d deviations) {
	in, want := r.Input.Messages, r.Expected.Messages
	gone := missing(in, want)
	anchor, open := message.Anchor(history(in)), message.Open(message.Rounds(history(in)))
	sound := func() string { return soundDrop(history(in), out) }
	d.add(slices.Contains(gone, anchor), "anchor_lost", sound)
	d.add(slices.ContainsFunc(gone, func(i int) bool { return i >= open }), "open_round", sound)
	// An empty list of calls counts as no list: a message must be handled in the
	// same way with and without it.
	d.add(slices.ContainsFunc(gone, func(i int) bool { return in[i].emptyCalls() || i == lastCall(in) }), "empty_call_list", sound)
	d.add(!subset(unpaired(history(want)), unpaired(history(in))), "orphan_left", sound)
	others := len(d) > 0
	// The last group is never removed. If it does not fit, the error comes from the
	// budget, not from the stage.
	d.add(r.Expected.After > r.Options.Budget, "over_budget", func() string {
		if !others && diff != "" {
			return diff
		}
		return sound()
	})
	return d
}

// lastCall returns the last message that has calls, -1 = none.
func lastCall(msgs []wireMessage) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if len(msgs[i].ToolCalls) > 0 {
			return i
		}
	}
	return -1
}

// missing returns the messages of the history in that the history out lacks. out
// must be a subsequence of in.
func missing(in, out []wireMessage) (gone []int) {
	a, b := lines(history(in)), lines(history(out))
	k := len(b) - 1
	for i := len(a) - 1; i >= 0; i-- {
		if k >= 0 && a[i] == b[k] {
			k--
			continue
		}
		gone = append(gone, i)
	}
	return gone
}

// unpaired returns the calls without a later result, and the results without an
// earlier call.
func unpaired(msgs []message.Message) map[string]bool {
	waiting, out := map[string]int{}, map[string]bool{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch {
			case p.Kind == message.KindToolCall:
				waiting[p.CallID]++
			case p.Kind == message.KindToolResult && waiting[p.CallID] > 0:
				waiting[p.CallID]--
			case p.Kind == message.KindToolResult:
				out["result "+p.CallID] = true
			}
		}
	}
	for id, n := range waiting {
		if n > 0 {
			out["call "+id] = true
		}
	}
	return out
}

// soundDrop checks that the output is the history without some whole rounds, in
// order, with the last user message and the last round.
func soundDrop(in []message.Message, out *reduce.Outcome) string {
	left := out.Conversation.Messages()
	last := -1
	for i := range left {
		src := out.Conversation.Source(i)
		if src <= last {
			return fmt.Sprintf("message %d changed its place", src)
		}
		last = src
	}
	switch anchor := message.Anchor(in); {
	case anchor >= 0 && !out.Conversation.Holds(anchor):
		return "the last user message is gone"
	case !out.Conversation.Holds(len(in) - 1):
		return "the newest message is gone"
	case !subset(unpaired(left), unpaired(in)):
		return fmt.Sprintf("orphans %v", unpaired(left))
	}
	return ""
}
