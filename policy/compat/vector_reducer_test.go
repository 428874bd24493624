package compat_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

type reducerMessage struct {
	Role     message.Role
	Content  string
	PairID   string
	PairRole string
	Tags     []string
}

type reducerRow struct {
	ID      string
	Options struct {
		Enabled                bool
		MaxInputChars          int
		PreserveRecentRawTurns *int
		SummaryMaxChars        *int
		MaxObservationChars    *int
		ObservationMasking     *bool
	}
	Messages []reducerMessage
	Result   struct {
		Messages        []reducerMessage
		Reduced         bool
		DroppedCount    int
		InvariantStatus string
		MaskedCount     int
		MaskedChars     int
		ReductionStage  string
	}
}

func orDefault[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func (r *reducerRow) keep() int {
	return orDefault(r.Options.PreserveRecentRawTurns, compat.DefaultTail)
}
func (r *reducerRow) summaryChars() int { return orDefault(r.Options.SummaryMaxChars, 1400) }
func (r *reducerRow) masking() bool     { return orDefault(r.Options.ObservationMasking, true) }
func (r *reducerRow) off() bool         { return !r.Options.Enabled || r.Options.MaxInputChars <= 0 }

func sizeOf(msgs []reducerMessage) int {
	n := 0
	for _, m := range msgs {
		n += units(m.Content)
	}
	return n
}

// message returns m in the form of the conversation. A result without a tool becomes a
// result that can't be edited: it is part of a pair, but not an observation.
func (m reducerMessage) message() message.Message {
	switch {
	case m.PairID != "" && m.PairRole == "call":
		out := message.Assistant(m.Content, message.Call(m.PairID, "tool", "{}"))
		out.Role = m.Role
		return out
	case m.PairRole == "result" && m.Role == message.RoleTool:
		return message.ToolResult(m.PairID, m.Content)
	case m.PairRole == "result":
		return message.Message{Role: m.Role, Parts: []message.Part{{Kind: message.KindToolResult, CallID: m.PairID, Text: m.Content, Sealed: true}}}
	}
	return message.Message{Role: m.Role, Parts: []message.Part{{Kind: message.KindText, Text: m.Content}}}
}

// reduced is the output of our pipeline for a row.
type reduced struct {
	Messages     []reducerMessage
	Source       []int // source of each message, -1 = the summary
	Stage        string
	Status       string
	Masked       int
	Chars        int
	Gone         int
	Over         *policy.BudgetError // set if the history came back unchanged
	Refused      bool                // the options were refused
	Discarded    error
	conversation *reduce.Conversation
}

var systemPins = policy.Pins{message.RoleSystem}

// reduceRow runs the stages of the preset "history-reducer" over a row.
func reduceRow(t *testing.T, r *reducerRow) reduced {
	t.Helper()
	if r.keep() < 1 {
		return reduced{Refused: true, Messages: r.Messages}
	}
	conv := reduce.NewConversation(r.history(), systemPins, nil)
	b := policy.Budget{Max: r.Options.MaxInputChars, Cap: r.Options.MaxInputChars}.CapOnly()
	if r.off() || sizeOf(r.Messages) < b.Trigger {
		return report(r, conv, nil)
	}
	steps := []reduce.Step{
		{Goal: policy.ToBudget, Stage: policy.Mask{Recent: compat.Tail(r.keep()), CostAsChars: true, BareBlocks: true}},
		{Goal: policy.ToBudget, Stage: compat.LocalSummary{
			Messages: r.keep(), MaxChars: r.summaryChars(), Tags: func(_ *policy.View, i int) []string { return r.Messages[i].Tags },
		}},
		{Goal: policy.ToBudget, Stage: compat.Fallback{Messages: r.keep()}},
		{Goal: policy.ToBudget, Stage: policy.Squeeze{}},
	}
	if !r.masking() {
		steps = steps[1:]
	}
	e := &reduce.Engine{Steps: steps, Pins: systemPins, Cost: token.NewCharsEstimator(), Dispatch: []string{"*"}}
	out, err := e.Run(context.Background(), reduce.Request{Conversation: conv, Budget: b})
	var over *policy.BudgetError
	if errors.As(err, &over) {
		got := report(r, conv, nil)
		got.Over = over
		return got
	} else if err != nil {
		t.Fatal(err)
	}
	return report(r, out.Conversation, out.Passes)
}

func report(r *reducerRow, c *reduce.Conversation, passes []reduce.Pass) reduced {
	out := reduced{Status: "ok", conversation: c}
	for i, m := range c.Messages() {
		src := c.Source(i)
		out.Source = append(out.Source, src)
		if src < 0 {
			out.Messages = append(out.Messages, reducerMessage{Role: m.Role, Content: m.Text()})
			continue
		}
		was := r.Messages[src]
		was.Content = m.Text() + m.ResultText()
		out.Messages = append(out.Messages, was)
		if was.Content != r.Messages[src].Content {
			out.Masked++
			out.Chars += units(r.Messages[src].Content) - units(was.Content)
		}
		out.Gone--
	}
	out.Gone += len(r.Messages)
	for _, p := range passes {
		if p.Err != nil {
			out.Discarded = p.Err
		}
		if p.Applied == 0 {
			continue
		}
		switch p.Stage {
		case "mask":
			out.Stage = "masking"
		case "local":
			out.Stage = "summarization"
		case "fallback", "squeeze":
			out.Stage, out.Status = "fallback", "fallback"
		}
	}
	return out
}

func TestVectorHistoryReducer(t *testing.T) {
	eachSet(t, "history-reducer", func(t *testing.T, path string) {
		c := newTally(t, "history-reducer")
		for _, r := range rows[reducerRow](t, path) {
			got := reduceRow(t, &r)
			if wrong := got.unsound(t, &r); wrong != "" {
				t.Errorf("%s: %s", r.ID, wrong)
			}
			diff, counts := got.differ(&r)
			c.judge(r.ID, diff, counts, reducerDeviations(&r, &got))
		}
		c.print()
	})
}

// differ compares everything that both systems report: the messages, and the
// texts and counts about them.
func (g *reduced) differ(r *reducerRow) (messages, counts string) {
	if g.Refused || g.Over != nil {
		return fmt.Sprintf("refused %v, insufficient budget %v", g.Refused, g.Over), ""
	}
	plain := cmp.Transformer("plain", func(m reducerMessage) string {
		return fmt.Sprintf("%s %s %s: %s", m.Role, m.PairRole, m.PairID, m.Content)
	})
	e := &r.Result
	type words struct {
		Reduced             bool
		Stage, Status       string
		Masked, Chars, Gone int
	}
	stage := e.ReductionStage
	if !e.Reduced && g.Stage == "" { // the reference names the last stage that it reached, this program the last stage that changed a message
		stage = ""
	}
	return cmp.Diff(e.Messages, g.Messages, plain), cmp.Diff(
		words{e.Reduced, stage, e.InvariantStatus, e.MaskedCount, e.MaskedChars, e.DroppedCount},
		words{g.Stage != "", g.Stage, g.Status, g.Masked, g.Chars, g.Gone})
}

// unsound checks our outcome of a row against the requirements for every row.
func (g *reduced) unsound(t *testing.T, r *reducerRow) string {
	switch {
	case g.Refused:
		return ""
	case g.Discarded != nil:
		return g.Discarded.Error()
	case g.Over == nil && !r.off() && sizeOf(g.Messages) > r.Options.MaxInputChars:
		return fmt.Sprintf("%d units, the budget is %d", sizeOf(g.Messages), r.Options.MaxInputChars)
	}
	if wrong := g.misplaced(r); wrong != "" {
		return wrong
	}
	for i, src := range g.Source {
		if src < 0 {
			continue
		}
		if was, is := r.Messages[src].Content, g.Messages[i].Content; was != is {
			if wrong := masked(t, r.Messages[src], was, is); wrong != "" {
				return wrong
			}
		}
	}
	if a, b := oneSided(g.Messages), oneSided(r.Messages); !subset(a, b) {
		return fmt.Sprintf("orphans %v, the history had %v", a, b)
	}
	return ""
}

// masked describes the mistake in an edited text; "" = none.
func masked(t *testing.T, m reducerMessage, was, is string) string {
	t.Helper()
	switch {
	case m.Role != message.RoleTool || m.PairRole != "result":
		return fmt.Sprintf("%q was edited, and is no observation", was)
	case strings.Contains(is, "[truncated: kept "): // squeeze
		return ""
	case observation(t, is) != is:
		return fmt.Sprintf("%q is masked again", is)
	}
	return wholeOrUntouched(was, is)
}

// misplaced describes a mistake in the order or in the required messages; "" = none. The
// order is: rounds with a system message in their order, the summary, then the other
// messages in their order.
func (g *reduced) misplaced(r *reducerRow) string {
	pinned, anchor := make([]bool, len(r.Messages)), message.Anchor(r.history())
	for _, span := range message.Rounds(r.history()) {
		held := slices.ContainsFunc(r.Messages[span.Start:span.End], isSystem)
		for i := span.Start; i < span.End; i++ {
			pinned[i] = held && !(span.Start <= anchor && anchor < span.End)
		}
	}
	last := map[bool]int{true: -1, false: -1}
	summary := -1
	for i, src := range g.Source {
		switch {
		case src < 0 && summary >= 0:
			return "there are two summaries"
		case src < 0:
			summary = i
		case src < last[pinned[src]]:
			return fmt.Sprintf("message %d changed its place", src)
		case src == anchor && summary < 0 && slices.Contains(g.Source, -1):
			return "the last user message stands before the summary"
		default:
			last[pinned[src]] = src
		}
	}
	for i, m := range r.Messages {
		if (isSystem(m) || i == anchor) && !slices.Contains(g.Source, i) {
			return fmt.Sprintf("message %d is gone", i)
		}
	}
	return ""
}

// oneSided returns the calls without a later result, and the results without an
// earlier call.
func oneSided(msgs []reducerMessage) map[string]bool {
	waiting, out := map[string]int{}, map[string]bool{}
	for _, m := range msgs {
		switch {
		case m.PairID == "":
		case m.PairRole == "call":
			waiting[m.PairID]++
		case m.PairRole == "result" && waiting[m.PairID] == 0:
			out["result "+m.PairID] = true
		case m.PairRole == "result":
			waiting[m.PairID]--
		}
	}
	for id, n := range waiting {
		if n > 0 {
			out["call "+id] = true
		}
	}
	return out
}

func subset(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}
