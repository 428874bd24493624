package compat_test

import (
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
)

// flatCounter counts the same cost for every message.
type flatCounter int

func (flatCounter) Text(string) int               { return 1 }
func (f flatCounter) Message(message.Message) int { return int(f) }

// cutWith is a stage that replaces the remainder by a message.
type cutWith struct{ m message.Message }

func (cutWith) Name() string { return "summarize" }

func (s cutWith) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	p := v.Partition(v.Shrink(v.Cost.Message(s.m)))
	if len(p.Remainder) == 0 {
		return policy.Proposal{}, nil
	}
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Summarized, Cut: &policy.Cut{
		Removed: p.Remainder, Recent: p.Start, New: &s.m, Summary: &policy.SummaryInfo{Text: s.m.Text(), Version: 1},
	}}}}}, nil
}

const newMessage = -1 // in a list of messages: the summary, or the notice

type manualWant struct {
	Insufficient bool
	Output       []int
	Summarized   []int
}

func (w *manualWant) UnmarshalJSON(raw []byte) error {
	var row struct {
		Output     []any
		Summarized []int
	}
	if string(raw) == `"InsufficientBudget"` {
		w.Insufficient = true
		return nil
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return err
	}
	w.Output, w.Summarized = []int{}, row.Summarized
	for _, x := range row.Output {
		if i, ok := x.(float64); ok {
			w.Output = append(w.Output, int(i))
		} else {
			w.Output = append(w.Output, newMessage)
		}
	}
	return nil
}

// judgeManual checks a manual compaction with summarize and shrink.
func judgeManual(t *testing.T, c *tally, r *partitionRow) {
	var want manualWant
	decode(t, r.Expected, &want)
	b, err := r.budget(t)
	if err != nil {
		var d deviations
		d.refused(r, r.trigger(t), err)
		c.judge(r.ID, err.Error(), "", d)
		return
	}
	m := policy.NewNotice(len(r.Input.Messages))
	if r.Input.Summary != nil {
		m = policy.NewSummary(1, *r.Input.Summary)
	}
	e := &reduce.Engine{
		Pins: policy.Pins(r.Options.Roles), Keep: r.keep(), Cost: flatCounter(r.Input.Each),
		Steps: []reduce.Step{{Stage: cutWith{m}, Manual: true}},
	}
	q := reduce.Request{Conversation: reduce.NewConversation(r.history(), e.Pins, nil), Budget: b, Manual: true}
	out, err := e.Run(context.Background(), q)
	if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	got := []int{}
	for i := range out.Conversation.Len() {
		got = append(got, out.Conversation.Source(i))
	}
	diff := ""
	switch {
	case want.Insufficient != (err != nil):
		diff = fmt.Sprintf("insufficient budget %v, got %v", want.Insufficient, err)
	case !want.Insufficient:
		diff = cmp.Diff(want.Output, got)
	}
	c.judge(r.ID, diff, "", manualDeviations(r, &want, e.View(q.Conversation, q), got, err))
}

// manualDeviations returns the predicates for the messages of the source. v is the
// history.
func manualDeviations(r *partitionRow, want *manualWant, v *policy.View, got []int, err error) (d deviations) {
	sound := func() string { return soundManual(r, v, got, err) }
	d.add(want.Insufficient != (smallest(v)*r.Input.Each > v.Budget.Cap), "reserves_2048", sound)
	if want.Insufficient || len(v.Messages) == 0 {
		return d
	}
	gone := func(i int) bool { return !slices.Contains(want.Output, i) }
	told := slices.Contains(want.Output, newMessage)
	removed, lost := 0, 0
	for i := range v.Messages {
		if gone(i) {
			removed++
			if !slices.Contains(want.Summarized, i) {
				lost++
			}
		}
	}
	d.add(slices.ContainsFunc(v.Rounds, func(s message.Round) bool {
		n := 0
		for i := s.Start; i < s.End; i++ {
			if gone(i) {
				n++
			}
		}
		return n > 0 && n < s.Len()
	}), "round_split", sound)
	d.add(v.Anchor >= 0 && gone(v.Anchor), "anchor_lost", sound)
	d.add(told && lost > 0, "neither_kept_nor_summarized", sound)
	d.add(!told && removed > 0, "gone_without_a_word", sound)
	kept := slices.DeleteFunc(slices.Clone(want.Output), func(i int) bool { return i < 0 })
	d.add(!slices.Equal(kept, inOrder(v, kept, removed > 0, r.Input.Each)), "not_chronological", sound)
	if len(d) > 0 {
		return d
	}
	// The same keep counts, but of other units.
	k := v.Shrink(r.Input.Each)
	d.add(!slices.Equal(sorted(v.Partition(k).Remainder), sorted(want.Summarized)), "messages_counted_as_turns", sound)
	return d
}

// smallest returns the number of messages at keep counts 1 and 1, including the
// message that replaces the others.
func smallest(v *policy.View) int {
	gone := len(v.Partition(policy.Keep{Turns: 1, Pairs: 1}).Remainder)
	return len(v.Messages) - gone + min(gone, 1)
}

// inOrder returns messages in the order of a view. This is the order of the history, but if
// messages were removed, the pinned rounds before the recent span come first.
func inOrder(v *policy.View, kept []int, cut bool, each int) []int {
	out := sorted(kept)
	if !cut {
		return out
	}
	p := v.Partition(v.Shrink(each))
	front := func(i int) bool { return i < p.Start && slices.Contains(p.Pinned, i) && v.RoundOf(i) != anchorRound(v) }
	slices.SortStableFunc(out, func(a, b int) int {
		switch {
		case front(a) == front(b):
			return a - b
		case front(a):
			return -1
		}
		return 1
	})
	return out
}

func anchorRound(v *policy.View) int {
	if v.Anchor < 0 {
		return -1
	}
	return v.RoundOf(v.Anchor)
}

// soundManual checks that the outcome fits, and has whole rounds in order, one message in
// place of the removed ones, and the last turn, pair and user message. An error is allowed
// only if the last turn, pair and user message alone do not fit.
func soundManual(r *partitionRow, v *policy.View, got []int, err error) string {
	least := v.Partition(policy.Keep{Turns: 1, Pairs: 1})
	floor := smallest(v) * r.Input.Each
	if err != nil {
		if floor <= v.Budget.Cap {
			return fmt.Sprintf("the smallest view costs %d of %d tokens, and yet: %v", floor, v.Budget.Cap, err)
		}
		return ""
	}
	news := 0
	for _, i := range got {
		if i < 0 {
			news++
		}
	}
	switch {
	case len(got)*r.Input.Each > v.Budget.Cap:
		return fmt.Sprintf("%d tokens, the budget is %d", len(got)*r.Input.Each, v.Budget.Cap)
	case news > 1, news == 0 && len(got) < len(v.Messages):
		return fmt.Sprintf("%d messages replace removed ones", news)
	}
	for _, s := range v.Rounds {
		n := 0
		for i := s.Start; i < s.End; i++ {
			if slices.Contains(got, i) {
				n++
			}
		}
		if n > 0 && n < s.Len() {
			return fmt.Sprintf("round [%d, %d) is split", s.Start, s.End)
		}
	}
	for i := range v.Messages {
		if !slices.Contains(least.Remainder, i) && !slices.Contains(got, i) {
			return fmt.Sprintf("message %d may not go", i)
		}
	}
	return ""
}
