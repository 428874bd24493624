package price

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestEveryCardIsValidAndNamesItsSource(t *testing.T) {
	for _, name := range Models() {
		c, ok := For(name)
		if !ok || c.Relative {
			t.Errorf("For(%q) does not know its own line", name)
		}
		if c.Model != name {
			t.Errorf("For(%q) is the card of %q: a line above hides it", name, c.Model)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := time.Parse(time.DateOnly, c.Date); err != nil || c.Source == "" {
			t.Errorf("%s: source %q of %q", name, c.Source, c.Date)
		}
	}
}

func TestForFindsTheModelOfEachName(t *testing.T) {
	for _, tc := range []struct {
		name          string
		input, output float64
	}{
		{"claude-sonnet-4-5-20250929", 3, 15},
		{"anthropic.claude-sonnet-4-5-v1:0", 3, 15},
		{"Claude-Opus-4-1", 15, 75},
		{"claude-opus-4-8", 5, 25},
		{"openai/gpt-4o-mini-2024-07-18", 0.15, 0.6},
		{"gpt-5.1", 1.25, 10},
		{"models/gemini-2.5-pro", 1.25, 10},
		{"grok-4-fast-reasoning", 0.2, 0.5},
	} {
		c, ok := For(tc.name)
		if !ok || c.Input != tc.input || c.Output != tc.output {
			t.Errorf("For(%q) = %v/%v (known %v), want %v/%v", tc.name, c.Input, c.Output, ok, tc.input, tc.output)
		}
	}
}

func TestAnUnknownModelHasRatiosOnly(t *testing.T) {
	for _, name := range []string{"", "llama-4-maverick", "o3-mini", "codestral-latest", "in-house-7b"} {
		c, ok := For(name)
		if ok || !c.Relative || c.Input != 1 || c.Validate() != nil {
			t.Errorf("For(%q) = %+v, known %v", name, c, ok)
		}
	}
}

func TestAnthropicWritesCostMoreThanInput(t *testing.T) {
	c, _ := For("claude-sonnet-4-5")
	if c.CacheWrite != 3.75 || c.CacheWriteHour != 6 || math.Abs(c.CacheRead-0.3) > 1e-12 || c.Marks != 4 {
		t.Errorf("card %+v, want writes at 3.75 and 6, reads at 0.3, 4 marks", c)
	}
	if c, _ := For("gpt-4o"); c.CacheWrite != c.Input {
		t.Errorf("writing costs %v at OpenAI, want the input price %v", c.CacheWrite, c.Input)
	}
}

func TestValidateNamesEveryMistake(t *testing.T) {
	err := Card{Input: -1, CacheRead: 2, CacheWrite: 1, CacheWriteHour: 0.5, Output: math.NaN(), MinPrefix: 1}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"input must", "output must", "cache_read (2)", "cache_write (1)", "granularity"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if (Card{}).Validate() == nil {
		t.Error("the zero card is valid")
	}
}
