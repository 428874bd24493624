package compact_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

func override(model, agent string, settings ...any) compact.Override {
	o := compact.Override{Model: model, Agent: agent, Set: map[string]any{}}
	for i := 0; i < len(settings); i += 2 {
		o.Set[settings[i].(string)] = settings[i+1]
	}
	return o
}

// TestOverridesAreCheckedForCallsThatExist: it is not a mistake if an override is
// invalid alone but always matches together with another one, or if two overrides
// conflict that no call matches together.
func TestOverridesAreCheckedForCallsThatExist(t *testing.T) {
	window, output, less := []any{"max_context_tokens", 8000}, []any{"max_output_tokens", 9000}, []any{"max_output_tokens", 1000}
	for name, c := range map[string]struct {
		overrides []compact.Override
		want      string // part of the error; "" = valid
	}{
		"a third override corrects both":                             {[]compact.Override{override("gpt-4", "", window...), override("", "r", output...), override("gpt-4", "r", less...)}, ""},
		"an override for all models and agents corrects both":        {[]compact.Override{override("gpt-4", "", window...), override("", "r", output...), override("gpt-?", "*", less...)}, ""},
		"an override that always applies together with a correction": {[]compact.Override{override("gpt-4", "r", "max_output_tokens", 200_000), override("gpt-*", "", less...)}, ""},
		"an override for other agents corrects nothing":              {[]compact.Override{override("gpt-?", "", window...), override("", "r", output...), override("gpt-4", "r", less...)}, `overrides[0].max_context_tokens 8000 less policy.hard_cap_buffer 1500 and max_output_tokens 9000 leaves -2500 tokens for the conversation, together with the override for agent "r"`},
		"a correction before both has no effect":                     {[]compact.Override{override("gpt-4", "r", less...), override("gpt-4", "", window...), override("", "r", output...)}, `overrides[1].max_context_tokens 8000 less`},
		"patterns without a common model":                            {[]compact.Override{override("gpt-*", "", window...), override("claude-*", "", output...)}, ""},
		"patterns that overlap":                                      {[]compact.Override{override("gpt-*", "", window...), override("*-MINI", "", output...)}, `together with the override for model "*-MINI"`},
		"patterns with an unusual common model":                      {[]compact.Override{override("a?c*", "", window...), override("*b?", "x", output...)}, `together with the override for model "*b?" with agent "x"`},
	} {
		err := (compact.Config{MaxContextTokens: 150_000, MaxOutputTokens: 1000, Overrides: c.overrides}).Validate()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestMissingSummarizerIsReportedOnceWithItsPath: the path of the configuration, or
// of an override.
func TestMissingSummarizerIsReportedOnceWithItsPath(t *testing.T) {
	openai := []any{"summarizer.backend", "openai", "summarizer.model", "m"}
	turns := []any{"policy.keep_recent_turns", 3}
	for _, c := range []struct {
		backend string
		with    strategy.Summarizer
		all     []compact.Override
		want    []string
	}{
		{"extractive", nil, []compact.Override{override("", "a", openai...)}, []string{"overrides[0].summarizer.backend needs"}},
		{"openai", nil, []compact.Override{override("", "a", turns...), override("", "b", turns...)}, []string{"summarizer.backend needs"}},
		{"openai", words{}, []compact.Override{override("", "a", turns...)}, nil},
	} {
		cfg := compact.Config{Archive: memory.New(), Summarize: c.with, Overrides: c.all}
		if cfg.Summarizer.Backend = c.backend; c.backend == "openai" {
			cfg.Summarizer.Model = "m"
		}
		m, err := compact.New(t.Context(), cfg)
		if m != nil {
			defer func() { _ = m.Close(context.Background()) }()
		}
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s, %d overrides: %q, want %q", c.backend, len(c.all), got, c.want)
		}
	}
}

type words struct{}

func (words) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, nil
}

// TestBackendOfANamedStringType sets summarizer.backend to a value of a named string
// type: it counts as its text.
func TestBackendOfANamedStringType(t *testing.T) {
	type name string
	c := compact.Config{Archive: memory.New(), Summarize: words{}, Overrides: []compact.Override{override("", "a", "summarizer.backend", name("openai"), "summarizer.model", "m")}}
	got, err := c.For("", "a")
	if err != nil || got.Summarize == nil {
		t.Errorf("Config.Summarize is gone: %v", err)
	}
	c.Summarize, c.Overrides = nil, []compact.Override{override("", "a", "summarizer.backend", name("agent"))}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	if !m.AsksAgent() {
		t.Error("AsksAgent is false")
	}
}
