package invariant

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

var summary1 = message.Assistant("<COMPACT-SUMMARY v1>\nShort.\n</COMPACT-SUMMARY>")

// earlier returns a view that an earlier compaction of the history led to.
func earlier(in, out []message.Message, decisions map[int]string) Case {
	return Case{
		In: in, Out: out, Pinned: byRole, Cost: cost, Text: textCost, Earlier: true,
		Decisions: decided(len(in), decisions), Budget: 100_000,
	}
}

// The last user message of an earlier view keeps its place from then, and if it
// is protected, it comes to the front later than younger pinned messages.
func TestCheckAcceptsResultsOfEarlierCompactions(t *testing.T) {
	old := message.Assistant(words(300))
	in := []message.Message{
		0: message.System("s"), 1: protected(message.User("The task.")), 2: old, 3: protected(message.Assistant("Note.")),
		4: message.Assistant("Recent then."), 5: message.User("Next."), 6: message.Assistant("Recent."), 7: message.User("Last."),
	}
	replayed := earlier(in, []message.Message{in[0], in[3], summary1, in[1], in[4], in[5], in[6], in[7]}, map[int]string{2: summarized})
	if found := Check(replayed); found != nil {
		t.Errorf("a replayed view: Check reports %v, want nothing", found)
	}
	again := earlier(in, []message.Message{in[0], in[3], in[1], summary1, in[6], in[7]}, map[int]string{2: summarized, 4: summarized, 5: summarized})
	if found := Check(again); found != nil {
		t.Errorf("a view that was compacted again: Check reports %v, want nothing", found)
	}
	again.Earlier, again.Triggered = false, true
	if got := rules(Check(again)); !slices.Contains(got, RuleOrder) {
		t.Errorf("one compaction can't give this order, but Check reports %v", got)
	}
}

func TestCheckDistinguishesEqualMessages(t *testing.T) {
	same := func() message.Message { return protected(message.User("continue")) }
	var in []message.Message
	for range 4 {
		in = append(in, same(), message.Assistant(words(100)))
	}
	in = append(in, message.User("last"))
	out := []message.Message{in[0], in[2], in[4], summary1, in[6], in[7], in[8]}
	c := earlier(in, out, map[int]string{1: summarized, 3: summarized, 5: summarized})
	c.Earlier, c.Triggered = false, true
	if found := Check(c); found != nil {
		t.Errorf("Check reports %v, want nothing", found)
	}
}

func TestCheckDistinguishesASummaryFromSimilarText(t *testing.T) {
	forged := protected(summary1)
	in := []message.Message{forged, message.Assistant(words(300)), message.Assistant("Recent."), message.User("Last.")}
	c := earlier(in, []message.Message{forged, summary1, in[2], in[3]}, map[int]string{1: summarized})
	if found := Check(c); found != nil {
		t.Errorf("Check reports %v, want nothing", found)
	}
}

// A message in the middle of a round cannot be removed without the round.
func TestCheckLeavesTextThatLooksLikeASummaryInItsRound(t *testing.T) {
	in := []message.Message{message.User("u"), message.Assistant(words(300)), ask("1"), summary1, answer("1"), message.User("Last.")}
	c := earlier(in, []message.Message{summary1, in[2], in[3], in[4], in[5]}, map[int]string{0: summarized, 1: summarized})
	c.Earlier, c.Triggered = false, true
	if found := Check(c); found != nil {
		t.Errorf("Check reports %v, want nothing", found)
	}
}

func TestCheckAcceptsADropWithoutANoticeOnlyIfNothingWasRemoved(t *testing.T) {
	in := []message.Message{message.System("s"), message.User("a"), message.Assistant("b"), message.User("c")}
	notice := message.System("[conversation truncated — 2 older messages omitted]")
	c := earlier(in, []message.Message{in[0], notice, in[3]}, map[int]string{1: dropped, 2: dropped})
	c.Cost = func(message.Message) int { return 1 }
	if found := Check(c); found != nil {
		t.Errorf("with its notice: %v, want nothing", found)
	}
	c.Out = []message.Message{in[0], in[3]}
	if got := rules(Check(c)); !slices.Equal(got, []string{RuleDecision}) {
		t.Errorf("without a notice: %v, want RuleDecision", got)
	}
}

func TestCheckMeasuresPlaceholdersByTheOriginal(t *testing.T) {
	long := words(1000)
	in := []message.Message{message.User("u"), ask("1"), message.ToolResult("1", long[:40]+"\n\n[truncated: kept first ~25 of ~1250 tokens (head)]"), message.Assistant("a")}
	out := slices.Clone(in)
	out[2] = edit(t, in[2], "[observation masked — 4999 chars]")
	c := earlier(in, out, map[int]string{2: masked})
	if got := rules(Check(c)); !slices.Equal(got, []string{RuleText}) {
		t.Errorf("without knowing the original: %v, want RuleText", got)
	}
	c.Origin = func(i, p int) string {
		if i == 2 {
			return long
		}
		return in[i].Parts[p].Text
	}
	if found := Check(c); found != nil {
		t.Errorf("with the original: %v, want nothing", found)
	}
}

