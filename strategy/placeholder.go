package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
)

// saidIn returns the text of a message without the placeholders of media.
func saidIn(m *message.Message) string {
	if !standsForMedia(m) {
		return m.Text()
	}
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && !material.IsMedia(p.Text) {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func standsForMedia(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && material.IsMedia(p.Text) {
			return true
		}
	}
	return false
}

// ourOwn reports whether a line is a placeholder or a notice of this program.
func ourOwn(line string) bool { return material.IsPlaceholder(line) }

// withoutOurs removes the lines of placeholders from a result.
func withoutOurs(text string) string { return material.WithoutPlaceholders(text) }
