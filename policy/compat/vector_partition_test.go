package compat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

type plainMessage struct {
	Role    message.Role
	Content string
	Meta    struct {
		Calls     []string `json:"call_ids"`
		Answers   string   `json:"tool_call_id"`
		Protected any
	}
}

func (m plainMessage) message() message.Message {
	var out message.Message
	switch {
	case m.Role == message.RoleTool:
		out = message.ToolResult(m.Meta.Answers, m.Content)
	default:
		var calls []message.Part
		for _, id := range m.Meta.Calls {
			calls = append(calls, message.Call(id, "tool", "{}"))
		}
		out = message.Assistant(m.Content, calls...)
		out.Role = m.Role
	}
	out.Protected = m.Meta.Protected == true
	return out
}

type partitionRow struct {
	ID    string
	Fn    string
	Input struct {
		Messages  []plainMessage
		Tokens    int `json:"tokens_estimated"`
		Max       int `json:"max_context_tokens"`
		Pinned    int `json:"pinned_tokens"`
		Recent    int `json:"recent_tokens"`
		ToolIO    int `json:"tool_io_tokens"`
		KeepTurns int `json:"keep_recent_turns"`
		KeepPairs int `json:"keep_tool_io_pairs"`
		Each      int `json:"tokens_per_message"`
		Summary   *string
	}
	Options struct {
		TriggerPct json.Number    `json:"trigger_pct"`
		Buffer     int            `json:"hard_cap_buffer"`
		Turns      int            `json:"keep_recent_turns"`
		Pairs      int            `json:"keep_tool_io_pairs"`
		Roles      []message.Role `json:"roles_never_prune"`
	}
	Expected json.RawMessage
	Order    []int `json:"compacted_order_without_summary"`
}

func (r *partitionRow) history() []message.Message {
	out := make([]message.Message, len(r.Input.Messages))
	for i, m := range r.Input.Messages {
		out[i] = m.message()
	}
	return out
}

func (r *partitionRow) keep() policy.Keep {
	return policy.Keep{Turns: r.Options.Turns, Pairs: r.Options.Pairs}
}

func TestVectorPartition(t *testing.T) {
	judges := map[string]func(*testing.T, *tally, *partitionRow){
		"partition":                judgePartition,
		"check_trigger":            judgeTrigger,
		"check_budget_feasibility": judgeFeasible,
		"reduce_keep_counts":       judgeReduce,
		"manual_compact":           judgeManual,
	}
	eachSet(t, "partition", func(t *testing.T, path string) {
		tallies := map[string]*tally{}
		for _, r := range rows[partitionRow](t, path) {
			judge := judges[r.Fn]
			if judge == nil {
				t.Fatalf("%s: no function %q", r.ID, r.Fn)
			}
			if tallies[r.Fn] == nil {
				tallies[r.Fn] = newTally(t, r.Fn)
			}
			judge(t, tallies[r.Fn], &r)
		}
		for _, fn := range slices.Sorted(maps.Keys(tallies)) {
			tallies[fn].print()
		}
	})
}

type parts struct{ Pinned, Recent, Remainder []int }

func judgePartition(t *testing.T, c *tally, r *partitionRow) {
	var want struct {
		Pinned, Recent, Remainder []int
		ToolIO                    []int `json:"tool_io"`
	}
	decode(t, r.Expected, &want)
	kept := append(slices.Clone(want.Recent), want.ToolIO...)
	slices.Sort(kept)
	v := policy.NewView(r.history(), policy.Pins(r.Options.Roles), words{})
	p := v.Partition(r.keep())
	diff := cmp.Diff(parts{sorted(want.Pinned), kept, sorted(want.Remainder)}, parts{sorted(p.Pinned), sorted(p.Recent), sorted(p.Remainder)})
	order := cmp.Diff(r.Order, without(t, r, p))
	c.judge(r.ID, diff, order, partitionDeviations(r, v, parts{want.Pinned, want.Recent, want.Remainder}, want.ToolIO, p))
}

func sorted(at []int) []int {
	out := append([]int{}, at...)
	slices.Sort(out)
	return out
}

// without returns the order of the messages after the remainder is removed.
func without(t *testing.T, r *partitionRow, p policy.Partition) []int {
	t.Helper()
	c := reduce.NewConversation(r.history(), policy.Pins(r.Options.Roles), nil)
	c, err := c.Apply([]policy.Edit{{Decision: policy.Summarized, Cut: &policy.Cut{Removed: p.Remainder, Recent: p.Start}}})
	if err != nil {
		t.Fatal(err)
	}
	out := []int{}
	for i := range c.Len() {
		out = append(out, c.Source(i))
	}
	return out
}

