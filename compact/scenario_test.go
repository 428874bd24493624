package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

func TestTriggerAt85PercentAndNotAt75(t *testing.T) {
	r := newRig(t, compact.Config{})
	at := func(tokens int) *compact.Result {
		// 20 turns, filled up to exactly the number of tokens in the case.
		msgs := turns(20, 2000)
		res, err := r.Plan(context.Background(), "probe", msgs)
		if err != nil {
			t.Fatal(err)
		}
		msgs[1] = message.User(msgs[1].Text() + strings.Repeat(" word", tokens-res.TokensIn))
		res, err = r.Plan(context.Background(), "probe", msgs)
		if err != nil {
			t.Fatal(err)
		}
		if res.TokensIn != tokens {
			t.Fatalf("the history has %d tokens, want %d", res.TokensIn, tokens)
		}
		return res
	}
	for tokens, want := range map[int]bool{96_000: false, 108_799: false, 108_800: true} {
		if got := at(tokens).Triggered; got != want {
			t.Errorf("%d of 128,000 tokens: triggered %v, want %v", tokens, got, want)
		}
	}
}

func TestBufferLeaves126500Of128000(t *testing.T) {
	r := newRig(t, compact.Config{})
	res := r.preflight(turns(1, 10))
	if res.Budget != 126_500 || res.Trigger != 108_800 || res.Target != 76_800 {
		t.Errorf("budget %d, trigger %d, target %d; want 126500, 108800 and 76800", res.Budget, res.Trigger, res.Target)
	}
}

func TestManualCompactionInANearlyEmptyWindowRemovesNothing(t *testing.T) {
	r := newRig(t, compact.Config{})
	history := turns(2, 10)
	res, err := r.ManualCompact(context.Background(), "s", history, "user asked")
	if err != nil {
		t.Fatal(err)
	}
	if res.Triggered || res.Step != 0 || res.Reason != trace.ReasonNothingOld {
		t.Errorf("triggered %v, step %d, reason %q; want nothing removed", res.Triggered, res.Step, res.Reason)
	}
	if bytesOf(res.Messages) != bytesOf(history) {
		t.Error("the history was changed")
	}
	if d := r.named(trace.NameTriggerDecision); len(d) != 1 || !strings.Contains(d[0].Data.String(), `"note":"user asked"`) {
		t.Errorf("the decision does not carry the note: %v", d)
	}
}

func TestManualCompactionBelowTheThresholdSummarizesOldTurns(t *testing.T) {
	r := newRig(t, compact.Config{})
	history := turns(20, 200)
	res, err := r.ManualCompact(context.Background(), "s", history, "before the release")
	if err != nil {
		t.Fatal(err)
	}
	if !res.Triggered || res.Step != 1 || res.SummarizedCount != 2*14 || len(summaries(res.Messages)) != 1 {
		t.Errorf("triggered %v, step %d, %d summarized; want the 14 oldest turns in step 1", res.Triggered, res.Step, res.SummarizedCount)
	}
	d := r.named(trace.NameTriggerDecision)
	if len(d) != 1 || !strings.Contains(d[0].Data.String(), `"note":"before the release"`) || !strings.Contains(d[0].Data.String(), `"manual":true`) {
		t.Errorf("the decision does not carry the note: %v", d)
	}
}

func TestAgentLoopWithOneUserMessageAnd100ToolRounds(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 32_000})
	history := loop(100, 300)
	res := r.preflight(history)
	if !res.Triggered || res.After.Total > res.Target {
		t.Fatalf("triggered %v, %d tokens, target %d, want true", res.Triggered, res.After.Total, res.Target)
	}
	if res.ReductionStage != compact.ReductionMasking || res.MaskedCount != 100-10-2 {
		t.Errorf("%s, %d masked; masking all but the window of 10 turns and the first 2 results reaches the target", res.ReductionStage, res.MaskedCount)
	}
	paired(t, res.Messages)
	if len(res.Messages) != len(history) {
		t.Errorf("%d of %d messages", len(res.Messages), len(history))
	}
	// Masked results are summarized when masking is not enough.
	res = newRig(t, compact.Config{MaxContextTokens: 8_000}).preflight(history)
	if res.ReductionStage != compact.ReductionSummarization || res.After.Total > res.Budget {
		t.Fatalf("%s, %d tokens, budget %d, want %s", res.ReductionStage, res.After.Total, res.Budget, compact.ReductionSummarization)
	}
	paired(t, res.Messages)
	if got := res.Messages[2].Text(); got != history[1].Text() || len(summaries(res.Messages[:2])) != 1 {
		t.Errorf("the last user message must follow the summary verbatim, got %q", got)
	}
}

