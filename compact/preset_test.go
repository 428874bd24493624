package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// preset returns a manager of a preset, with the cost of its messages.
func preset(t *testing.T, name string, c compact.Config) (*rig, *token.Estimator) {
	t.Helper()
	c.Preset = name
	if name == "history-reducer" {
		return newRig(t, c), token.NewCharsEstimator()
	}
	return newRig(t, c), token.NewGatewayEstimator()
}

func results(view []message.Message) (texts []string) {
	for _, m := range view {
		if m.Has(message.KindToolResult) {
			texts = append(texts, m.ResultText())
		}
	}
	return texts
}

func TestGatewayMasksAllButTheFirstTwoAndTheLastFiveResultsOfALoop(t *testing.T) {
	r, cost := preset(t, "gateway", compact.Config{})
	history := loop(12, 300)
	res := r.preflight(history)
	if res.Reason != trace.ReasonEveryCall || res.MaskedCount != 5 || res.ReductionStage != compact.ReductionMasking {
		t.Fatalf("%s, %d masked, %s; want 12 - 2 - 5 masked at the first call", res.Reason, res.MaskedCount, res.ReductionStage)
	}
	for i, text := range results(res.Messages) {
		want := history[3+2*i].ResultText()
		if i >= 2 && i < 7 {
			want = fmt.Sprintf("[result masked — ~%d tokens removed]", cost.Message(history[3+2*i]))
		}
		if text != want {
			t.Errorf("result %d is %.60q, want %.60q", i, text, want)
		}
	}
	if again := r.preflight(history); again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) {
		t.Errorf("the same history gave a different view, step %d", again.Step)
	}
	// One more result removes one old result; a new request begins a loop of its
	// own.
	history = append(history, round(12, 300)...)
	if res = r.preflight(history); res.MaskedCount != 6 || !res.Triggered || res.Step != 0 {
		t.Errorf("%d masked in step %d, want 6 and no step before the batch is full", res.MaskedCount, res.Step)
	}
	history = append(history, message.Assistant("Done."), message.User("And now module_b."))
	if res = r.preflight(append(history, round(13, 300)...)); res.MaskedCount != 6 || res.Triggered {
		t.Errorf("%d masked, triggered %v; masked results must stay masked, and the others be older than the request", res.MaskedCount, res.Triggered)
	}
}

func TestGatewayTruncatesAResultWhenItIsFirstSeen(t *testing.T) {
	r, _ := preset(t, "gateway", compact.Config{})
	history := loop(1, 0)
	huge := strings.Repeat("0123456789abcdef", 4000) // 64,000 bytes are 16,000 tokens
	history[3] = message.ToolResult("call_0", huge)
	res := r.preflight(history)
	want := huge[:32_000] + "\n\n[truncated: kept first ~8000 of ~16000 tokens (head)]"
	if got := results(res.Messages)[0]; got != want || res.TruncatedCount != 1 {
		t.Fatalf("%d truncated, %d bytes ending %q, want 1", res.TruncatedCount, len(got), got[len(got)-60:])
	}
	for i := range 9 {
		history = append(history, round(i+1, 10)...)
	}
	history[5] = message.ToolResult("call_1", huge)
	if got := results(r.preflight(history).Messages); got[0] != want || got[1] != want {
		t.Error("a truncated result changed")
	}
	history = append(history, round(10, 10)...)
	if got := results(r.preflight(history).Messages); got[0] != want || got[1] != want {
		t.Error("a truncated result changed in the next call")
	}
}

