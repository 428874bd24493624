package compat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

type budgetRow struct {
	ID    string
	Fn    string
	Input struct {
		Text         string
		Message      wireMessage
		Model        string
		MaxInput     *int `json:"max_input_tokens"`
		MaxOutput    *int `json:"max_output_tokens"`
		Checkpointed int
		Pending      int
		Limit        int `json:"actor_message_limit"`
		Threshold    int `json:"checkpoint_threshold"`

		// of render_with_budget
		Messages []wireMessage
		Tools    json.RawMessage
	}
	Options struct {
		MaxInput   int `json:"max_input_tokens"`
		MaxOutput  int `json:"max_output_tokens"`
		MaxHistory int `json:"max_history_tokens"`
	}
	Expected json.RawMessage
}

// number returns the expected output if it is a number.
func (r *budgetRow) number(t *testing.T) (n int) {
	t.Helper()
	decode(t, r.Expected, &n)
	return n
}

func TestVectorBudget(t *testing.T) {
	judges := map[string]func(*testing.T, *tally, *budgetRow){
		"estimate_tokens": func(t *testing.T, c *tally, r *budgetRow) {
			c.judge(r.ID, cmp.Diff(r.number(t), estimate(r.Input.Text)), "", nil)
		},
		"estimate_message_tokens": func(t *testing.T, c *tally, r *budgetRow) {
			c.judge(r.ID, cmp.Diff(r.number(t), gateway.Message(r.Input.Message.message())), "", nil)
		},
		"actor_message_limit": func(t *testing.T, c *tally, r *budgetRow) {
			c.judge(r.ID, cmp.Diff(r.number(t), compat.MessageLimit(*r.Input.MaxInput)), "", nil)
		},
		"effective_max_input_tokens": judgeWindow,
		"loop_token_budget":          judgeLoopBudget,
		"roll_then_trim":             judgeRoll,
		"render_with_budget":         judgeRender,
	}
	eachSet(t, "duragent-budget", func(t *testing.T, path string) {
		tallies := map[string]*tally{}
		for _, r := range rows[budgetRow](t, path) {
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

// window returns the window of the model, and whether it may differ from the number of the
// source: an explicit 0 means that none was given, and our table has its own entries for
// some models.
func (r *budgetRow) window() (tokens int, zero, outdated bool) {
	if r.Input.MaxInput != nil && *r.Input.MaxInput > 0 {
		return *r.Input.MaxInput, false, false
	}
	name := strings.ToLower(r.Input.Model)
	for _, line := range []string{"gpt-4-32k", "gpt-4-0314", "gpt-4-0613", "gpt-3.5-turbo", "gpt-35-turbo"} {
		outdated = outdated || strings.Contains(name, line)
	}
	return token.ContextWindow(r.Input.Model), r.Input.MaxInput != nil, outdated
}

func judgeWindow(t *testing.T, c *tally, r *budgetRow) {
	got, zero, outdated := r.window()
	want := r.number(t)
	var d deviations
	d.add(zero, "explicit_zero", func() string {
		if got <= 0 {
			return "no window"
		}
		return ""
	})
	d.add(!zero && outdated, "window_out_of_date", func() string {
		if got >= want {
			return fmt.Sprintf("%d tokens, the source says %d", got, want)
		}
		return ""
	})
	c.judge(r.ID, cmp.Diff(want, got), "", d)
}

func judgeLoopBudget(t *testing.T, c *tally, r *budgetRow) {
	window, zero, outdated := r.window()
	want := r.number(t)
	config := policy.Config{TriggerPct: 1, TargetPct: 0.6, MarginPct: 10}
	b, err := config.Budget(window, orDefault(r.Input.MaxOutput, 4096))
	diff := cmp.Diff(want, b.Cap)
	if err != nil {
		diff = err.Error()
	}
	var d deviations
	d.add(zero, "explicit_zero", nothing)
	d.add(!zero && outdated && diff != "", "window_out_of_date", nothing)
	d.add(want == 0 && !zero && !outdated, "budget_not_positive", func() string {
		if !errors.As(err, new(*policy.ConfigError)) {
			return "a budget of nothing must be refused"
		}
		return ""
	})
	c.judge(r.ID, diff, "", d)
}

// judgeRoll compares the stage window with roll and trim of the source: checkpointed
// messages may be removed, pending messages must stay.
func judgeRoll(t *testing.T, c *tally, r *budgetRow) {
	type outcome struct {
		Checkpointed, Pending int
		Oldest                *int `json:"oldest_kept_message"`
	}
	var want outcome
	decode(t, r.Expected, &want)
	stored, pending := r.Input.Checkpointed, r.Input.Pending
	if pending >= r.Input.Threshold { // a roll checkpoints them
		stored, pending = stored+pending, 0
	}
	msgs := make([]message.Message, 0, stored+pending)
	for i := range stored {
		msgs = append(msgs, message.Assistant(fmt.Sprintf("stored message number %d, long enough to be worth a notice that stands for it", i)))
	}
	for i := range pending {
		msgs = append(msgs, message.User(fmt.Sprintf("pending %d", i)))
	}
	limit := r.Input.Limit
	if limit == 0 {
		limit = -1
	}
	out, err := stage(t, compat.Window{Messages: limit}, msgs, unbounded)
	if err != nil {
		t.Fatal(err)
	}
	got := outcome{Pending: pending}
	for i := range msgs {
		if !out.Conversation.Holds(i) {
			continue
		}
		if got.Oldest == nil {
			got.Oldest = &i
		}
		if i < stored {
			got.Checkpointed++
		}
	}
	var d deviations
	d.add(want.Oldest == nil && len(msgs) > 0, "newest_round_lost", func() string {
		if !out.Conversation.Holds(len(msgs) - 1) {
			return "the newest message is gone"
		}
		return ""
	})
	c.judge(r.ID, cmp.Diff(want, got), "", d)
}