func TestParallelCallsStayWithTheirResults(t *testing.T) {
	history := []message.Message{message.User("Read all.")}
	for i := range 30 {
		a, b, c := string(rune('a'+i))+"1", string(rune('a'+i))+"2", string(rune('a'+i))+"3"
		history = append(history,
			message.Assistant("Reading.", message.Call(a, "read", `{}`), message.Call(b, "read", `{}`), message.Call(c, "read", `{}`)),
			message.ToolResult(b, text(200)), message.ToolResult(a, text(200)), message.ToolResult(c, text(200)))
	}
	res := newRig(t, compact.Config{MaxContextTokens: 12_000}).preflight(history)
	if !res.Triggered || res.SummarizedCount == 0 {
		t.Fatalf("triggered %v, %d summarized, want true", res.Triggered, res.SummarizedCount)
	}
	paired(t, res.Messages)
	if n := res.SummarizedCount % 4; n != 0 {
		t.Errorf("%d messages summarized: a round of 4 was split", res.SummarizedCount)
	}
}

func TestProtectedResultInMidHistoryStays(t *testing.T) {
	history := loop(60, 400)
	history[41].Protected = true
	res := newRig(t, compact.Config{MaxContextTokens: 8_000}).preflight(history)
	if !res.Triggered || res.SummarizedCount == 0 {
		t.Fatalf("triggered %v, %d summarized, want true", res.Triggered, res.SummarizedCount)
	}
	paired(t, res.Messages)
	found := false
	for _, m := range res.Messages {
		found = found || m.ResultText() == history[41].ResultText()
	}
	if !found {
		t.Error("the protected result is not in the view byte for byte")
	}
}

func TestOneResultOf200kTokensIsTruncated(t *testing.T) {
	history := []message.Message{message.User("Read it."), message.Assistant("", message.Call("c", "read", `{}`)), message.ToolResult("c", text(200_000))}
	res := newRig(t, compact.Config{}).preflight(history)
	if res.ReductionStage != compact.ReductionTruncation || res.TruncatedCount != 1 {
		t.Fatalf("%s, %d truncated; want %s and 1", res.ReductionStage, res.TruncatedCount, compact.ReductionTruncation)
	}
	got := res.Messages[2].ResultText()
	if !strings.HasSuffix(got, "\n\n[truncated: kept first ~8000 of ~200000 tokens (head)]") {
		t.Errorf("the marker is %q", got[len(got)-80:])
	}
	if n := res.After.ToolResults; n > 8000+10 || n < 7900 {
		t.Errorf("the result has %d tokens, want at most 8000 with the marker", n)
	}
}

func TestOneRoundOfTwentyLargeResultsIsSqueezed(t *testing.T) {
	history := []message.Message{message.User("Read all.")}
	var calls []message.Part
	for i := range 20 {
		calls = append(calls, message.Call(string(rune('a'+i)), "read", `{}`))
	}
	history = append(history, message.Assistant("", calls...))
	for i := range 20 {
		history = append(history, message.ToolResult(string(rune('a'+i)), text(7000)))
	}
	res := newRig(t, compact.Config{}).preflight(history)
	if res.After.Total > res.Budget || res.After.Total < res.Budget*9/10 {
		t.Errorf("%d tokens; squeezed to equal shares, the round has room for %d", res.After.Total, res.Budget)
	}
	if res.TruncatedCount != 20 {
		t.Errorf("%d of 20 results truncated, want 20", res.TruncatedCount)
	}
	paired(t, res.Messages)
}

func TestPinnedMessagesAboveTheTargetDelayTheNextCompaction(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 32_000})
	history := append([]message.Message{message.System(text(24_000))}, turns(30, 80)[1:]...)
	first := r.preflight(history)
	if !first.Triggered || first.After.Total <= first.Target {
		t.Fatalf("triggered %v, %d tokens, target %d, want true", first.Triggered, first.After.Total, first.Target)
	}
	next := append(history, turns(2, 80)[1:]...)
	second := r.preflight(next)
	if second.Triggered || second.Reason != trace.ReasonFloor {
		if second.Before.Total >= second.Trigger {
			t.Errorf("compacted again at %d, due at %d: %s", second.Before.Total, second.Trigger, second.Reason)
		}
	}
	if want := min(second.Budget, max(27_200, first.After.Total+27_200-19_200)); second.Trigger != want {
		t.Errorf("next due at %d, want %d", second.Trigger, want)
	}
}

