package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// ourOwnHeads lists beginnings of placeholders and notices in a view. They are
// not facts of the conversation.
var ourOwnHeads = []string{"[observation masked — ", "[dispatch output masked — ", "[result masked — ", "[truncated: kept ", "[tidied — ", "[conversation truncated — ", "[observation truncated",
	"[no tool result was recorded", "[image masked — ", "[audio masked — ", "[file masked — "}

// saidIn returns the text of a message without the placeholders of media.
func saidIn(m *message.Message) string {
	if !standsForMedia(m) {
		return m.Text()
	}
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && !isMediaText(p.Text) {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func standsForMedia(m *message.Message) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && isMediaText(p.Text) {
			return true
		}
	}
	return false
}

func isMediaText(s string) bool {
	_, _, _, _, ok := message.ParseMediaText(s)
	return ok
}

// ourOwn reports whether a line is a placeholder or a notice of this program.
func ourOwn(line string) bool {
	return strings.HasPrefix(line, "[") && beginsAny(line, ourOwnHeads)
}

// withoutOurs removes the lines of placeholders from a result.
func withoutOurs(text string) string {
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
		if !ourOwn(strings.TrimSpace(line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// outcomeIn returns the outcome of a command that a placeholder states, in the form of a
// result: only the quoted line and the exit status.
func outcomeIn(mark *policy.Mark, placeholder string) string {
	_, rest, _ := strings.Cut(placeholder, `" · says "`)
	says, _, _ := strings.Cut(rest, " · ")
	says = strings.TrimSuffix(strings.TrimSuffix(says, "]"), `"`)
	if !mark.Ended {
		return says
	}
	return strings.TrimLeft(says+"\n[exit code: "+strconv.Itoa(mark.Exit)+"]", "\n")
}
