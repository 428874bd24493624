package compact_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// agentTalk returns a session of a given number of rounds of about a thousand tokens each.
func agentTalk(rounds int) []message.Message {
	msgs := []message.Message{message.System("Fix bugs."), message.User("fix the parser")}
	for i := range rounds {
		id := string(rune('a' + i))
		msgs = append(msgs, message.Assistant("", message.Call(id, "read", `{"path":"parser.go"}`)), message.ToolResult(id, strings.Repeat("a line of code; ", 250)))
	}
	return msgs
}

func agentManager(t *testing.T) *compact.CompactManager {
	t.Helper()
	m, err := compact.New(context.Background(), compact.Config{
		Preset: "summarize", Model: "gpt-4o", MaxContextTokens: 16_000, Archive: memory.New(), Summarizer: compact.SummarizerConfig{Backend: "agent"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// A manager without a transport has no request to extend: it reports this once.
func TestAgentsOwnModelWithoutATransportIsReportedOnce(t *testing.T) {
	m := agentManager(t)
	said := 0
	for _, rounds := range []int{2, 14, 15, 25} {
		res, err := m.Preflight(context.Background(), "s", agentTalk(rounds))
		if err != nil {
			t.Fatal(err)
		}
		if rounds >= 14 && (res.Summary == nil && res.Replayed == 0 || res.Summary != nil && res.Summary.Backend != summarize.BackendExtractive) {
			t.Fatalf("%d rounds: the summary is %+v", rounds, res.Summary)
		}
		said += strings.Count(strings.Join(res.Warnings, "\n"), "this call has none")
	}
	if said != 1 {
		t.Errorf("the missing request is reported %d times, want 1", said)
	}
	if !m.AsksAgent() || (*compact.CompactManager)(nil).AsksAgent() {
		t.Error("AsksAgent is wrong: want true for this manager, and false for nil")
	}
}

// The summary request extends the previous request, and is made only if that
// request is the beginning of the current view.
func TestSummaryRequestExtendsOnlyAPrefixOfTheView(t *testing.T) {
	for name, c := range map[string]struct {
		last  func(view []message.Fingerprint) []message.Fingerprint
		asked int
	}{
		"the view that was sent": {func(v []message.Fingerprint) []message.Fingerprint { return v }, 1},
		"another conversation":   {func(v []message.Fingerprint) []message.Fingerprint { return append([]message.Fingerprint{{1}}, v...) }, 0},
		"a longer conversation": {func(v []message.Fingerprint) []message.Fingerprint {
			return append(v[:len(v):len(v)], make([]message.Fingerprint, 9)...)
		}, 0},
		"a prefix without all removed messages": {func(v []message.Fingerprint) []message.Fingerprint { return v[:min(3, len(v))] }, 0},
		"nothing":                               {func([]message.Fingerprint) []message.Fingerprint { return nil }, 0},
	} {
		m, asked := agentManager(t), 0
		var view []message.Fingerprint
		for rounds := 1; rounds <= 14; rounds++ {
			res, err := m.Preflight(context.Background(), "s", agentTalk(rounds), compact.WithLastRequest(compact.LastRequest{
				View: c.last(view), Ask: func(_ context.Context, instruction string) (compact.AgentAnswer, error) {
					asked++
					if !strings.Contains(instruction, "## Goals and success criteria") {
						t.Errorf("%s: the instruction is %s, want text with %q", name, instruction, "## Goals and success criteria")
					}
					return compact.AgentAnswer{Text: "## Goals and success criteria\n- [open] the parser is to be fixed\n",
						Usage: compact.Usage{PromptTokens: 9_000, CachedTokens: 8_000, OutputTokens: 20, CacheKnown: true}}, nil
				},
			}))
			if err != nil {
				t.Fatal(err)
			}
			if res.Summary != nil {
				if by := res.Summary.Backend; (by == "agent") != (c.asked > 0) || asked != c.asked {
					t.Errorf("%s: by %s, asked %d times; %v, want %d", name, by, asked, res.Summary.Errors, c.asked)
				}
				break
			}
			if view = view[:0:0]; rounds == 14 {
				t.Errorf("%s: no summary", name)
			}
			for i := range res.Messages {
				view = append(view, res.Messages[i].Fingerprint())
			}
		}
	}
}

// The agent's own model has been paid for a summary that came too late for its call. The
// next call takes it, even after a pause that the provider's cache did not outlast.
func TestLateSummaryOfTheAgentServesACallAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, asked := agentManager(t), atomic.Int64{}
		var view []message.Fingerprint
		call := func(rounds int) *compact.Result {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			res, err := m.Preflight(ctx, "s", agentTalk(rounds), compact.WithLastRequest(compact.LastRequest{View: view, Ask: func(context.Context, string) (compact.AgentAnswer, error) {
				asked.Add(1)
				time.Sleep(10 * time.Second)
				return compact.AgentAnswer{Text: "## Goals and success criteria\n- [open] the parser is to be fixed\n"}, nil
			}}))
			if err != nil {
				t.Fatal(err)
			}
			view = nil
			for i := range res.Messages {
				view = append(view, res.Messages[i].Fingerprint())
			}
			return res
		}
		rounds := 1
		for ; call(rounds).Summary == nil; rounds++ {
		}
		time.Sleep(2 * time.Hour)
		if res := call(rounds + 1); res.Summary == nil || res.Summary.Backend != "agent" || asked.Load() != 1 {
			t.Errorf("asked %d times: %+v, want 1", asked.Load(), res.Summary)
		}
	})
}

func TestAgentsOwnModelRefusesSettingsOfAServer(t *testing.T) {
	c := compact.Config{Summarizer: compact.SummarizerConfig{Backend: "agent", Model: "gpt-4o-mini", Instructions: "In German."}}
	wrong := new(compact.ConfigError)
	if err := c.Validate(); !errors.As(err, &wrong) || wrong.Path != "summarizer.model" || strings.Contains(err.Error(), "instructions") {
		t.Errorf("%v, want an error without %q", err, "instructions")
	}
	c = compact.Config{Summarizer: compact.SummarizerConfig{Backend: "agent"}, Summarize: strategy.Extractive{}}
	if err := c.Validate(); !errors.As(err, &wrong) || wrong.Path != "summarizer.backend" {
		t.Errorf("%v, want a mistake of summarizer.backend", err)
	}
	c = compact.Config{Overrides: []compact.Override{{Model: "claude*", Set: map[string]any{"summarizer.backend": "agent", "summarizer.instructions": "In German."}}}}
	if err := c.Validate(); err != nil {
		t.Errorf("an override: %v", err)
	}
}

func TestAnOverrideAloneCanAskTheAgent(t *testing.T) {
	agent, own := map[string]any{"summarizer.backend": "agent"}, map[string]any{"summarizer.backend": "extractive"}
	for _, tc := range []struct {
		backend   string
		overrides []compact.Override
		want      bool
	}{
		{"extractive", nil, false},
		{"extractive", []compact.Override{{Model: "a*", Set: own}}, false},
		{"extractive", []compact.Override{{Model: "a*", Set: agent}, {Model: "b*", Set: own}}, true},
		{"agent", []compact.Override{{Model: "a*", Set: own}}, true},
	} {
		m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", Archive: memory.New(), Summarizer: compact.SummarizerConfig{Backend: tc.backend}, Overrides: tc.overrides})
		if err != nil {
			t.Fatal(err)
		}
		if m.AsksAgent() != tc.want {
			t.Errorf("%s with %v: AsksAgent is %v", tc.backend, tc.overrides, !tc.want)
		}
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}
