package eval

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// maxTyped is the maximum length of typed text, in characters. A longer text was
// pasted.
const maxTyped = 2000

var (
	harness = lazy.Compile(`^\s*(?:<[a-z_-]+[ >]|\[|Caveat:|# (?:AGENTS|CLAUDE)\.md|This session is being continued|Base directory for this skill|diff --git |Observation:|OBSERVATION:|exitcode: ` +
		`|The last command <command>|Please always provide EXACTLY ONE|[\w.]+(?:Error|Exception): )`)
	loopTail  = lazy.Compile(`\(Open file: [^\n]*\)\s*\n\(Current directory: `)
	agentName = lazy.Compile(`(?i)surfer|terminal|orchestrator|assistant|agent|coder|executor|expert|proxy|bot`)
	reminder  = lazy.Compile(`(?s)<system-reminder>.*?</system-reminder>`)
)

// typed reports whether a person typed a user message.
func typed(m message.Message) bool {
	text := reminder.ReplaceAllString(m.Text(), "")
	return strings.TrimSpace(text) != "" && len([]rune(text)) <= maxTyped && !harness.MatchString(text) &&
		!loopTail.MatchString(text) && !agentName.MatchString(m.Name)
}

// typedSentences returns the sentences outside of fences and reminders.
func typedSentences(text string) []string {
	return splitSentences(unfenced(reminder.ReplaceAllString(text, "")))
}

var sentenceEnd = lazy.Compile(`[.!?] |[。！？]`)

// splitSentences cuts a text at line ends and at full stops.
func splitSentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		start := 0
		for _, at := range sentenceEnd.FindAllStringIndex(line, -1) {
			out = appendSentence(out, line[start:at[1]])
			start = at[1]
		}
		out = appendSentence(out, line[start:])
	}
	return out
}

func appendSentence(out []string, s string) []string {
	if s = strings.TrimSpace(s); len([]rune(s)) > 2 {
		out = append(out, s)
	}
	return out
}