// A truncation may have cut a dispatch block before the rest was masked.
func TestCheckAcceptsADispatchBlockThatWasCutEarlier(t *testing.T) {
	long := words(20) + blockBegin + " " + words(200) + blockEnd
	left := blockBegin + " word word\n\n[truncated: kept first ~30 of ~259 tokens (head)]"
	in := []message.Message{message.User("u"), ask("1"), message.ToolResult("1", long), message.Assistant("a")}
	out := slices.Clone(in)
	out[2] = edit(t, in[2], fmt.Sprintf("[dispatch output masked — %d chars]\n%s", len(long)-len(left), left))
	c := earlier(in, out, map[int]string{2: masked})
	if found := Check(c); found != nil {
		t.Errorf("Check reports %v, want nothing", found)
	}
	c.Earlier, c.Triggered = false, true
	if got := rules(Check(c)); !slices.Contains(got, RuleText) {
		t.Errorf("cut and masked at once: %v, want RuleText", got)
	}
	c.Earlier = true
	c.Out[2] = edit(t, out[2], strings.Replace(out[2].Parts[0].Text, "word word", "word ward", 1))
	if got := rules(Check(c)); !slices.Contains(got, RuleText) {
		t.Errorf("with another beginning: %v, want RuleText", got)
	}
}

func TestCheckAcceptsTheOtherFormsOfMasking(t *testing.T) {
	long := words(400)
	for _, text := range []string{
		"[result masked — ~500 tokens removed]",
		long[:100] + "\n[observation masked — 1999 chars]",
		"[observation masked — 1999 chars · recall " + message.Part{Kind: message.KindToolResult, Text: long}.Fingerprint().Ref() + "]",
		"<<gone>>",
	} {
		in := []message.Message{message.User("u"), ask("1"), message.ToolResult("1", long), message.Assistant("a")}
		out := slices.Clone(in)
		out[2] = edit(t, in[2], text)
		c := earlier(in, out, map[int]string{2: masked})
		c.Placeholder = func(s string) bool { return s == "<<gone>>" }
		if found := Check(c); found != nil {
			t.Errorf("%q: Check reports %v, want nothing", text, found)
		}
	}
}

func TestCheckAcceptsTheOtherFormsOfTruncation(t *testing.T) {
	long := words(400)
	for text, want := range map[string][]string{
		"[truncated: kept last ~20 of ~500 tokens (tail)]\n\n" + long[1950:]:                                 nil,
		long[:40] + "\n\n[truncated: kept first+last ~20 of ~500 tokens (both)]\n\n" + long[1960:]:           nil,
		long[:40] + "\n\n[truncated: kept first+last ~20 of ~500 tokens (both)]\n\n" + "word gone":           {RuleText},
		"[truncated: kept last ~20 of ~500 tokens (tail)]\n\n" + strings.ToUpper(long[1950:]):                {RuleText},
		long[:40] + "\n\n[truncated: kept first ~20 of ~500 tokens (head)]" + " ":                            {RuleText},
		long[:40] + "\n\n[truncated: kept first ~20 of ~9 tokens (head)]\n\n[truncated: and so on (head)]\n": {RuleText},
	} {
		in := []message.Message{message.User("u"), ask("1"), message.ToolResult("1", long), message.Assistant("a")}
		out := slices.Clone(in)
		out[2] = edit(t, in[2], text)
		c := earlier(in, out, map[int]string{2: truncated})
		if got := rules(Check(c)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Check assigns thousands of equal rounds to their places in one pass.
func TestCheckJudgesALongHistoryOfEqualRounds(t *testing.T) {
	var in []message.Message
	for range 5000 {
		in = append(in, ask("1"), message.ToolResult("1", words(20)))
	}
	c := earlier(in, slices.Concat([]message.Message{summary1}, in[4:]), map[int]string{0: summarized, 1: summarized, 2: summarized, 3: summarized})
	c.Budget = 1_000_000
	if found := Check(c); found != nil {
		t.Errorf("Check reports %v, want nothing", found)
	}
}

func TestSourcesReturnsTheOriginOfMessages(t *testing.T) {
	src, sure := Sources(summaryCase(t))
	if want := []int{0, 1, 8, -1, 10, 11, 12, 13, 14}; !sure || !slices.Equal(src, want) {
		t.Errorf("%v (sure: %v), want %v", src, sure, want)
	}
	c := summaryCase(t)
	c.Out = remove(c.Out, 4)
	if _, sure := Sources(c); sure {
		t.Error("Sources is sure of a view that lacks a message")
	}
	c.Decisions = nil
	if src, sure := Sources(c); src != nil || sure {
		t.Errorf("without decisions: %v, %v, want none", src, sure)
	}
}

// The round of an earlier last user message came after a younger pinned one, so
// its results were outside the window.
func TestCheckCountsTurnsOfAnEarlierView(t *testing.T) {
	long := words(400)
	in := []message.Message{
		0: ask("1"), 1: message.User("Late."), 2: answer("1"), // the last user message at an earlier time
		3: protected(ask("2")), 4: message.ToolResult("2", long), 5: protected(message.Assistant("Note.")), 6: message.Assistant("a"),
		7: message.User("Last."),
	}
	out := slices.Clone(in)
	out[4] = edit(t, in[4], "[observation masked — 1999 chars]")
	c := earlier(in, out, map[int]string{4: masked})
	c.KeepTurns, c.MaskWindow = 1, 3
	if found := Check(c); found != nil {
		t.Errorf("in an earlier view: %v, want nothing", found)
	}
	c.MaskWindow = 4
	if got := rules(Check(c)); !slices.Contains(got, RuleWindow) {
		t.Errorf("inside of the window in any view: %v, want RuleWindow", got)
	}
	c.Earlier, c.Triggered, c.MaskWindow = false, true, 3
	if got := rules(Check(c)); !slices.Contains(got, RuleWindow) {
		t.Errorf("in one compaction: %v, want RuleWindow", got)
	}
}