// partitionDeviations returns the predicates for the lists in which the source puts messages.
func partitionDeviations(r *partitionRow, v *policy.View, want parts, toolIO []int, got policy.Partition) (d deviations) {
	n := len(r.Input.Messages)
	kept := map[int]bool{}
	for _, i := range slices.Concat(want.Pinned, want.Recent, toolIO) {
		kept[i] = true
	}
	all := len(kept)
	for _, i := range want.Remainder {
		if !kept[i] {
			all++
		}
	}
	sound := func() string { return soundPartition(r, v, got) }
	d.add(all < n, "equal_by_value_lost", sound)
	pinned := func(i int) bool { return v.Pinned[i] }
	d.add(slices.ContainsFunc(v.Rounds, func(s message.Round) bool {
		in, fixed := 0, 0
		for i := s.Start; i < s.End; i++ {
			if kept[i] {
				in++
			}
			if pinned(i) {
				fixed++
			}
		}
		return in > 0 && in < s.Len() || fixed > 0 && fixed < s.Len()
	}), "round_split", sound)
	d.add(countsMessages(r, v, want.Recent, toolIO), "messages_counted_as_turns", sound)
	results := []int{}
	for i, m := range r.Input.Messages {
		if m.Role == message.RoleTool && !pinned(i) {
			results = append(results, i)
		}
	}
	counted := slices.Concat(results[max(len(results)-r.Options.Pairs, 0):], recentTurns(v, r.Options.Turns))
	d.add(slices.ContainsFunc(toolIO, func(i int) bool { return !slices.Contains(counted, i) }), "pairs_counted_outside_recent", sound)
	d.add(v.Anchor >= 0 && !kept[v.Anchor], "anchor_lost", sound)
	d.addCounts(!slices.IsSorted(r.Order), "not_chronological")
	return d
}

// countsMessages reports whether the recent messages are fewer than the messages of the
// last turns, or more than the messages of the last turns and the last pairs together
// with the last user message.
func countsMessages(r *partitionRow, v *policy.View, recent, toolIO []int) bool {
	turns := recentTurns(v, r.Options.Turns)
	for _, i := range turns {
		if !slices.Contains(recent, i) && !slices.Contains(toolIO, i) {
			return true
		}
	}
	kept := map[int]bool{}
	if v.Anchor >= 0 {
		kept[v.RoundOf(v.Anchor)] = true
	}
	pairs := r.Options.Pairs
	for k := len(v.Rounds) - 1; k >= 0 && pairs > 0; k-- {
		kept[k] = kept[k] || v.Rounds[k].Pairs > 0
		pairs -= v.Rounds[k].Pairs
	}
	return slices.ContainsFunc(recent, func(i int) bool { return !slices.Contains(turns, i) && !kept[v.RoundOf(i)] })
}

// recentTurns returns the unpinned messages of the last turns and the messages after the
// last turn.
func recentTurns(v *policy.View, turns int) []int {
	first := 0
	if len(v.Turns) > turns {
		first = v.Rounds[v.Turns[len(v.Turns)-turns].First].Start
	}
	out := []int{}
	for i := first; i < len(v.Messages); i++ {
		if !v.Pinned[i] {
			out = append(out, i)
		}
	}
	return out
}

// soundPartition checks that every message is in one list, that rounds are whole,
// and that the last turns, the last pairs, the open round and the last user
// message are kept.
func soundPartition(r *partitionRow, v *policy.View, p policy.Partition) string {
	where := make([]string, len(v.Messages))
	for name, list := range map[string][]int{"pinned": p.Pinned, "recent": p.Recent, "remainder": p.Remainder} {
		for _, i := range list {
			if where[i] != "" {
				return fmt.Sprintf("message %d is %s and %s", i, where[i], name)
			}
			where[i] = name
		}
	}
	for i := range where {
		switch {
		case where[i] == "":
			return fmt.Sprintf("message %d is nowhere", i)
		case v.Pinned[i] && where[i] != "pinned":
			return fmt.Sprintf("message %d is protected, and %s", i, where[i])
		case where[i] == "remainder" && (i >= v.Open || i == v.Anchor || slices.Contains(recentTurns(v, r.Options.Turns), i)):
			return fmt.Sprintf("message %d may not go", i)
		}
	}
	pairs := 0
	for k := len(v.Rounds) - 1; k >= 0; k-- {
		s := v.Rounds[k]
		for i := s.Start; i < s.End; i++ {
			if where[i] != where[s.Start] {
				return fmt.Sprintf("round [%d, %d) is split", s.Start, s.End)
			}
		}
		if s.Pairs > 0 && pairs < r.Options.Pairs && where[s.Start] == "remainder" {
			return fmt.Sprintf("pair at %d may not go", s.Start)
		}
		pairs += s.Pairs
	}
	return ""
}

