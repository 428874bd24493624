package price

import "testing"

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

// Some hosts write the versions of Claude models with dots.
func TestDotsInAClaudeNameDoNotChangeThePrice(t *testing.T) {
	for a, b := range map[string]string{"anthropic/claude-opus-4.5": "claude-opus-4-5", "claude-haiku-4.5": "claude-haiku-4-5", "anthropic.claude-3.5-haiku": "claude-3-5-haiku"} {
		x, _ := For(a)
		if y, _ := For(b); x != y {
			t.Errorf("%s has the card of %s, %s that of %s", a, x.Model, b, y.Model)
		}
	}
}