func TestGatewayStatesTheSizeOfTheOriginalInAMaskedTruncation(t *testing.T) {
	r, cost := preset(t, "gateway", compact.Config{})
	history := loop(8, 200)
	original := message.ToolResult("call_2", strings.Repeat("0123456789abcdef", 4000))
	history[7] = original
	first := r.preflight(history[:8])
	if first.TruncatedCount != 1 {
		t.Fatalf("%d truncated, want 1", first.TruncatedCount)
	}
	want := fmt.Sprintf("[result masked — ~%d tokens removed]", cost.Message(original))
	if got := results(r.preflight(history).Messages)[2]; got != want {
		t.Errorf("%.80q, want %q", got, want)
	}
	// The SDK that keeps the view has nothing but the truncated text.
	kept := append(append([]message.Message(nil), first.Messages...), history[8:]...)
	other, _ := preset(t, "gateway", compact.Config{})
	if got := results(other.preflight(kept).Messages)[2]; got != want {
		t.Errorf("in another session: %.80q, want %q", got, want)
	}
}

func TestGatewayKeepsTheNewestTwentyThousandTokensOfTheConversation(t *testing.T) {
	r, cost := preset(t, "gateway", compact.Config{})
	history := turns(30, 1000) // 60 messages of more than 1,250 tokens
	res := r.preflight(history)
	omitted, ok := policy.ParseNotice(res.Messages[1])
	if !ok || omitted != res.DroppedCount || omitted == 0 {
		t.Fatalf("second message %.60q, %d dropped", res.Messages[1].Text(), res.DroppedCount)
	}
	left := cost.Messages(res.Messages[2 : len(res.Messages)-1]) // messages after the last request are not part of the history
	oldest := cost.Message(history[omitted])
	if left > 20_000 || left+oldest <= 20_000 {
		t.Errorf("%d tokens of the conversation are left, %d more would fit", left, oldest)
	}
	if res.Triggered && res.Reason != trace.ReasonEveryCall || res.InvariantStatus != compact.InvariantsOK {
		t.Errorf("%s, %s, want %s", res.Reason, res.InvariantStatus, compact.InvariantsOK)
	}
	history = append(history, message.User("One more: "+text(4000)))
	next := r.preflight(history)
	more, ok := policy.ParseNotice(next.Messages[1])
	if !ok || more <= omitted || len(next.Messages)-2 != len(history)-1-more {
		t.Errorf("the notice has %d after %d; %d of %d messages are left", more, omitted, len(next.Messages), len(history))
	}
}

func TestGatewayDropsTheOldestIterationsAboveTheBudget(t *testing.T) {
	r, _ := preset(t, "gateway", compact.Config{MaxContextTokens: 10_000}) // B = 10,000 - 4,096 - 1,000
	history := loop(12, 500)                                               // the last five results alone have 3,200 tokens
	for i := range 4 {
		history = append(history, round(12+i, 800)...)
	}
	res := r.preflight(history)
	if res.Budget != 4_904 || res.Trigger != 4_905 || res.After.Total > res.Budget {
		t.Errorf("budget %d, trigger %d, %d tokens; want 4904 and 4905", res.Budget, res.Trigger, res.After.Total)
	}
	if res.DroppedCount == 0 || res.DroppedCount%2 != 0 {
		t.Errorf("%d dropped, want whole iterations", res.DroppedCount)
	}
	for _, m := range res.Messages {
		if _, notice := policy.ParseNotice(m); notice {
			t.Error("iterations go without a notice")
		}
	}
	if got := res.Messages[1].Text(); got != history[1].Text() {
		t.Errorf("the request is %q", got)
	}
	paired(t, res.Messages)
	if again := r.preflight(history); again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) {
		t.Error("the same history gave a different view")
	}
}

func TestGatewayRefusesOnlyRequestsThatCanNotFit(t *testing.T) {
	r, _ := preset(t, "gateway", compact.Config{MaxContextTokens: 10_000})
	history := loop(3, 300)
	history[1] = message.User(text(5000))
	_, err := r.Preflight(context.Background(), "s", history)
	if !errors.Is(err, compact.ErrInsufficientBudget) {
		t.Fatalf("a request of 6,250 tokens fits in 4,904: %v, want ErrInsufficientBudget", err)
	}
	// Twenty results of the newest round are squeezed to fit.
	var calls []message.Part
	for i := range 20 {
		calls = append(calls, message.Call(fmt.Sprint("c", i), "read", "{}"))
	}
	history = []message.Message{message.User("Read all."), message.Assistant("", calls...)}
	for i := range 20 {
		history = append(history, message.ToolResult(fmt.Sprint("c", i), text(700)))
	}
	if res := r.preflight(history); res.After.Total > res.Budget || res.TruncatedCount+res.MaskedCount != 20 {
		t.Errorf("%d tokens, %d truncated, %d masked, want at most %d", res.After.Total, res.TruncatedCount, res.MaskedCount, res.Budget)
	}
}

