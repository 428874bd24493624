package policy_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/token"
)

// wireMessage is a message as the gateway has it.
type wireMessage struct {
	Role       message.Role
	Content    *string
	ToolCalls  []wireCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type wireCall struct {
	ID       string
	Type     string
	Function struct{ Name, Arguments string }
}

func (m wireMessage) text() string { return orDefault(m.Content, "") }

// emptyCalls reports whether m has a list of calls with nothing in it.
func (m wireMessage) emptyCalls() bool { return m.ToolCalls != nil && len(m.ToolCalls) == 0 }

func (m wireMessage) message() message.Message {
	switch m.Role {
	case message.RoleTool:
		return message.ToolResult(m.ToolCallID, m.text())
	case message.RoleAssistant:
		calls := make([]message.Part, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = message.Call(c.ID, c.Function.Name, c.Function.Arguments)
		}
		return message.Assistant(m.text(), calls...)
	}
	out := message.User(m.text())
	out.Role = m.Role // the source has a role "steering", too
	return out
}

func history(msgs []wireMessage) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		out[i] = m.message()
	}
	return out
}

// lines writes messages so that they can be compared.
func lines(msgs []message.Message) []string {
	out := make([]string, len(msgs))
	for i, m := range msgs {
		out[i] = string(m.Role) + ":"
		for _, p := range m.Parts {
			if p.Kind == message.KindToolCall || p.Kind == message.KindToolResult {
				out[i] += fmt.Sprintf(" <%s %s%s>", p.CallID, p.Name, p.Args)
			}
			out[i] += p.Text
		}
	}
	return out
}

var gateway = token.NewGatewayEstimator()

func estimate(s string) int { return gateway.Text(s) }

// cheaper is when an edit of ours may be: fewer tokens, and no more characters.
func cheaper(is, was string) bool {
	return estimate(is) < estimate(was) && utf8.RuneCountInString(is) <= utf8.RuneCountInString(was)
}

func at(i int) policy.Boundary { return func(*policy.View) int { return i } }

// stage runs one stage of the gateway. The error is a *policy.BudgetError.
func stage(t *testing.T, s policy.Stage, msgs []message.Message, cap int) (*policy.Outcome, error) {
	t.Helper()
	e := &policy.Engine{Steps: []policy.Step{{Stage: s, Goal: policy.ToBudget}}, Pins: systemPins, Cost: gateway}
	if _, drop := s.(policy.Groups); !drop {
		e.Steps[0].Goal = policy.All
	}
	b := policy.Budget{Max: cap, Cap: cap}.CapOnly()
	out, err := e.Run(context.Background(), policy.Request{Conversation: policy.NewConversation(msgs, systemPins, nil), Budget: b})
	if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			t.Errorf("%v", p.Err)
		}
	}
	return out, err
}

const unbounded = 1 << 40

// cutOf returns how large the result was of which a text is a truncation.
func cutOf(text string) (limit, original int, ok bool) {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	within := func(n, limit int) bool { return limit-3 <= n && n <= limit }
	if m := cutHead.FindStringSubmatch(text); m != nil && within(len(text)-len(m[0]), 4*number(m[1])) {
		return number(m[1]), number(m[2]), number(m[2]) > number(m[1])
	}
	if m := cutTail.FindStringSubmatch(text); m != nil && within(len(text)-len(m[0]), 4*number(m[1])) {
		return number(m[1]), number(m[2]), number(m[2]) > number(m[1])
	}
	for _, m := range cutBoth.FindAllStringSubmatchIndex(text, -1) {
		limit, original = number(text[m[2]:m[3]]), number(text[m[4]:m[5]])
		if within(m[0], 2*limit) && within(len(text)-m[1], 2*limit) && original > limit {
			return limit, original, true
		}
	}
	return 0, 0, false
}

var (
	cutHead = regexp.MustCompile(`\n\n\[truncated: kept first ~(\d+) of ~(\d+) tokens \(head\)\]$`)
	cutTail = regexp.MustCompile(`^\[truncated: kept last ~(\d+) of ~(\d+) tokens \(tail\)\]\n\n`)
	cutBoth = regexp.MustCompile(`\n\n\[truncated: kept first\+last ~(\d+) of ~(\d+) tokens \(both\)\]\n\n`)
)

type truncateRow struct {
	ID      string
	Input   struct{ Content string }
	Options struct {
		MaxTokens int `json:"max_tokens"`
		Strategy  string
	}
	Expected struct {
		Output       string
		InputTokens  int `json:"input_tokens"`
		OutputTokens int `json:"output_tokens"`
	}
}

func TestVectorTruncate(t *testing.T) {
	eachSet(t, "duragent-truncate", func(t *testing.T, path string) {
		c := newTally(t, "truncate_tool_result")
		for _, r := range rows[truncateRow](t, path) {
			in, limit, want := r.Input.Content, r.Options.MaxTokens, r.Expected.Output
			got, diff := in, "refused"
			if limit > 0 {
				got = apply(t, gateway, policy.Truncate{
					MaxTokens: limit, Keep: r.Options.Strategy, MarkerOnTop: true, NoShare: true, BytesPerToken: 4,
				}, in)
				diff = differ(want, got)
			}
			counts := differ(fmt.Sprint(r.Expected.InputTokens, r.Expected.OutputTokens), fmt.Sprint(estimate(in), estimate(got)))
			c.judge(r.ID, diff, counts, truncateDeviations(in, want, got, limit))
		}
		c.print()
	})
}

