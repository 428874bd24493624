package price

import (
	"fmt"
	"testing"
)

// The whole table, card by card: the prices of input, reads, writes, writes for an hour and
// output, then the least prefix, the unit, the lifetime and the number of marks. A typing
// error in a price changes no other test. A change that is meant changes its line here.
func TestCardsHaveTheListedPrices(t *testing.T) {
	listing := []string{
		"claude-opus-4-5 5 0.5 6.25 10 25, 4096 1 5m0s 4", "claude-opus-4-6 5 0.5 6.25 10 25, 4096 1 5m0s 4", "claude-opus-4-7 5 0.5 6.25 10 25, 4096 1 5m0s 4",
		"claude-opus-4-8 5 0.5 6.25 10 25, 1024 1 5m0s 4", "claude-opus-4 15 1.5 18.75 30 75, 1024 1 5m0s 4", "claude-3-opus 15 1.5 18.75 30 75, 1024 1 5m0s 4",
		"claude-haiku-4-5 1 0.1 1.25 2 5, 4096 1 5m0s 4", "claude-3-5-haiku 0.8 0.08 1 1.6 4, 1024 1 5m0s 4", "claude-3-haiku 0.25 0.03 0.3125 0.5 1.25, 1024 1 5m0s 4",
		"haiku 1 0.1 1.25 2 5, 4096 1 5m0s 4", "opus 5 0.5 6.25 10 25, 4096 1 5m0s 4", "claude 3 0.3 3.75 6 15, 1024 1 5m0s 4",
		"gpt-5-nano 0.05 0.005 0.05 0.05 0.4, 1024 128 5m0s 0", "gpt-5-mini 0.25 0.025 0.25 0.25 2, 1024 128 5m0s 0", "gpt-5.1-codex-mini 0.25 0.025 0.25 0.25 2, 1024 128 5m0s 0",
		"gpt-5.2 1.75 0.175 1.75 1.75 14, 1024 128 5m0s 0", "gpt-5.4-mini 0.75 0.075 0.75 0.75 4.5, 1024 128 5m0s 0", "gpt-5.4-nano 0.2 0.02 0.2 0.2 1.25, 1024 128 5m0s 0",
		"gpt-5.4 2.5 0.25 2.5 2.5 15, 1024 128 5m0s 0", "gpt-5.5 5 0.5 5 5 30, 1024 128 5m0s 0", "gpt-5 1.25 0.125 1.25 1.25 10, 1024 128 5m0s 0",
		"gpt-4.1-nano 0.1 0.025 0.1 0.1 0.4, 1024 128 5m0s 0", "gpt-4.1-mini 0.4 0.1 0.4 0.4 1.6, 1024 128 5m0s 0", "gpt-4.1 2 0.5 2 2 8, 1024 128 5m0s 0",
		"gpt-4o-mini 0.15 0.075 0.15 0.15 0.6, 1024 128 5m0s 0", "gpt-4o 2.5 1.25 2.5 2.5 10, 1024 128 5m0s 0", "gpt-4-turbo 10 10 10 10 30, 0 0 0s 0", "gpt-4 30 30 30 30 60, 0 0 0s 0",
		"gpt-3.5 0.5 0.5 0.5 0.5 1.5, 0 0 0s 0", "o4-mini 1.1 0.275 1.1 1.1 4.4, 1024 128 5m0s 0", "gemini-2.5-pro 1.25 0.125 1.25 1.25 10, 2048 1 5m0s 0",
		"gemini-2.5-flash-lite 0.1 0.01 0.1 0.1 0.4, 2048 1 5m0s 0", "gemini-2.5-flash 0.3 0.03 0.3 0.3 2.5, 2048 1 5m0s 0", "gemini-3.5-flash 1.5 0.15 1.5 1.5 9, 4096 1 5m0s 0",
		"gemini-3.6-flash 1.5 0.15 1.5 1.5 7.5, 4096 1 5m0s 0", "gemini 2 0.2 2 2 12, 4096 1 5m0s 0", "grok-4-fast 0.2 0.05 0.2 0.2 0.5, 1024 64 5m0s 0", "grok-code 0.2 0.02 0.2 0.2 1.5, 1024 64 5m0s 0",
		"grok-4.5 2 0.3 2 2 6, 1024 64 5m0s 0", "grok 3 0.75 3 3 15, 1024 64 5m0s 0", "deepseek-v4-flash 0.14 0.028 0.14 0.14 0.28, 64 64 1h0m0s 0", "deepseek-v4-pro 1.74 0.145 1.74 1.74 3.48, 64 64 1h0m0s 0",
		"deepseek 0.27 0.07 0.27 0.27 1.1, 64 64 1h0m0s 0", "mistral-large 2 0.2 2 2 6, 1024 64 5m0s 0", "mistral-medium 0.4 0.04 0.4 0.4 2, 1024 64 5m0s 0", "mistral-small 0.1 0.01 0.1 0.1 0.3, 1024 64 5m0s 0",
		"mixtral 2 2 2 2 6, 0 0 0s 0", "qwen3 0.5 0.5 0.5 0.5 3, 0 0 0s 0",
	}
	models := Models()
	if len(models) != len(listing) {
		t.Fatalf("%d cards, %d are listed", len(models), len(listing))
	}
	for i, name := range models {
		c, _ := For(name)
		got := fmt.Sprintf("%s %.6g %.6g %.6g %.6g %.6g, %d %d %s %d", c.Model, c.Input, c.CacheRead, c.CacheWrite, c.CacheWriteHour, c.Output, c.MinPrefix, c.Granularity, c.Lifetime, c.Marks)
		if got != listing[i] {
			t.Errorf("%s, want %s", got, listing[i])
		}
	}
}