func (r *partitionRow) trigger(t *testing.T) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(string(r.Options.TriggerPct), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (r *partitionRow) budget(t *testing.T) (policy.Budget, error) {
	t.Helper()
	pct := r.trigger(t)
	return policy.Config{HardCapBuffer: r.Options.Buffer, TriggerPct: pct, TargetPct: pct / 2}.Budget(r.Input.Max, 0)
}

// refused adds the predicate for settings without room for a budget.
func (d *deviations) refused(r *partitionRow, pct float64, err error) bool {
	match := r.Input.Max <= r.Options.Buffer || pct <= 0 || pct > 1
	d.add(match, "budget_not_positive", func() string {
		if !errors.As(err, new(*policy.ConfigError)) {
			return "must be refused"
		}
		return ""
	})
	return match
}

func judgeTrigger(t *testing.T, c *tally, r *partitionRow) {
	var want bool
	decode(t, r.Expected, &want)
	b, err := r.budget(t)
	diff := cmp.Diff(want, r.Input.Tokens >= b.Due(0))
	if err != nil {
		diff = err.Error()
	}
	pct, _ := new(big.Rat).SetString(string(r.Options.TriggerPct))
	share := pct.Mul(pct, big.NewRat(int64(r.Input.Max), 1))
	tokens := big.NewRat(int64(r.Input.Tokens), 1)
	due := tokens.Cmp(share) >= 0 || r.Input.Tokens >= r.Input.Max-r.Options.Buffer
	var d deviations
	refused := d.refused(r, r.trigger(t), err)
	d.add(!refused && want != due, "divides_by_window_less_buffer", nothing)
	c.judge(r.ID, diff, "", d)
}

func judgeFeasible(t *testing.T, c *tally, r *partitionRow) {
	var want bool
	decode(t, r.Expected, &want)
	b, err := r.budget(t)
	sum := r.Input.Pinned + r.Input.Recent + r.Input.ToolIO
	diff := cmp.Diff(want, sum <= b.Cap)
	if err != nil {
		diff = err.Error()
	}
	var d deviations
	refused := d.refused(r, r.trigger(t), err)
	d.add(!refused && want != (sum <= r.Input.Max-r.Options.Buffer), "reserves_2048", nothing)
	c.judge(r.ID, diff, "", d)
}

// judgeReduce checks one decrement: turns first, then pairs.
func judgeReduce(t *testing.T, c *tally, r *partitionRow) {
	var want struct {
		Turns int `json:"keep_recent_turns"`
		Pairs int `json:"keep_tool_io_pairs"`
	}
	decode(t, r.Expected, &want)
	start := policy.Keep{Turns: r.Input.KeepTurns, Pairs: r.Input.KeepPairs}
	// The history has pairs first, and then enough turns without pairs. Each count keeps
	// rounds that the other count does not keep, so a decrement of either count frees a
	// round.
	msgs := loop(start.Pairs, 10)
	for i := range start.Turns {
		msgs = append(msgs, message.User("ask"), message.Assistant(fmt.Sprintf("answer %d: %s", i, text(8))))
	}
	v := policy.NewView(msgs, pins, words{})
	v.Keep = start
	v.Budget.Cap = v.Total() - 1
	for _, i := range v.Partition(start).Remainder {
		v.Budget.Cap -= v.Tokens[i]
	}
	got := v.Shrink(0)
	var d deviations
	d.add(want.Turns < start.Turns && want.Pairs < start.Pairs, "both_at_once", func() string {
		return cmp.Diff(policy.Keep{Turns: start.Turns - 1, Pairs: start.Pairs}, got)
	})
	c.judge(r.ID, cmp.Diff(policy.Keep{Turns: want.Turns, Pairs: want.Pairs}, got), "", d)
}
