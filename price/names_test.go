package price

import (
	"strings"
	"testing"
)

func TestListedNamesMatchTheTable(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-sonnet-4-5": true, "Claude-Sonnet-4.5": true, "claude-sonnet-4-5-20250929": true, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": true,
		"anthropic/claude-3.7-sonnet:beta": true, "claude-3-5-haiku-latest": true, "gpt-4o-2024-08-06": true, "openai/gpt-5-mini": true, "gpt-4-0613": true,
		"gemini-2.5-pro-preview-05-06": true, "gemini-2.5-flash-001": true,
		"claude-sonet": false, "claude-frobnicator": false, "gpt-5.3": false, "gpt-4o-mimi": false, "grok-5": false, "in-house-7b": false, "": false,
	} {
		if got := Listed(name); got != want {
			t.Errorf("Listed(%q) = %v", name, got)
		}
	}
	for _, name := range Names() {
		if _, ok := For(name); !ok || !Listed(name) {
			t.Errorf("%s is named, and has no price", name)
		}
	}
}

// The models that share a card. Their names are listed, so a report does not call their price a
// guess.
func TestSharedCardsAreListedByTheNamesOfTheirModels(t *testing.T) {
	for card, names := range map[string]string{
		"claude-opus-4": "claude-opus-4-1 claude-opus-4-20250514", "opus": "claude-opus", "haiku": "claude-haiku",
		"claude": "claude-sonnet claude-3-5-sonnet claude-3-7-sonnet claude-4-sonnet claude-sonnet-4 claude-sonnet-4-5 claude-sonnet-4-6 claude-sonnet-5",
		"gpt-5":  "gpt-5.1 gpt-5-codex gpt-5.1-codex gpt-5-chat-latest", "gpt-5.2": "gpt-5.2-codex gpt-5.2-chat-latest", "gpt-4o": "chatgpt-4o-latest", "gpt-3.5": "gpt-3.5-turbo gpt-3.5-turbo-0125",
		"gemini": "gemini-3-pro-preview gemini-3.1-pro", "grok-4-fast": "grok-4-fast-reasoning grok-4-fast-non-reasoning", "grok-code": "grok-code-fast", "grok": "grok-3 grok-4 grok-4-0709",
		"deepseek": "deepseek-chat deepseek-v3", "mixtral": "mixtral-8x7b mixtral-8x22b-instruct",
	} {
		for _, name := range strings.Fields(names) {
			if c, ok := For(name); !ok || c.Model != card || !Listed(name) {
				t.Errorf("%s has the card of %q, want %q; listed: %v", name, c.Model, card, Listed(name))
			}
		}
	}
}

// Some hosts write the versions of Claude models with dots.
func TestDotsInAClaudeNameDoNotChangeThePrice(t *testing.T) {
	for a, b := range map[string]string{"anthropic/claude-opus-4.5": "claude-opus-4-5", "claude-haiku-4.5": "claude-haiku-4-5", "anthropic.claude-3.5-haiku": "claude-3-5-haiku"} {
		x, _ := For(a)
		if y, _ := For(b); x != y {
			t.Errorf("%s has the card of %s, %s that of %s", a, x.Model, b, y.Model)
		}
	}
}
