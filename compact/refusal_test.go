package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// wires are the formats that a conversation is rendered for.
var wires = map[provider.Wire]string{
	provider.Chat: "openai", provider.Responses: "responses", provider.Anthropic: "anthropic", provider.Gemini: "gemini",
}

// onWire returns a conversation as a request of a provider.
func onWire(t testing.TB, w provider.Wire, seed uint64, history []message.Message) wire.Request {
	t.Helper()
	var rows []render.Row
	for _, m := range history {
		var r render.Row
		if err := json.Unmarshal(openai.Wire.AppendMessage(nil, m), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	f, ok := formats.Lookup(wires[w])
	if !ok {
		t.Fatalf("no wire %s", w)
	}
	req, err := f.ParseRequest(render.New(w, seed, rows).Body(len(rows)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// No call panics if the setting of pinned roles has the assistant, or lacks the role of
// the first message.
func TestUnprunableRolesPanicNoCall(t *testing.T) {
	for _, roles := range [][]message.Role{{"assistant"}, {"assistant", "system"}, {"user"}, {"tool"}, {"user", "assistant", "tool"}, {"developer"}, {}} {
		c, err := compact.Preset("graduated")
		if err != nil {
			t.Fatal(err)
		}
		c.MaxContextTokens, c.Policy.RolesNeverPrune = 24_000, roles
		r := newRig(t, c)
		history := turns(60, 200)
		for range 3 {
			res, err := r.Preflight(context.Background(), "s", history)
			if err != nil && !strings.Contains(err.Error(), "insufficient budget") {
				t.Fatalf("%v: %v, want no error or an insufficient budget", roles, err)
			}
			if n := len(summaries(res.Messages)); n > 1 {
				t.Errorf("%v: %d summaries, want at most 1", roles, n)
			}
			history = append(res.Messages, turns(20, 200)[1:]...)
		}
	}
}

func TestFirstMessageStaysWhateverTheRoleSetting(t *testing.T) {
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens, c.Policy.RolesNeverPrune = 10_000, []message.Role{"developer"}
	r := newRig(t, c)
	history := turns(50, 200)
	history = append(history, message.User("Go on."))
	res, err := r.Preflight(context.Background(), "s", history, compact.WithRequest(onWire(t, provider.Chat, 1, history)))
	if err != nil || res.SummarizedCount == 0 || res.Messages[0].Role != message.RoleSystem || !strings.Contains(res.Messages[0].Text(), "Be brief") {
		t.Errorf("%v, %d summarized, %v", err, res.SummarizedCount, res.Warnings)
	}
}

func TestPresetsRefuseEquallyOnEveryWire(t *testing.T) {
	history := loop(30, 300)
	for i := range 10 {
		history = append(history, message.Assistant(fmt.Sprintf("Done %d. %s", i, text(100))), message.User(fmt.Sprintf("Next, part %d. %s", i, text(50))))
		history = append(history, round(30+i, 200)...)
	}
	history = append(history, message.User("And now?"))
	for _, preset := range compact.Presets() {
		for w := range wires {
			for k := range samples.Of(4) {
				c, _ := compact.Preset(preset)
				c.MaxContextTokens = 7_000 + 1_500*k
				if preset == "history-reducer" {
					c.MaxContextTokens = 3_000 + 6_000*k
				}
				r := newRig(t, c)
				req := onWire(t, w, uint64(k), history)
				_, err := r.Preflight(context.Background(), "s", req.Messages(), compact.WithRequest(req))
				if err != nil && preset != "masking" { // masking removes only results, so it may fail
					t.Errorf("%s, %s, window %d: %v", preset, w, c.MaxContextTokens, err)
				}
			}
		}
	}
}

func TestSummaryStaysAfterTheSystemPrompt(t *testing.T) {
	c, _ := compact.Preset("summarize")
	c.MaxContextTokens = 8_000
	r := newRig(t, c)
	history := turns(40, 200)
	res := r.preflight(history)
	if len(summaries(res.Messages)) != 1 {
		t.Fatal("nothing was summarized")
	}
	// The agent keeps the view, and its newest question is large.
	last := len(res.Messages) - 2
	kept := append(append([]message.Message(nil), res.Messages[:2]...), res.Messages[last:]...)
	for i := range 40 {
		history := append(append([]message.Message(nil), kept...), message.User(text(4000+60*i)))
		res, err := r.Preflight(context.Background(), "s", history)
		if err == nil && res.Messages[0].Role != message.RoleSystem {
			t.Fatalf("%d: %s first", i, res.Messages[0].Role)
		}
		if err == nil && policy.IsSummary(res.Messages[0]) {
			t.Fatalf("the summary comes first")
		}
	}
}

func TestSummaryAboveALoweredLimitIsNoRefusal(t *testing.T) {
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens = 16_000
	c.Archive = nil
	large := newRig(t, c)
	res := large.preflight(turns(60, 300))
	if len(summaries(res.Messages)) != 1 {
		t.Fatal("nothing was summarized")
	}
	var sum message.Message
	for _, m := range res.Messages {
		if policy.IsSummary(m) {
			sum = m
		}
	}
	for k := range 30 {
		c, _ = compact.Preset("graduated")
		c.MaxContextTokens, c.Summarizer.MaxTokens = 4_000, 200
		small := newRig(t, c)
		history := []message.Message{message.System("Be brief."), sum, message.User(text(700 + 50*k)), message.Assistant("Yes."), message.User("Go on.")}
		if _, err := small.Preflight(context.Background(), "s", history); err != nil {
			t.Errorf("%d: %v", k, err)
		}
	}
}

func TestReserveShrinksBeforeACallIsRefused(t *testing.T) {
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens = 45_000
	r := newRig(t, c)
	history := []message.Message{message.System(text(24_000)), message.User("Fix it.")}
	res, err := r.Preflight(context.Background(), "s", history, compact.WithMaxOutput(32_000))
	if err != nil {
		t.Fatal(err)
	}
	if bytesOf(res.Messages) != bytesOf(history) || !strings.Contains(strings.Join(res.Warnings, " "), "answer") {
		t.Errorf("warnings %q", res.Warnings)
	}
	if want := 45_000 - 1_500 - 1_024; res.Budget != want { // the window without the buffer, and without the smallest reserve for an answer
		t.Errorf("the budget is %d, want %d", res.Budget, want)
	}
}

func TestWindowsNearTwoThousandTokensAreEnough(t *testing.T) {
	for _, window := range []int{1_600, 2_000, 2_500, 3_000} {
		c, _ := compact.Preset("graduated")
		c.MaxContextTokens = window
		r := newRig(t, c)
		history := []message.Message{message.System("Be brief."), message.User("Hi.")}
		if _, err := r.Preflight(context.Background(), "s", history, compact.WithMaxOutput(32_000)); err != nil {
			t.Errorf("window %d: %v", window, err)
		}
	}
}

// The last messages begin with a message of the model, which some wires refuse.
func TestFallbackContinuesToACutThatTheWireAllows(t *testing.T) {
	history := turns(2, 50)
	for i := range 10 {
		history = append(history, message.User(fmt.Sprintf("Next, part %d. %s", i, text(50))))
		history = append(history, round(30+i, 600)...)
		history = append(history, message.Assistant(fmt.Sprintf("Done %d. %s", i, text(100))))
	}
	history = append(history, message.User("And now?"))
	for w := range wires {
		for k := range 4 {
			c, _ := compact.Preset("graduated")
			c.MaxContextTokens, c.Policy.Stages, c.Policy.KeepRecentMessages = 3_500+300*k, []string{"fallback", "squeeze"}, 4
			req := onWire(t, w, uint64(k), history)
			res, err := newRig(t, c).Preflight(context.Background(), "s", req.Messages(), compact.WithRequest(req))
			if err != nil || res.DroppedCount == 0 {
				t.Errorf("%s, window %d: %v, %d dropped", w, c.MaxContextTokens, err, res.DroppedCount)
			}
		}
	}
}

// addUp returns the sums of an error's list: tokens and messages.
func addUp(over *compact.BudgetError) (tokens, messages int) {
	tokens = over.Fixed
	for _, l := range over.Largest {
		tokens, messages = tokens+l.Tokens, messages+1
	}
	for _, s := range over.Others {
		tokens, messages = tokens+s.Tokens, messages+s.Messages
	}
	return tokens, messages
}

// The error of a call that is refused before any stage ran lists only the messages that
// must stay.
func TestBudgetErrorOfTheFloorAddsUp(t *testing.T) {
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens = 8_000
	history := append([]message.Message{message.System(text(9_000))}, loop(30, 200)...)
	_, err := newRig(t, c).Preflight(context.Background(), "s", history)
	var over *compact.BudgetError
	if !errors.As(err, &over) {
		t.Fatal(err)
	}
	if sum, named := addUp(over); sum != over.Tokens || named >= len(history) || over.Tokens <= over.Budget {
		t.Errorf("%d of %d tokens, %d of %d messages: %v, want more than %d", sum, over.Tokens, named, len(history), err, over.Budget)
	}
}

func TestBudgetErrorAddsUpAndItsAdviceHelps(t *testing.T) {
	c, _ := compact.Preset("masking")
	c.MaxContextTokens = 8_000
	history := append(turns(60, 100), message.User("Go on."))
	_, err := newRig(t, c).Preflight(context.Background(), "s", history)
	var over *compact.BudgetError
	if !errors.As(err, &over) {
		t.Fatal(err)
	}
	if sum, named := addUp(over); sum != over.Tokens || named != len(history) {
		t.Errorf("%d of %d tokens, %d of %d messages: %v", sum, over.Tokens, named, len(history), err)
	}
	if !strings.Contains(err.Error(), "messages that no stage of preset masking may remove") || !strings.Contains(err.Error(), "dd summarize") {
		t.Errorf("%v, want an error with %q and an error with %q", err, "messages that no stage of preset masking may remove", "dd summarize")
	}
	c.Policy.Stages = append(c.Policy.Stages, "summarize", "shrink")
	if _, err := newRig(t, c).Preflight(context.Background(), "s", history); err != nil {
		t.Errorf("with the advised stages: %v", err)
	}
}

// For all configured stages, the stages that an error advises make the view fit, and no
// advised stage is unnecessary. If the error advises no stages, no stages would help.
func TestStagesAdvisedByARefusalHelp(t *testing.T) {
	all := []string{"truncate", "mask", "summarize", "shrink", "squeeze"}
	large := func(rounds, size int) []message.Message { return append(loop(2, 50), loop(rounds, size)[1:]...) }
	refused := map[string]int{}
	for name, history := range map[string][]message.Message{
		"many turns": append(turns(30, 100), message.User("Go on.")), "few large results": large(4, 3_000), "many results in one turn": large(30, 300),
		"a long system prompt": append([]message.Message{message.System(text(5_000))}, loop(15, 200)...), "large turns": turns(12, 700), "both": append(turns(20, 150), large(3, 3_000)[1:]...),
	} {
		known := map[string]*compact.BudgetError{} // by set of stages, because many sets occur again
		refusalOf := func(stages []string) *compact.BudgetError {
			key := strings.Join(stages, " ")
			over, ok := known[key]
			if !ok {
				over = refusalOf(t, history, stages)
				known[key] = over
			}
			return over
		}
		for bits := 1; bits < 1<<len(all); bits++ {
			var stages []string
			for i, s := range all {
				if bits&(1<<i) != 0 {
					stages = append(stages, s)
				}
			}
			over := refusalOf(stages)
			if over == nil {
				continue
			}
			advised, found := strings.CutPrefix(over.Advice[0], "add ")
			if !found {
				refused["all"]++
				if refusalOf(all) == nil {
					t.Errorf("%s, %v: all stages would suffice, and the error is %q", name, stages, over.Advice)
				}
				continue
			}
			add := strings.Split(strings.TrimSuffix(advised, " to policy.stages"), " and ")
			refused[strings.Join(add, "+")]++
			if again := refusalOf(append(slices.Clone(stages), add...)); again != nil {
				t.Errorf("%s, %v: with %v too: %v, want none", name, stages, add, again)
			}
			for i := range add {
				if less := slices.Delete(slices.Clone(add), i, i+1); refusalOf(append(slices.Clone(stages), less...)) == nil {
					t.Errorf("%s, %v: %v would do, of %v", name, stages, less, add)
				}
			}
		}
	}
	for _, kind := range []string{"all", "squeeze", "summarize", "shrink", "summarize+shrink"} {
		if refused[kind] == 0 {
			t.Errorf("%s is never advised: %v", kind, refused)
		}
	}
}

// refusalOf returns why a history can't be sent, nil if it can.
func refusalOf(t *testing.T, history []message.Message, stages []string) *compact.BudgetError {
	t.Helper()
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens, c.Policy.Stages = 5_000, stages
	_, err := newRig(t, c).Plan(t.Context(), "s", history)
	var over *compact.BudgetError
	if err != nil && !errors.As(err, &over) {
		t.Fatal(err)
	}
	return over
}