func TestGatewayKeepsTheMessagesOfItsWindow(t *testing.T) {
	r, _ := preset(t, "gateway", compact.Config{MaxContextTokens: 12_000}) // 2 * (12000/200) = 120 messages
	res := r.preflight(turns(80, 10))
	if omitted, ok := policy.ParseNotice(res.Messages[1]); !ok || omitted != 160-120 || len(res.Messages) != 2+120 {
		t.Errorf("%d messages left, the notice has %d", len(res.Messages), omitted)
	}
}

// reducer returns a manager of the preset history-reducer with a given number of characters.
func reducer(t *testing.T, chars int) (*rig, *token.Estimator) {
	t.Helper()
	return preset(t, "history-reducer", compact.Config{MaxContextTokens: chars})
}

func TestHistoryReducerDoesNothingUpToItsBudget(t *testing.T) {
	history := loop(20, 30)
	size := token.NewCharsEstimator().Messages(history)
	r, _ := reducer(t, size)
	if res := r.preflight(history); res.Triggered || len(res.Warnings) > 0 || res.Reason != trace.ReasonBelow {
		t.Errorf("triggered %v at exactly the budget: %s %v", res.Triggered, res.Reason, res.Warnings)
	}
	r, _ = reducer(t, size-1)
	if res := r.preflight(history); !res.Triggered || res.ReductionStage != compact.ReductionMasking || res.MaskedCount != 20-2 {
		t.Errorf("triggered %v above the budget: %s, %d masked; want all but the last 4 messages", res.Triggered, res.ReductionStage, res.MaskedCount)
	}
}

func TestHistoryReducerCountsCharactersAsItsSourceDoes(t *testing.T) {
	history := loop(4, 1)
	history[3] = message.ToolResult("call_0", strings.Repeat("😀", 100))
	r, cost := reducer(t, 200)
	if n := cost.Message(history[3]); n != 200 {
		t.Fatalf("%d units, want 200", n)
	}
	res := r.preflight(history)
	if got, want := results(res.Messages)[0], "[observation masked — 200 chars]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHistoryReducerSummarizesWithoutAModel(t *testing.T) {
	r, cost := reducer(t, 4_000)
	history := turns(20, 100)
	secret := "ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe"
	history[1] = message.User("Deploy with " + secret + " please.")
	res := r.preflight(history)
	if res.ReductionStage != compact.ReductionSummarization || res.After.Total > res.Budget || res.InvariantStatus != compact.InvariantsOK {
		t.Fatalf("%s, %d of %d characters, %s %v; want %s and %s", res.ReductionStage, res.After.Total, res.Budget, res.InvariantStatus, res.Warnings, compact.ReductionSummarization, compact.InvariantsOK)
	}
	summary := res.Messages[1]
	if _, body, ok := policy.ParseSummary(summary); !ok || !strings.HasPrefix(body, "Conversation summary (contract):\n- Objective: Deploy with ") {
		t.Errorf("summary %q", summary.Text())
	}
	if strings.Contains(summary.Text(), secret) {
		t.Error("the summary holds a secret")
	}
	if n := cost.Message(summary); n > 1400 {
		t.Errorf("a summary of %d characters, want at most 1400", n)
	}
	for i, m := range res.Messages[len(res.Messages)-4:] {
		if bytesOf([]message.Message{m}) != bytesOf(history[len(history)-4+i:len(history)-3+i]) {
			t.Errorf("message %d of the last 4 is not raw", i)
		}
	}
	if res.Summary == nil || res.Summary.Strategy != compat.ContractStrategy || res.Summary.Calls != 0 {
		t.Errorf("summary info %+v", res.Summary)
	}
	// The next summary continues this one.
	for i := range 20 {
		history = append(history, message.User(fmt.Sprint("Next ", i, text(60))), message.Assistant(text(60)))
	}
	res = r.preflight(history)
	version, body, _ := policy.ParseSummary(res.Messages[1])
	if version != 2 || !strings.Contains(body, "Objective: Deploy with ") || len(summaries(res.Messages)) != 1 {
		t.Errorf("version %d: %s, want 2 and text with %q", version, body, "Objective: Deploy with ")
	}
}

