package compact_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

func TestGuessedWindowIsReportedOnce(t *testing.T) {
	said := func(res *compact.Result) bool {
		return strings.Contains(strings.Join(res.Warnings, "\n"), "a guess")
	}
	r := newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: 200_000})
	for _, c := range []struct {
		model string
		want  bool
	}{{"", false}, {"gpt-4.1", false}, {"foo-1", true}, {"foo-1", false}, {"foo-2", true}, {"gpt-4o", false}} {
		if got := r.preflight(loop(2, 50), compact.WithModel(c.model)); said(got) != c.want {
			t.Errorf("model %q: warnings %q, want a warning: %v", c.model, got.Warnings, c.want)
		}
	}
	if got := r.preflight(loop(2, 50), compact.WithModel("foo-3"), compact.WithWindow(9_000)); said(got) {
		t.Errorf("the window is not reported as a guess: %q", got.Warnings)
	}
	for range 2 {
		if plan, err := r.Plan(context.Background(), "s", loop(2, 50), compact.WithModel("foo-3")); err != nil || !said(plan) {
			t.Errorf("a plan: %v, %v", plan.Warnings, err)
		}
	}
	small := newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000})
	if got := small.preflight(loop(2, 50), compact.WithModel("foo-1")); said(got) || got.MaxTokens != 16_000 {
		t.Errorf("the configured window is reported as a guess: %q", got.Warnings)
	}
	for window, want := range map[int]bool{token.DefaultContextWindow: false, token.DefaultContextWindow + 1: true} {
		r := newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: window})
		if got := r.preflight(loop(2, 50), compact.WithModel("foo-1")); said(got) != want {
			t.Errorf("a configured window of %d: warnings %q, want a warning: %v", window, got.Warnings, want)
		}
	}
}

// A guess names the setting that replaces it.
func TestGuessNamesItsSetting(t *testing.T) {
	for name, c := range map[string]struct {
		cfg, set compact.Config
		want     string
	}{
		"nothing is configured": {compact.Config{}, compact.Config{MaxContextTokens: 64_000}, "; set max_context_tokens (--max-context-tokens)"},
		"another model is configured": {
			compact.Config{Model: "gpt-4o", MaxContextTokens: 200_000}, compact.Config{Model: "foo-1", MaxContextTokens: 200_000},
			"; set model to it and max_context_tokens to its window (--model, --max-context-tokens)",
		},
	} {
		c.cfg.Archive = memory.New()
		m, err := compact.New(t.Context(), c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		guess, err := m.Preflight(t.Context(), "s", loop(2, 50), compact.WithModel("foo-1"))
		if got := strings.Join(guess.Warnings, "\n"); err != nil || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, %v; want text that ends with %q and no error", name, got, err, c.want)
		}
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if got := newRig(t, c.set).preflight(loop(2, 50), compact.WithModel("foo-1")); len(got.Warnings) > 0 || got.MaxTokens != c.set.MaxContextTokens {
			t.Errorf("%s: %d, %q, want %d", name, got.MaxTokens, got.Warnings, c.set.MaxContextTokens)
		}
	}
}

func TestFixedTokensAreCountedAndNotRemoved(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	without, with := r.preflight(loop(2, 50)), r.preflight(loop(2, 50), compact.WithFixed(5_000))
	if with.After.Total-without.After.Total != 5_000 || with.After.Overhead-without.After.Overhead != 5_000 {
		t.Errorf("without %+v, with %+v", without.After, with.After)
	}
	if res := r.preflight(loop(40, 200)); res.Triggered {
		t.Fatalf("%d tokens are compacted anyway: the test proves nothing", res.TokensIn)
	}
	if res := r.preflight(loop(40, 200), compact.WithFixed(8_000)); !res.Triggered || res.After.Total > res.Budget || res.After.Overhead < 8_000 {
		t.Errorf("compacted %v to %+v, want true", res.Triggered, res.After)
	}
}
