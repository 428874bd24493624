package invariant

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
)

// session returns a chain of calls: one without a compaction, one with a
// compaction at 1,000 tokens, the same history again, a longer one, and the
// next compaction.
func session(t testing.TB) []Step {
	c := maskedCase(t)
	more := []message.Message{message.Assistant("Now this."), message.User("And that?")}
	longer, longerView := append(slices.Clone(c.In), more...), append(slices.Clone(c.Out), more...)
	last := slices.Clone(longerView)
	last[6] = edit(t, last[6], "[observation masked — 1499 chars]")
	limits := Step{Budget: 2000, Trigger: 1000, Target: 700}
	step := func(h, v []message.Message, d []string, before, after int) Step {
		s := limits
		s.History, s.View, s.Decisions, s.Before, s.After = h, v, d, before, after
		return s
	}
	end := decided(len(longer), map[int]string{4: masked, 6: masked, 7: masked, 12: truncated})
	steps := []Step{
		step(c.In[:10], c.In[:10], decided(10, nil), 500, 500),
		step(c.In, c.Out, c.Decisions, 1000, 800),
		step(c.In, c.Out, c.Decisions, 800, 800),
		step(longer, longerView, append(slices.Clone(c.Decisions), kept, kept), 1050, 1050),
		step(longer, last, end, 1100, 900),
	}
	steps[1].Triggered, steps[4].Triggered = true, true
	return steps
}

func TestChainAcceptsASoundSession(t *testing.T) {
	if found := Chain(session(t)...); found != nil {
		t.Errorf("the check reports %v, want nothing", found)
	}
}

func TestChainAcceptsAViewAsHistory(t *testing.T) {
	s := session(t)
	kept := s[2]
	kept.History, kept.Decisions = s[1].View, nil
	if found := Chain(append(s[:2], kept)...); found != nil {
		t.Errorf("the check reports %v, want nothing", found)
	}
}

var brokenChains = []struct {
	name string
	harm func(t testing.TB, s []Step)
	rule string
}{
	{"the same history gives another view", func(t testing.TB, s []Step) {
		s[2].View = slices.Clone(s[2].View)
		s[2].View[4] = edit(t, s[2].View[4], "[observation masked — 1999 chars · recall 0123456789ab]")
	}, RuleSame},
	{"the same history gives a shorter view", func(_ testing.TB, s []Step) { s[2].View = s[2].View[1:] }, RuleSame},
	{"a view that is passed as the history is changed", func(_ testing.TB, s []Step) {
		s[2].History, s[2].View, s[2].Decisions = s[1].View, s[1].History, nil
	}, RuleSame},
	{"a masked result is shown again", func(_ testing.TB, s []Step) { s[4].Decisions[4] = kept }, RuleMonotone},
	{"a masked result is truncated", func(_ testing.TB, s []Step) { s[4].Decisions[7] = truncated }, RuleMonotone},
	{"the prefix changes without a compaction", func(t testing.TB, s []Step) {
		s[3].View = slices.Clone(s[3].View)
		s[3].View[6] = edit(t, s[3].View[6], "[observation masked — 1499 chars]")
	}, RulePrefix},
	{"the prefix of a kept list changes without a compaction", func(_ testing.TB, s []Step) {
		s[3].History, s[3].Decisions = s[3].View, nil
		s[3].View = s[3].View[1:]
	}, RulePrefix},
	{"a compaction below the trigger", func(_ testing.TB, s []Step) { s[1].Before = 999 }, RuleHysteresis},
	{"a compaction right after another", func(_ testing.TB, s []Step) { s[4].Before = 1099 }, RuleHysteresis},
	{"a due compaction that does not come", func(_ testing.TB, s []Step) { s[3].Before = 1100 }, RuleDue},
}

func TestChainCatchesEachBrokenPromise(t *testing.T) {
	for _, b := range brokenChains {
		t.Run(b.name, func(t *testing.T) {
			s := session(t)
			b.harm(t, s)
			if found := Chain(s...); !slices.Contains(rules(found), b.rule) {
				t.Errorf("want %q, got %v", b.rule, found)
			}
		})
	}
}

func TestChainAcceptsASessionThatWaitsAboveTheTrigger(t *testing.T) {
	s := session(t)
	s[3].Before, s[3].Waits = 1100, true
	if found := Chain(s...); found != nil {
		t.Errorf("the check reports %v, want nothing", found)
	}
}

func TestChainSkipsRefusedSteps(t *testing.T) {
	s := session(t)
	refused := Step{History: s[2].History[:3], View: s[2].History[:3], Refused: true, Before: 9999}
	if found := Chain(slices.Insert(s, 3, refused)...); found != nil {
		t.Errorf("the check reports %v, want nothing", found)
	}
}

func TestFreezeDetectsChangesInPlace(t *testing.T) {
	for name, harm := range map[string]func(h []message.Message){
		"text of a part": func(h []message.Message) { h[2].Parts[0].Text = "Find another bug." },
		"arguments":      func(h []message.Message) { h[3].Parts[0].Args[2] = 'P' },
		"raw bytes":      func(h []message.Message) { h[4].Raw()[10] = 'X' },
		"the mark":       func(h []message.Message) { h[8].Protected = false },
		"a picture": func(h []message.Message) {
			h[9].Parts[1].Media.URL = "data:image/png;base64,B"
		},
	} {
		h := history(t)
		h[9].Parts = append(h[9].Parts, message.Part{Kind: message.KindImage, Media: &message.Media{URL: "data:image/png;base64,A"}})
		check := Freeze(h)
		if found := check(); found != nil {
			t.Errorf("%s: before the change: %v, want nothing", name, found)
		}
		harm(h)
		if found := check(); !slices.Equal(rules(found), []string{RuleHistory}) {
			t.Errorf("%s: after the change: %v, want RuleHistory", name, found)
		}
	}
}
