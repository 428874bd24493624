package reduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// proposing is a stage that proposes one group of edits.
type proposing []policy.Edit

func (proposing) Name() string { return "proposing" }
func (p proposing) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{p}}, nil
}

// refusingAll runs a stage for a provider that refuses every view. tried has these views: the
// number of each input message, S for a summary and N with its number for a notice.
func refusingAll(t *testing.T, msgs []message.Message, pins policy.Pins, edits []policy.Edit) (tried []string, o *Outcome) {
	t.Helper()
	legal := func(view []message.Message, sources []int) error {
		var names []string
		for i, m := range view {
			name := fmt.Sprint(sources[i])
			if n, notice := policy.ParseNotice(m); sources[i] < 0 && notice {
				name = fmt.Sprint("N", n)
			} else if sources[i] < 0 {
				name = "S"
			}
			names = append(names, name)
		}
		tried = append(tried, strings.Join(names, " "))
		return errors.New("refused")
	}
	e := Engine{Steps: []Step{{Stage: proposing(edits), Goal: policy.All}}, Pins: pins, Cost: charCost{}}
	o, err := e.Run(t.Context(), Request{Conversation: NewConversation(msgs, pins, nil), Budget: policy.Budget{Max: 9000, Cap: 9000, Trigger: 9000, Target: 9000}, Legal: legal})
	if err != nil || len(o.Passes) != 1 || o.Changed() || !o.Passes[0].Discarded {
		t.Fatalf("%v, %+v", err, o.Passes)
	}
	return tried, o
}

// If the provider refuses a cut, the engine tries the other orders in which the pinned
// messages may stand, then the first instruction in front, and then the same with a notice
// if the cut has no new message. Different orders can lead to the same view.
func TestEngineTriesEachOrderOnce(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s, 400) }
	rules, none, summary := policy.Pins{message.RoleSystem}, policy.Pins(nil), policy.NewSummary(1, "Short.")
	msgs := []message.Message{
		message.System("s"), message.User(long("q")), message.Assistant(long("a")), message.System("rule"), message.Assistant(long("b")), // 0 to 4
		message.User("Now."), message.System("more"), message.Assistant(long("c")), message.Assistant("d"), // 5 to 8
	}
	rule := message.System(long("s"))
	twice := slices.Concat([]message.Message{rule}, msgs[1:4], []message.Message{rule}, msgs[4:])
	noticed := slices.Concat([]message.Message{policy.NewNotice(2)}, msgs[1:])
	talk := slices.Concat([]message.Message{message.User(long("p"))}, msgs[1:])
	kept := message.User("kept")
	kept.Protected = true
	opening := []message.Message{message.System("s"), message.System("t"), kept, message.System("rule"), message.Assistant(long("b")), message.User("Now."), message.Assistant("c")}
	cut := func(c policy.Cut) []policy.Edit { return []policy.Edit{{Decision: policy.Dropped, Cut: &c}} }
	for _, c := range []struct {
		name  string
		msgs  []message.Message
		pins  policy.Pins
		edits []policy.Edit
		want  []string
	}{
		{"a text", msgs, rules, []policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 1, Segments: []policy.Segment{{To: 9}}}}},
			[]string{"0 1 2 3 4 5 6 7 8"}},
		{"copies", twice, rules, cut(policy.Cut{Removed: []int{0}, Copies: true}),
			[]string{"1 2 3 4 5 6 7 8 9"}},
		{"a cut with a summary", msgs, rules, cut(policy.Cut{Removed: []int{1, 2}, Recent: 4, New: &summary}),
			[]string{"0 3 S 4 5 6 7 8", "0 S 3 4 5 6 7 8"}},
		{"a recent span that begins with the user", msgs, rules, cut(policy.Cut{Removed: []int{1, 2, 4}, Recent: 5, New: &summary}),
			[]string{"0 3 S 5 6 7 8", "0 S 3 5 6 7 8", "0 S 5 3 6 7 8"}},
		{"removed messages in the recent span", msgs, rules, cut(policy.Cut{Removed: []int{1, 2, 7}, Recent: 3, New: &summary}),
			[]string{"0 S 3 4 5 6 8", "0 S 4 5 3 6 8"}},
		{"the first answer of the recent span removed", msgs, rules, cut(policy.Cut{Removed: []int{1, 2, 4}, Recent: 3, New: &summary}),
			[]string{"0 S 3 5 6 7 8", "0 S 5 3 6 7 8"}},
		{"a notice in front", noticed, none, cut(policy.Cut{Removed: []int{0, 1}, Recent: 2, New: &summary}),
			[]string{"S 2 3 4 5 6 7 8"}},
		{"a cut that the stage put behind", msgs, rules, cut(policy.Cut{Removed: []int{1, 2, 4}, Recent: 5, New: &summary, Behind: true}),
			[]string{"0 S 3 5 6 7 8"}},
		{"a cut without a new message", msgs, rules, cut(policy.Cut{Removed: []int{1, 2, 4}, Recent: 5}),
			[]string{"0 3 5 6 7 8", "0 5 3 6 7 8", "0 3 N3 5 6 7 8", "0 N3 3 5 6 7 8", "0 N3 5 3 6 7 8"}},
		{"pinned messages that open the conversation", opening, rules, cut(policy.Cut{Removed: []int{4}, Recent: 5, New: &summary}),
			[]string{"0 1 2 3 S 5 6", "0 1 2 S 3 5 6", "0 1 2 S 5 3 6"}},
		{"an instruction that no role pins", msgs, none, cut(policy.Cut{Removed: []int{0, 1, 2, 3, 4}, Recent: 5, New: &summary}),
			[]string{"S 5 6 7 8", "0 S 5 6 7 8"}},
		{"the instruction alone", msgs, none, cut(policy.Cut{Removed: []int{0}, Recent: 1}),
			[]string{"1 2 3 4 5 6 7 8"}},
		{"no instruction in front", talk, none, cut(policy.Cut{Removed: []int{0, 1}, Recent: 2, New: &summary}),
			[]string{"S 2 3 4 5 6 7 8"}},
		{"an instruction that stays", msgs, none, cut(policy.Cut{Removed: []int{1, 2}, Recent: 3, New: &summary}),
			[]string{"S 0 3 4 5 6 7 8"}},
	} {
		got, o := refusingAll(t, c.msgs, c.pins, c.edits)
		if got := slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: tried\n%s, want\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		var orders []string
		for _, noticed := range []bool{false, true} {
			for _, v := range o.variants(c.edits, noticed) {
				if cut := v[0].Cut; cut != nil {
					orders = append(orders, fmt.Sprint(noticed, cut.Removed, cut.Recent, cut.Behind, cut.First))
				}
			}
		}
		if n := len(orders); len(slices.Compact(slices.Sorted(slices.Values(orders)))) != n {
			t.Errorf("%s: an order is tried twice: %v", c.name, orders)
		}
	}
}