// truncateDeviations are the predicates over one truncated text.
func truncateDeviations(in, want, got string, limit int) (d deviations) {
	unchanged := func() string { return differ(in, got) }
	d.add(limit < 1, "limit_zero", nothing) // refused at load
	if want == in {
		return d
	}
	d.add(isMark(in), "truncates_placeholder", unchanged)
	larger := estimate(want) > estimate(in) || utf8.RuneCountInString(want) > utf8.RuneCountInString(in)
	d.add(larger, "grew", unchanged)
	d.add(!larger && estimate(want) == estimate(in), "no_saving", unchanged)
	kept, original, ok := cutOf(in)
	d.add(ok && (kept <= limit || original != estimate(in)), "truncated_twice", func() string {
		limit, of, ok := cutOf(got)
		switch {
		case kept <= limit || got == in:
			return differ(in, got)
		case !ok || of != original || !cheaper(got, in):
			return fmt.Sprintf("%q does not say that it is of %d tokens, or saves nothing", got, original)
		}
		return ""
	})
	return d
}

type maskRow struct {
	ID      string
	Input   struct{ Messages []wireMessage }
	Options struct {
		End   int `json:"conversation_end_idx"`
		First int `json:"keep_first"`
		Last  int `json:"keep_last"`
	}
	Expected struct {
		Messages []wireMessage
		After    int `json:"tokens_after"`
		Before   int `json:"tokens_before"`
	}
}

func TestVectorMask(t *testing.T) {
	eachSet(t, "duragent-mask", func(t *testing.T, path string) {
		c := newTally(t, "mask_tool_results")
		for _, r := range rows[maskRow](t, path) {
			in := history(r.Input.Messages)
			out, err := stage(t, policy.Mask{Since: at(r.Options.End), KeepFirst: r.Options.First, KeepLast: r.Options.Last, Form: policy.FormResult}, in, unbounded)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(out.Conversation.Messages())
			counts := differ(fmt.Sprint(r.Expected.Before, r.Expected.After), fmt.Sprint(gateway.Messages(in), out.View.Total()))
			c.judge(r.ID, cmp.Diff(lines(history(r.Expected.Messages)), got), counts, maskResultDeviations(&r, got))
		}
		c.print()
	})
}

// maskResultDeviations are the predicates over the results that were masked.
// All others must be as expected, also in these rows.
func maskResultDeviations(r *maskRow, got []string) (d deviations) {
	found := map[string]bool{}
	required := history(r.Expected.Messages)
	open := message.Open(message.Rounds(history(r.Input.Messages)))
	for i, m := range r.Input.Messages {
		was, is := m.text(), r.Expected.Messages[i].text()
		if was == is {
			continue
		}
		names, mark := resultMaskDeviations(m.message(), is, i >= open)
		if len(names) > 0 {
			required[i] = message.ToolResult(m.ToolCallID, mark)
		}
		for _, name := range names {
			found[name] = true
		}
	}
	check := func() string { return cmp.Diff(lines(required), got) }
	for _, name := range []string{"remasked", "grew", "no_saving", "size_of_the_cut", "open_round"} {
		d.add(found[name], name, check)
	}
	return d
}

// resultMaskDeviations are the predicates over one masked result, with what
// must stand there instead.
func resultMaskDeviations(m message.Message, is string, open bool) (names []string, required string) {
	was := m.ResultText()
	required = was
	add := func(match bool, name string) {
		if match {
			names = append(names, name)
		}
	}
	larger := estimate(is) > estimate(was) || utf8.RuneCountInString(is) > utf8.RuneCountInString(was)
	add(isMark(was), "remasked")
	add(larger && len(names) == 0, "grew")
	add(!larger && len(names) == 0 && estimate(is) == estimate(was), "no_saving")
	add(open, "open_round")
	if _, original, ok := cutOf(was); ok && original != estimate(was) {
		mark := fmt.Sprintf("[result masked — ~%d tokens removed]", gateway.Message(m)-estimate(was)+original)
		if len(names) == 0 && cheaper(mark, was) {
			required = mark
		}
		add(true, "size_of_the_cut")
	}
	return names, required
}

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
			out, err := stage(t, policy.Groups{Since: at(r.Options.End)}, history(r.Input.Messages), r.Options.Budget)
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

func dropDeviations(r *dropRow, out *policy.Outcome, diff string) (d deviations) {
	in, want := r.Input.Messages, r.Expected.Messages
	gone := missing(in, want)
	anchor, open := message.Anchor(history(in)), message.Open(message.Rounds(history(in)))
	sound := func() string { return soundDrop(history(in), out) }
	d.add(slices.Contains(gone, anchor), "anchor_lost", sound)
	d.add(slices.ContainsFunc(gone, func(i int) bool { return i >= open }), "open_round", sound)
	// A list of calls with nothing in it is none: with and without it the same
	// message must have the same fate.
	d.add(slices.ContainsFunc(gone, func(i int) bool { return in[i].emptyCalls() || i == lastCall(in) }), "empty_call_list", sound)
	d.add(!subset(unpaired(history(want)), unpaired(history(in))), "orphan_left", sound)
	others := len(d) > 0
	// The last group is never given up; what comes out is no error of the
	// stage's, but of the budget.
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

// missing returns the messages of in that are not in out, which is in without
// some.
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

// unpaired returns the calls without a result behind them and the results
// without a call before them.
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

// soundDrop: what is left is the history without whole rounds, in order, with
// the last user message and the last round.
func soundDrop(in []message.Message, out *policy.Outcome) string {
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
