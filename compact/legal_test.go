package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// ruled is a request to a provider with one rule of the test's own.
type ruled struct {
	wire.Request
	msgs  []message.Message
	about wire.About
	check func(view []message.Message, sources []int) []wire.Violation
}

func (r *ruled) Messages() []message.Message { return r.msgs }
func (r *ruled) About() wire.About           { return r.about }
func (r *ruled) Format() wire.Format         { return namedWire{} }
func (r *ruled) Check(view []message.Message, sources []int) []wire.Violation {
	if r.check == nil {
		return nil
	}
	return r.check(view, sources)
}

type namedWire struct{ wire.Format }

func (namedWire) Name() string { return "strict" }

func TestViewThatTheProviderWouldRefuseIsNotReturned(t *testing.T) {
	history := turns(50, 200)
	noSummary := func(view []message.Message, _ []int) (out []wire.Violation) {
		for i, m := range view {
			if policy.IsSummary(m) {
				out = append(out, wire.Violation{Check: "no_summaries", Index: i, Detail: "the provider takes none"})
			}
		}
		return out
	}
	free := newRig(t, compact.Config{MaxContextTokens: 16_000}).preflight(history)
	if free.SummarizedCount == 0 {
		t.Fatal("without the rule nothing is summarized: the test proves nothing")
	}

	r := newRig(t, compact.Config{MaxContextTokens: 24_000})
	res, err := r.Preflight(context.Background(), "s", history, compact.WithRequest(&ruled{msgs: history, check: noSummary}))
	if err != nil || res.SummarizedCount > 0 || bytesOf(res.Messages) != bytesOf(history) {
		t.Fatalf("%v, %d summarized; want the unchanged history", err, res.SummarizedCount)
	}
	if res.InvariantStatus != compact.InvariantsFallback || !strings.Contains(strings.Join(res.Warnings, " "), "no_summaries") {
		t.Errorf("status %s, warnings %q: want the rule named", res.InvariantStatus, res.Warnings)
	}
	var told bool
	for _, e := range r.named("compact.error") {
		told = told || strings.Contains(string(e.AppendJSON(nil)), "no_summaries")
	}
	if !told {
		t.Error("no event names the rule")
	}

	// If the history can't be sent either, the error says so, and the history
	// is returned.
	small := newRig(t, compact.Config{MaxContextTokens: 10_000})
	res, err = small.Preflight(context.Background(), "s", history, compact.WithRequest(&ruled{msgs: history, check: noSummary}))
	if !errors.Is(err, compact.ErrInsufficientBudget) || bytesOf(res.Messages) != bytesOf(history) {
		t.Errorf("%v: want insufficient budget, and the unchanged history", err)
	}
	for i, src := range res.Sources {
		if src != i || len(res.Sources) != len(res.Messages) {
			t.Fatalf("the sources of the unchanged history are %v", res.Sources)
		}
	}
}

func TestRuleBrokenByTheRequestItselfStopsNothing(t *testing.T) {
	history := turns(50, 200)
	always := func([]message.Message, []int) []wire.Violation {
		return []wire.Violation{{Check: "pairing", ID: "call_7", Detail: "broken before"}}
	}
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	if res := r.preflight(history, compact.WithRequest(&ruled{msgs: history, check: always})); res.SummarizedCount == 0 || res.InvariantStatus != compact.InvariantsOK {
		t.Errorf("%d summarized, status %s, want %s", res.SummarizedCount, res.InvariantStatus, compact.InvariantsOK)
	}
}

// Edits of an earlier step that are illegal on the history's current wire are
// left out, and the same history has the same view from then on.
func TestInvalidatedEditsAreLeftOut(t *testing.T) {
	history := turns(50, 200)
	r := newRig(t, compact.Config{MaxContextTokens: 24_000})
	if res := r.preflight(history); res.SummarizedCount == 0 {
		t.Fatal("nothing was summarized")
	}
	noMade := func(_ []message.Message, sources []int) (out []wire.Violation) {
		for i, src := range sources {
			if src < 0 {
				out = append(out, wire.Violation{Check: "nothing_made", ID: fmt.Sprint(i)})
			}
		}
		return out
	}
	for range 2 {
		res := r.preflight(history, compact.WithRequest(&ruled{msgs: history, check: noMade}))
		if bytesOf(res.Messages) != bytesOf(history) || len(res.Warnings) == 0 || res.InvariantStatus != compact.InvariantsFallback {
			t.Fatalf("%d messages of %d, warnings %q, status %s, want %s", len(res.Messages), len(history), res.Warnings, res.InvariantStatus, compact.InvariantsFallback)
		}
	}
	wide := newRig(t, compact.Config{MaxContextTokens: 100_000, Archive: r.archive}) // nothing is due
	if res := wide.preflight(history, compact.WithRequest(&ruled{msgs: history, check: noMade})); res.Triggered || res.InvariantStatus != compact.InvariantsFallback || len(res.Warnings) != 1 {
		t.Errorf("in a larger window: triggered %v, status %s, warnings %q", res.Triggered, res.InvariantStatus, res.Warnings)
	}
	if res := r.preflight(history); res.SummarizedCount == 0 || res.Triggered {
		t.Error("without the rule the edits don't apply any more")
	}
}

func TestRequestHasModelToolsAndAnswerLength(t *testing.T) {
	history := loop(3, 10)
	tools := json.RawMessage(`[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object"}}}]`)
	r := newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000})
	req := &ruled{msgs: history, about: wire.About{Model: "gpt-4", Tools: tools, MaxOutput: 2_000}}
	res := r.preflight(history, compact.WithRequest(req))
	if res.Model != "gpt-4" || res.Before.ToolsSchema == 0 || res.Budget != 12_500 && res.Budget != 8_192-1_500-2_000 {
		t.Errorf("model %s, %d tokens of tools, budget %d", res.Model, res.Before.ToolsSchema, res.Budget)
	}
	res = r.preflight(history, compact.WithRequest(req), compact.WithModel("gpt-4o"), compact.WithMaxOutput(1_000), compact.WithTools(json.RawMessage(`[]`)))
	if res.Model != "gpt-4o" || res.Budget != 13_500 {
		t.Errorf("model %s, budget %d: want the options' values", res.Model, res.Budget)
	}
}

func TestHistoryOfAnotherRequestIsAnError(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	res, err := r.Preflight(context.Background(), "s", loop(3, 10), compact.WithRequest(&ruled{msgs: loop(2, 10)}))
	if err == nil || !strings.Contains(err.Error(), "WithRequest") || len(res.Messages) != 8 {
		t.Errorf("%v, %d messages; want an error, an error with %q and 8", err, len(res.Messages), "WithRequest")
	}
}

// If an implementation of wire.Request has a bug, the history is sent
// unchanged, and the agent continues.
func TestRequestThatPanicsLeavesTheHistory(t *testing.T) {
	history := turns(50, 200)
	r := newRig(t, compact.Config{MaxContextTokens: 24_000})
	broken := func([]message.Message, []int) []wire.Violation { panic("no rules here") }
	res := r.preflight(history, compact.WithRequest(&ruled{msgs: history, check: broken}))
	if bytesOf(res.Messages) != bytesOf(history) || !strings.Contains(strings.Join(res.Warnings, " "), "no rules here") {
		t.Errorf("%d messages of %d, warnings %q", len(res.Messages), len(history), res.Warnings)
	}
}
