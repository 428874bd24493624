package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
)

// markedTalk returns a request of a given number of rounds. One of the results has a mark.
// If where is "prompt" or "task", the system prompt or the task has a mark, too.
func markedTalk(rounds, at int, where string) []byte {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	var b strings.Builder
	front, first := "", ""
	switch where {
	case "prompt":
		front = mark
	case "task":
		first = mark
	}
	fmt.Fprintf(&b, `{"model":"claude-sonnet-4-5","max_tokens":9,"system":[{"type":"text","text":%q%s}],"messages":[{"role":"user","content":[{"type":"text","text":"go"%s}]}`,
		strings.Repeat("Look before you leap. ", 900), front, first)
	for i := range rounds {
		on := ""
		if i == at {
			on = mark
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"n":%d}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q%s}]}`, i, strings.Repeat("a line of code; ", 400), on)
	}
	return []byte(b.String() + `]}`)
}

// The part that the provider keeps cached ends at a mark before the edit: for a
// cut after a prompt without a mark, the whole prompt is paid for.
func TestCandidatesFollowTheCacheMarks(t *testing.T) {
	fixed := func(marks, where string, opts ...compact.Option) float64 {
		m, err := compact.New(context.Background(), compact.Config{
			Preset: "economy", MaxContextTokens: 200_000, Archive: memory.New(), Cache: compact.CacheConfig{Marks: marks},
			Tidy: policy.TidyConfig{Wait: time.Hour}, // all calls reduce the results, however busy the machine is
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		var res *compact.Result
		for _, rounds := range []int{20, 21} {
			req, err := anthropic.Wire.ParseRequest(markedTalk(rounds, rounds-1, where), nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err = m.Preflight(context.Background(), "s", req.Messages(), append(opts, compact.WithRequest(req))...); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range res.Candidates {
			if c.Cut {
				return c.FixedUSD
			}
		}
		t.Fatalf("%s: no candidate: %+v", marks, res.Reason)
		return 0
	}
	held, bare, auto := fixed("keep", "prompt"), fixed("keep", ""), fixed("auto", "")
	if bare <= held || auto != held {
		t.Errorf("a cut costs %v after a marked prompt, %v after an unmarked one, %v with automatic marks", held, bare, auto)
	}
	// The tools are at the front of the prompt, too, but no mark is at their end.
	definition := strings.Repeat("Reads one file, and says how many lines it has. ", 400)
	tools := []byte(fmt.Sprintf(`[{"name":"read","description":%q,"input_schema":{}}]`, definition))
	if tooled, marked := fixed("keep", "", compact.WithTools(tools)), fixed("auto", "", compact.WithTools(tools)); tooled-bare < 1000*3e-6 || marked >= tooled {
		t.Errorf("a cut costs %v behind tools without a mark, %v without them, %v where we mark the prompt behind them", tooled, bare, marked)
	}
	if task := fixed("keep", "task"); task > held { // the mark ends right where the cut begins
		t.Errorf("a cut costs %v after a marked task, %v after a marked prompt before it", task, held)
	}
}

// With automatic marks the provider keeps the summary cached, too: a mask after it rewrites
// less than after a marked prompt alone.
func TestCandidatesFollowTheMarkOfTheSummary(t *testing.T) {
	fixed := func(marks, where string) float64 {
		m, err := compact.New(t.Context(), compact.Config{
			Preset: "economy", MaxContextTokens: 200_000, Archive: memory.New(), Cache: compact.CacheConfig{Marks: marks},
			Tidy: policy.TidyConfig{Wait: time.Hour},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		var res *compact.Result
		for _, rounds := range []int{12, 24, 25} {
			req, err := anthropic.Wire.ParseRequest(markedTalk(rounds, -1, where), nil)
			if err != nil {
				t.Fatal(err)
			}
			call := func() (*compact.Result, error) {
				return m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req))
			}
			if rounds == 12 {
				call = func() (*compact.Result, error) {
					return m.ManualCompact(t.Context(), "s", req.Messages(), "", compact.WithRequest(req))
				}
			}
			if res, err = call(); err != nil || res.Summary == nil {
				t.Fatalf("%s: no summary after %d rounds: %v", marks, rounds, err)
			}
		}
		for _, c := range res.Candidates {
			if !c.Cut {
				return c.FixedUSD
			}
		}
		t.Fatalf("%s: no candidate without a cut: %s, %+v", marks, res.Reason, res.Candidates)
		return 0
	}
	if held, auto := fixed("keep", "prompt"), fixed("auto", ""); auto >= held {
		t.Errorf("a mask costs %v with automatic marks, %v after a marked prompt", auto, held)
	}
}

// A provider whose cache needs marks bills a request without one at the plain price of its
// input: nothing is written into a cache, and nothing is read from it.
func TestARequestWithoutMarksIsEstimatedAtThePriceOfItsInput(t *testing.T) {
	for name, c := range map[string]struct {
		marks string
		body  []byte
		plain bool
	}{
		"no mark":            {"keep", markedTalk(8, -1, ""), true},
		"a mark in a result": {"keep", markedTalk(8, 7, ""), false},
		"a mark of a prompt": {"keep", markedTalk(8, -1, "prompt"), false},
		"a mark for all":     {"keep", bytes.Replace(markedTalk(8, -1, ""), []byte(`"max_tokens"`), []byte(`"cache_control":{"type":"ephemeral"},"max_tokens"`), 1), false},
		"a mark of a tool":   {"keep", bytes.Replace(markedTalk(8, -1, ""), []byte(`"max_tokens"`), []byte(`"tools":[{"name":"read","input_schema":{},"cache_control":{"type":"ephemeral"}}],"max_tokens"`), 1), true}, // too short for the cache
		"marks that we set":  {"auto", markedTalk(8, -1, ""), false},
	} {
		m, err := compact.New(t.Context(), compact.Config{Prices: sonnet, MaxContextTokens: 200_000, Archive: memory.New(), Cache: compact.CacheConfig{Marks: c.marks}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := anthropic.Wire.ParseRequest(c.body, nil)
		if err != nil {
			t.Fatal(err)
		}
		for call := range 2 {
			res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req))
			if err != nil {
				t.Fatal(err)
			}
			b := res.Bill
			if plain := b.Estimated == (price.Usage{Fresh: res.After.Total}) && b.Whole == (price.Usage{Fresh: res.TokensIn}); plain != c.plain {
				t.Errorf("%s, call %d: estimated %+v, whole %+v", name, call, b.Estimated, b.Whole)
			}
			if want := float64(res.After.Total) * 3e-6; c.plain && math.Abs(b.EstimatedUSD-want) > 1e-9 {
				t.Errorf("%s, call %d: $%v for %d tokens", name, call, b.EstimatedUSD, res.After.Total)
			}
			m.Observe(res, compact.Usage{PromptTokens: res.After.Total}) // the provider reports no cache
			if got, want := m.Bill().MeasuredUSD, m.Bill().EstimatedUSD; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, call %d: $%v measured, $%v estimated", name, call, got, want)
			}
		}
		// A gateway can set marks on the way.
		if res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req)); err != nil {
			t.Fatal(err)
		} else {
			m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, CachedTokens: res.After.Total / 2})
		}
		if res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req)); err != nil || res.Bill.Estimated.Cached == 0 {
			t.Errorf("%s: an answer with cached tokens, and the next call is estimated without: %v %+v", name, err, res.Bill.Estimated)
		}
		_ = m.Close(context.Background())
	}
}
