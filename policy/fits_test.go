package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Copies that a later stage removes do not count, if there is such a stage.
func TestFitsLeavesOutRemovableCopies(t *testing.T) {
	v := policy.NewView(reminded(), pins, words{})
	total, copies := v.Total(), 40 // the copies at 2 and 6; some providers require the first message
	for _, stages := range [][]policy.Stage{nil, {policy.Drop{}, policy.Duplicates{}}, {policy.Drop{}}} {
		if stages != nil {
			v.SetLater(stages)
		}
		least := total - copies
		if len(stages) == 1 {
			least = total
		}
		for limit, want := range map[int]bool{total: true, least: true, least - 1: false} {
			if v.Budget = budget(limit); v.Fits() != want {
				t.Errorf("%d tokens in a budget of %d, with %d stages: fits is %v", total, limit, len(stages), !want)
			}
		}
	}
}

// A pinned message of the user or a notice is no copy, however often it occurs.
func TestDuplicatesKeepsPinnedMessagesOfTheUser(t *testing.T) {
	e := engine(copies)
	e.Pins = append(slices.Clone(pins), message.RoleUser)
	for _, m := range []message.Message{message.User(text(18)), policy.NewNotice(3)} {
		if out, _ := run(t, e, []message.Message{m, message.Assistant("a"), m, message.Assistant("b"), m, message.Assistant("c")}, budget(1)); out.Changed() {
			t.Errorf("%v were removed", dropped(out))
		}
	}
}

// A drop is offered only if it makes the view smaller: not for a notice that costs as much as
// the removed messages, unless it replaces an earlier notice, and not without a message.
func TestDropOffersOnlyWhatSaves(t *testing.T) {
	notice := words{}.Message(policy.NewNotice(2))
	said := func(n int) []message.Message {
		return []message.Message{message.User(text(n - 2)), message.Assistant("a"), message.User("now"), message.Assistant("b")}
	}
	earlier := slices.Concat([]message.Message{policy.NewNotice(2)}, said(3))
	for name, c := range map[string]struct {
		msgs   []message.Message
		limit  int
		stage  policy.Drop
		groups int
	}{
		"more than the notice costs":    {said(notice + 1), 1000, policy.Drop{}, 2},
		"as much as the notice costs":   {said(notice), 1000, policy.Drop{}, 1}, // with the answer behind it, more
		"less, without a notice":        {said(3), 1000, policy.Drop{NoNotice: true}, 2},
		"less":                          {said(3), 1000, policy.Drop{}, 0},
		"less, and an earlier notice":   {earlier, 1000, policy.Drop{}, 2},
		"no room for a notice":          {earlier, 5, policy.Drop{}, 3},
		"no room, and no notice anyway": {earlier, 5, policy.Drop{NoNotice: true}, 2},
		"nothing that may be removed":   {said(3)[2:], 1, policy.Drop{}, 0},
	} {
		v := policy.NewView(c.msgs, pins, words{})
		v.Budget = budget(c.limit)
		if p, err := c.stage.Propose(t.Context(), v); err != nil || len(p.Groups) != c.groups {
			t.Errorf("%s: %d groups, %v, want %d", name, len(p.Groups), err, c.groups)
		}
	}
}

// A refusal before any stage names the messages that no stage removes, with the reason, and
// the advice fits these messages.
func TestRefusalDescribesTheFloor(t *testing.T) {
	kept := loop(4, 30)
	kept[5].Protected = true
	for name, c := range map[string]struct {
		msgs   []message.Message
		stages []policy.Stage
		keep   policy.Keep
		why    []string
		advice []string
	}{
		"old rounds can go":         {loop(4, 30), []policy.Stage{policy.Drop{}}, policy.Keep{Turns: 1, Pairs: 1}, []string{"last turn", "last turn", "last user message", "pinned"}, []string{"protect fewer messages", "shorten the largest messages", "send fewer tool schemas", "use a model with a larger window"}},
		"without instructions":      {loop(4, 30)[1:], []policy.Stage{policy.Drop{}}, policy.Keep{Turns: 1, Pairs: 1}, []string{"last turn", "last turn", "last user message"}, []string{"shorten the largest messages", "send fewer tool schemas", "use a model with a larger window"}},
		"a pinned result":           {kept[1:], []policy.Stage{policy.Drop{}}, policy.Keep{Turns: 1, Pairs: 1}, []string{"in one round with a pinned message", "last turn", "last turn", "last user message", "pinned"}, []string{"protect fewer messages", "shorten the largest messages", "send fewer tool schemas", "use a model with a larger window"}},
		"no message":                {nil, []policy.Stage{policy.Drop{}}, policy.Keep{}, nil, []string{"send fewer tool schemas", "use a model with a larger window"}},
		"no stage removes messages": {loop(2, 30)[1:], []policy.Stage{policy.Truncate{MaxTokens: 8}}, policy.Keep{Turns: 2, Pairs: 2}, []string{"last turn", "last turn", "last user message", "no stage may remove it", "no stage may remove it"}, nil},
	} {
		v := policy.NewView(c.msgs, pins, words{})
		v.Fixed, v.Keep, v.Budget = 9, c.keep, budget(8)
		v.SetLater(c.stages)
		e := v.Refusal(true, "preset x", func(i int) int { return i + 100 }, false)
		var why []string
		sum := e.Fixed
		for _, l := range e.Largest {
			why = append(why, l.Why)
			sum += l.Tokens
			if l.Index < 100 {
				t.Errorf("%s: message %d is no input message", name, l.Index)
			}
		}
		slices.Sort(why)
		if !slices.Equal(why, c.why) || sum != e.Tokens || e.Tokens != v.Floor() || len(e.Others) != 0 || e.Stages != "preset x" {
			t.Errorf("%s: %v, %d of %d tokens, %v", name, why, sum, e.Tokens, e)
		}
		if c.advice != nil && !slices.Equal(e.Advice, c.advice) {
			t.Errorf("%s: advice %q, want %q", name, e.Advice, c.advice)
		}
	}
	if s := (&policy.BudgetError{}).Guidance(); s != "" {
		t.Errorf("guidance without advice: %q", s)
	}
	e := engine(reduce.Step{Stage: policy.Drop{}, Goal: policy.ToBudget})
	e.Floors, e.Name = true, "preset y"
	var b *policy.BudgetError
	if _, err := run(t, e, loop(9, 30), budget(5)); !errors.As(err, &b) || strings.Contains(err.Error(), "no stage of") || b.Stages != "preset y" {
		t.Errorf("%v", err)
	}
}
