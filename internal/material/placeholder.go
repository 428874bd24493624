package material

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// ourOwnHeads lists beginnings of placeholders and notices in a view. They are
// not facts of the conversation.
var ourOwnHeads = []string{"[observation masked — ", "[dispatch output masked — ", "[result masked — ", "[truncated: kept ", "[tidied — ", "[conversation truncated — ", "[observation truncated",
	"[no tool result was recorded", "[image masked — ", "[audio masked — ", "[file masked — "}

// IsPlaceholder reports whether a line is a placeholder or a notice of this program.
func IsPlaceholder(line string) bool {
	return strings.HasPrefix(line, "[") && slices.ContainsFunc(ourOwnHeads, func(h string) bool { return strings.HasPrefix(line, h) })
}

// WithoutPlaceholders removes the lines of placeholders from a result.
func WithoutPlaceholders(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	found := false
	for _, h := range ourOwnHeads {
		found = found || strings.Contains(text, h)
	}
	if !found {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !IsPlaceholder(strings.TrimSpace(line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// IsMedia reports whether a text is the placeholder of an image, audio or a file.
func IsMedia(s string) bool {
	_, _, _, _, ok := message.ParseMediaText(s)
	return ok
}