// If another order, or a notice, breaks a promise, the engine reports the refusal of the
// provider: the edits of the stage broke none.
func TestEngineReportsTheRefusalIfOtherOrdersBreakAPromise(t *testing.T) {
	summary := policy.NewSummary(1, "Short.")
	instruction := []message.Message{message.System(strings.Repeat("s", 100)), message.User("q"), message.Assistant("a"), message.User("Now.")}
	short := []message.Message{message.User("q"), message.Assistant("a"), message.User("Now.")}
	for name, c := range map[string]struct {
		msgs []message.Message
		cut  policy.Cut
	}{
		"with the instruction, the view is larger": {instruction, policy.Cut{Removed: []int{0, 1, 2}, Recent: 3, New: &summary}},
		"the notice is larger":                     {short, policy.Cut{Removed: []int{0, 1}, Recent: 2}},
	} {
		if _, o := refusingAll(t, c.msgs, nil, []policy.Edit{{Decision: policy.Dropped, Cut: &c.cut}}); o.Passes[0].Err == nil || o.Passes[0].Err.Error() != "refused" || !o.Passes[0].illegal {
			t.Errorf("%s: %+v", name, o.Passes[0])
		}
	}
}

// If the provider refuses the view, the engine tries other numbers of groups, each once:
// alternatives that remove more, up to the last, then fewer groups. The nearest numbers
// come first, and a long list takes few tries.
func TestAroundNamesOtherNumbersOfGroups(t *testing.T) {
	for _, groups := range []int{1, 2, 5, 9, 64, 65, 66, 67, 130, 1000, 100_000} {
		for _, n := range []int{1, 2, 5, 6, 7, groups / 2, groups - 1, groups} {
			if n < 1 || n > groups {
				continue
			}
			for _, alternatives := range []bool{false, true} {
				all := around(&policy.Proposal{Groups: make([][]policy.Edit, groups), Alternatives: alternatives}, n)
				low := 1 + slices.IndexFunc(all[1:], func(k int) bool { return k < n })
				if low == 0 {
					low = len(all)
				}
				up, down := all[:low], all[low:]
				var near, below []int
				for k := n; k <= min(groups, n+64) && (alternatives || k == n); k++ {
					near = append(near, k)
				}
				for k := n - 1; k >= max(1, n-4); k-- {
					below = append(below, k)
				}
				ordered := slices.IsSorted(up) && slices.IsSortedFunc(down, func(a, b int) int { return b - a })
				if len(slices.Compact(slices.Clone(all))) != len(all) || !ordered || !slices.Equal(up[:len(near)], near) || !slices.Equal(down[:len(below)], below) {
					t.Errorf("%d of %d: %v", n, groups, all)
				}
				if last := up[len(up)-1]; (alternatives && last != groups) || (!alternatives && last != n) || slices.Min(all) != 1 || len(all) > 64+4+2*17 {
					t.Errorf("%d of %d: %d tries, the highest is %d, the lowest %d", n, groups, len(all), last, slices.Min(all))
				}
			}
		}
	}
}