func TestHistoryReducerFallsBackToTheLastMessages(t *testing.T) {
	r, _ := reducer(t, 500)
	history := turns(20, 30)
	res := r.preflight(history)
	if res.ReductionStage != compact.ReductionFallback || res.InvariantStatus != compact.InvariantsFallback || res.After.Total > res.Budget {
		t.Fatalf("%s, %s, %d of %d characters; want %s and %s", res.ReductionStage, res.InvariantStatus, res.After.Total, res.Budget, compact.ReductionFallback, compact.InvariantsFallback)
	}
	if res.DroppedCount+res.KeptCount != len(history) || len(res.Messages) < 2 || len(res.Messages) > 5 {
		t.Errorf("%d dropped, %d kept, %d left; want at least 2 and at most 5", res.DroppedCount, res.KeptCount, len(res.Messages))
	}
	errs := r.named(trace.NameError)
	if len(errs) != 1 || !strings.Contains(errs[0].Data.String(), `"fallback":"pruning-only"`) {
		t.Errorf("events %v", errs)
	}
}

func TestHistoryReducerRefusesAWindowBelowOne(t *testing.T) {
	c, err := compact.Preset("history-reducer")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, -3} {
		c.Policy.KeepRecentMessages = n
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "keep_recent_messages") {
			t.Errorf("%d: %v, want an error with %q", n, err, "keep_recent_messages")
		}
	}
}

// The rule for the default preset also holds for these presets: for each way in which
// an SDK uses the result, the view is the same, byte for byte.
func TestPresetViewsDoNotDependOnTheSDK(t *testing.T) {
	for name, c := range map[string]compact.Config{
		"gateway":         {MaxContextTokens: 8_000},
		"history-reducer": {MaxContextTokens: 4_000},
	} {
		t.Run(name, func(t *testing.T) {
			c.Archive = memory.New()
			first, _ := preset(t, name, c)
			history := parse(t, loop(10, 200))
			kept := history
			compactions := 0
			for n := range 14 {
				res := first.preflight(history)
				if res.Triggered {
					compactions++
				}
				same := func(how string, view []message.Message) {
					t.Helper()
					if got, want := bytesOf(view), bytesOf(res.Messages); got != want {
						t.Fatalf("call %d: %s: the view differs:\n%.1500s\nwant\n%.1500s", n, how, got, want)
					}
				}
				restarted, _ := preset(t, name, c)
				same("thrown away", first.preflight(history).Messages)
				same("kept", first.preflight(res.Messages).Messages)
				same("kept since the start", first.preflight(kept).Messages)
				same("restarted", restarted.preflight(history).Messages)
				same("restarted and kept", restarted.preflight(res.Messages).Messages)
				more := parse(t, append(round(100+n, 150), message.Assistant("Next."), message.User(fmt.Sprintf("Go on with %d.", n))))
				if n%3 != 2 {
					more = more[:2]
				}
				kept = append(append([]message.Message(nil), res.Messages...), more...)
				history = append(history, more...)
			}
			if compactions < 4 {
				t.Errorf("only %d compactions: the test shows little, want at least 4", compactions)
			}
		})
	}
}