func TestSavingsAreRelativeToTheWholeHistory(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 24_000})
	history := loop(100, 200)
	for i := range 2 { // the second call makes the edits again
		res := r.preflight(history)
		s, observations := res.Savings, 0
		for _, d := range res.Decisions {
			if d.Role == message.RoleTool {
				observations += d.TokensBefore
			}
		}
		saved := res.TokensIn - res.After.Total
		if s.TokensSaved != saved || s.ObservationTokens != observations || observations == 0 || saved <= 0 {
			t.Errorf("call %d: %+v; %d tokens saved, %d of observations", i+1, s, saved, observations)
		}
		if got, want := s.Percent, 100*float64(saved)/float64(res.TokensIn); got < want-0.05 || got > want+0.05 {
			t.Errorf("call %d: %v percent, want %v", i+1, got, want)
		}
		if s.MaskedTurns != res.MaskedCount || s.VisibleTurns+s.MaskedTurns != 100 {
			t.Errorf("call %d: %d turns masked, %d visible, %d results masked of 100", i+1, s.MaskedTurns, s.VisibleTurns, res.MaskedCount)
		}
	}
}

func TestResultNamesTheAdapterOfTheArchive(t *testing.T) {
	res := newRig(t, compact.Config{MaxContextTokens: 8_000}).preflight(loop(100, 200))
	if res.Archived == nil || res.Archived.Adapter != "custom" {
		t.Errorf("handed in: %+v", res.Archived)
	}
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Storage: compact.StorageConfig{Adapter: "memory"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	if res, err = m.Preflight(t.Context(), "s", loop(100, 200)); err != nil || res.Archived == nil || res.Archived.Adapter != "memory" {
		t.Errorf("configured: %+v, %v", res.Archived, err)
	}
}

func TestToolSchemasCountAgainstTheBudget(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	history := loop(40, 300)
	without := r.preflight(history)
	schemas := json.RawMessage(`[{"type":"function","function":{"name":"bash","description":"` + text(3_000) + `"}}]`)
	with := r.preflight(history, compact.WithTools(schemas))
	if without.Triggered || without.Before.ToolsSchema != 0 || !with.Triggered {
		t.Errorf("triggered without schemas: %v, with: %v; want false and true", without.Triggered, with.Triggered)
	}
	if n := with.Before.ToolsSchema; n < 3_000 || with.Before.Total != without.Before.Total+n || with.Before.Overhead != without.Before.Overhead || with.After.Total > with.Target {
		t.Errorf("schemas %d tokens, total %d of %d without; after it %d, target %d", n, with.Before.Total, without.Before.Total, with.After.Total, with.Target)
	}
}

// A call between the trigger and the next trigger waits. It reports the reason
// and the size only if the messages that must stay exceed the target.
func TestWaitingNamesItsReason(t *testing.T) {
	pinned := append([]message.Message{message.System(text(24_000))}, turns(30, 80)[1:]...)
	for name, test := range map[string]struct {
		window       int
		history      []message.Message
		next         []message.Message
		reason       string
		floor, above int
	}{
		"six turns stay, and could go": {32_000, turns(30, 1700), turns(1, 2900)[1:], trace.ReasonWaiting, 0, 0},
		"24,000 are pinned":            {32_000, pinned, turns(10, 80)[1:], trace.ReasonFloor, 24_000, 27_000},
	} {
		r := newRig(t, compact.Config{MaxContextTokens: test.window})
		first := r.preflight(test.history)
		res := r.preflight(append(test.history, test.next...))
		if !first.Triggered || res.Triggered || res.Before.Total < 85*test.window/100 || res.Before.Total >= res.Trigger {
			t.Fatalf("%s: the session does not wait: %v, %v, %d tokens, due at %d", name, first.Triggered, res.Triggered, res.Before.Total, res.Trigger)
		}
		d := dataOf[trace.TriggerDecision](t, last(t, r, trace.NameTriggerDecision))
		if d.Reason != test.reason || res.Reason != test.reason || d.NextTrigger != res.Trigger || d.Floor < test.floor || d.Floor > test.above {
			t.Errorf("%s: %s, floor %d, due at %d; want %s, %d", name, d.Reason, d.Floor, d.NextTrigger, test.reason, res.Trigger)
		}
	}
}

func TestWaitAboveTheTriggerIsExplainedOnce(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	history := []message.Message{message.User(text(14_000))}
	for i, want := range []int{1, 0, 0} {
		res := r.preflight(history)
		if res.Triggered || res.Reason != trace.ReasonFloor || len(res.Warnings) != want {
			t.Errorf("call %d: triggered %v (%s), warnings %q; want false and %s", i+1, res.Triggered, res.Reason, res.Warnings, trace.ReasonFloor)
		}
	}
}

func TestProtectedMessagesAndPinnedRolesStay(t *testing.T) {
	history := turns(40, 300)
	history[2] = message.Developer("Never push to main.")
	history[5].Protected = true
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	res := r.preflight(history, compact.WithProtected(func(m message.Message) bool { return strings.HasPrefix(m.Text(), "Question 9 ") }))
	if !res.Triggered {
		t.Fatal("no compaction was triggered")
	}
	view := bytesOf(res.Messages)
	for _, i := range []int{0, 2, 5, 19} {
		if !strings.Contains(view, bytesOf(history[i:i+1])) {
			t.Errorf("message %d is pinned and not in the view: %q", i, history[i].Text()[:20])
		}
	}
}

func TestKeepLast6Of20Turns(t *testing.T) {
	res, err := newRig(t, compact.Config{MaxContextTokens: 16_000}).ManualCompact(context.Background(), "s", turns(20, 400), "")
	if err != nil || !res.Triggered || res.Keep.Turns != 6 {
		t.Fatalf("triggered %v, keep %+v: %v; want true and no error", res.Triggered, res.Keep, err)
	}
	want := 1 + 2*14
	if kept := decided(res, policy.Kept); len(kept) != 1+12 || kept[1] != want {
		t.Errorf("kept %v; want the system prompt and the 12 messages from %d on", kept, want)
	}
}

// A compaction reaches the target, and does not remove a turn more.
func TestTextBelowTheTargetStaysVerbatim(t *testing.T) {
	history := turns(20, 800)
	for i := 1; i < len(history); i += 2 {
		history[i] = message.User("Question " + strings.Repeat("?", i)) // the user's words stay, even above the target
	}
	res := newRig(t, compact.Config{MaxContextTokens: 16_000}).preflight(history)
	const turn = 830
	if kept := len(decided(res, policy.Kept)); kept <= 1+12 {
		t.Errorf("%d messages are kept, no more than must be", kept)
	}
	if after := res.After.Total; after > res.Target || after < res.Target-turn-1500 {
		t.Errorf("%d tokens are left of a target of %d", after, res.Target)
	}
}

// The newest words of the user are not cut to reach the target, only to stay
// within the budget.
func TestNewestUserWordsMayExceedTheTarget(t *testing.T) {
	history := turns(20, 400)
	res := newRig(t, compact.Config{MaxContextTokens: 16_000}).preflight(history)
	if res.Summary == nil || res.After.Total > res.Target*5/4 || res.After.Total > res.Budget {
		t.Fatalf("%d tokens are left of a target of %d", res.After.Total, res.Target)
	}
	gone := decided(res, policy.Summarized)
	for _, i := range gone[max(len(gone)-20, 0):] {
		if m := history[i]; m.Role == message.RoleUser && !strings.Contains(res.Summary.Text, strings.TrimSpace(m.Text())) {
			t.Errorf("the words of message %d are not in the summary", i)
		}
	}
}

func TestKeepLast4Of10ToolPairs(t *testing.T) {
	history := loop(10, 200)
	history = append(history, turns(10, 400)[1:]...)
	res := newRig(t, compact.Config{MaxContextTokens: 10_000}).preflight(history)
	if !res.Triggered {
		t.Fatal("no compaction was triggered")
	}
	kept := map[int]bool{}
	for _, i := range decided(res, policy.Kept) {
		kept[i] = true
	}
	for i := range 10 {
		if call, want := 2+2*i, i >= 6; kept[call] != want || kept[call+1] != want {
			t.Errorf("pair %d: kept %v %v, want %v", i, kept[call], kept[call+1], want)
		}
	}
	paired(t, res.Messages)
}

func TestShrinkingKeepCountsDownTo1And1(t *testing.T) {
	res := newRig(t, compact.Config{MaxContextTokens: 8_000}).preflight(turns(20, 1000))
	if res.After.Total > res.Budget {
		t.Fatalf("%d tokens, budget %d", res.After.Total, res.Budget)
	}
	if kept := decided(res, policy.Kept); len(kept) != 1+2*2 {
		t.Errorf("kept %v; a window of 8k has room for two turns of 2000 tokens", kept)
	}
	res = newRig(t, compact.Config{MaxContextTokens: 5_200}).preflight(turns(20, 1000))
	if kept := decided(res, policy.Kept); len(kept) != 1+2 {
		t.Errorf("kept %v; a window of 5.2k has room for one turn", kept)
	}
}

func TestInsufficientBudgetNamesTheLargestAndLeavesTheHistory(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := append([]message.Message{message.System(text(7_000))}, turns(20, 100)[1:]...)
	before := bytesOf(history)
	res, err := r.Preflight(context.Background(), "s", history)
	var b *compact.BudgetError
	if !errors.Is(err, compact.ErrInsufficientBudget) || !errors.As(err, &b) {
		t.Fatalf("got %v, want ErrInsufficientBudget", err)
	}
	if bytesOf(res.Messages) != before || bytesOf(history) != before {
		t.Error("the returned history differs from the given one")
	}
	if b.Largest[0].Index != 0 || !strings.Contains(err.Error(), "Protect fewer messages") {
		t.Errorf("no guidance: %v, want an error with %q", err, "Protect fewer messages")
	}
	events := r.named(trace.NameError)
	if len(events) != 1 || events[0].Status != trace.StatusError || !strings.Contains(events[0].Data.String(), `"error_type":"InsufficientBudget"`) {
		t.Fatalf("event %v", events)
	}
	p := dataOf[trace.Error](t, events[0])
	if p.Tokens != b.Tokens || p.Budget != b.Budget || p.Tokens <= p.Budget || p.Largest[0].Tokens != b.Largest[0].Tokens {
		t.Errorf("the event says %d tokens in %d, the error %d in %d", p.Tokens, p.Budget, b.Tokens, b.Budget)
	}
}

func TestViewHasPinnedMessagesThenSummaryThenRecentOnes(t *testing.T) {
	history := turns(20, 400)
	history[7] = message.Developer("Never push to main.")
	res, err := newRig(t, compact.Config{MaxContextTokens: 16_000}).ManualCompact(context.Background(), "s", history, "")
	if err != nil {
		t.Fatal(err)
	}
	var layers []string
	for _, m := range res.Messages {
		switch {
		case m.Role == message.RoleSystem || m.Role == message.RoleDeveloper:
			layers = append(layers, "pinned")
		case policy.IsSummary(m):
			layers = append(layers, "summary")
		default:
			layers = append(layers, "recent")
		}
	}
	want := "pinned pinned summary" + strings.Repeat(" recent", 12)
	if got := strings.Join(layers, " "); got != want {
		t.Errorf("order is %q, want %q", got, want)
	}
}

func TestRollingSummaryIsOneWithARisingVersion(t *testing.T) {
	for _, kept := range []bool{false, true} {
		r := newRig(t, compact.Config{MaxContextTokens: 16_000})
		history := turns(18, 400)
		for version := 1; version <= 5; version++ {
			res := r.preflight(history)
			if got := summaries(res.Messages); !res.Triggered || len(got) != 1 || got[0] != version {
				t.Fatalf("kept %v, compaction %d: triggered %v, summaries %v, want true", kept, version, res.Triggered, got)
			}
			if kept {
				history = res.Messages
			}
			history = append(history, turns(12, 400)[1:]...)
		}
	}
}

// If the budget is below the trigger's share of the window, the budget triggers.
func TestReasonNamesTheLimitThatWasReached(t *testing.T) {
	for window, want := range map[int]string{8_000: trace.ReasonBudget, 20_000: trace.ReasonUsage} {
		r := newRig(t, compact.Config{MaxContextTokens: window})
		res := r.preflight(turns(100, 400))
		if !res.Triggered || res.Reason != want {
			t.Errorf("window %d, trigger %d, budget %d: %q, want %q", window, res.Trigger, res.Budget, res.Reason, want)
		}
	}
}
