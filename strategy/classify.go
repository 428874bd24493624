package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A speech is the kind of a message in the user's role, by its actual author.
type speech uint8

// The kinds of messages in the user's role.
const (
	speechTyped     speech = iota // a person's words, with any pasted text
	speechPasted                  // only a log, a page or a document
	speechHarness                 // text of the program around the agent
	speechAnswering               // a result that a loop sends in the user's role
)

var speechNames = [...]string{"typed", "pasted", "harness", "answering"}

// String returns a word for tests and reports.
func (s speech) String() string { return speechNames[s] }

// A heard is the classification of one message in the user's role.
type heard struct {
	speech speech
	words  string // the typed text; pasted pieces are cited
	pasted int    // characters that were pasted
}

// classify reads a message in the user's role. acted says that the assistant's
// message before it contains an action, so that this message may be a result.
func classify(m *message.Message, acted bool) heard { return classifyForms(m, acted, false) }

// opens reports whether the messages before contain no message of the assistant, no result,
// and no summary of this program.
func opens(before []message.Message) bool {
	for i := range before {
		m := &before[i]
		if m.Role == message.RoleAssistant || m.Role == message.RoleTool || m.Has(message.KindToolResult) || ownSummary(m.Text()) {
			return false
		}
	}
	return true
}

var ownSummary = begins("<COMPACT-SUMMARY")

// classifyForms is classify for a message that may be an opening, that is, before all
// messages of the assistant. An opening is no result, even if it looks like one: a task can
// end with the prompt of a shell.
func classifyForms(m *message.Message, acted, opening bool) heard {
	text := strings.TrimSpace(saidIn(m))
	if text == "" || agentName(m.Name) {
		return heard{speech: speechHarness}
	}
	if elementResult(text) {
		if _, words := wordsIn(text); words != "" {
			return splitPasted(words)
		}
	}
	for _, f := range forms {
		if (f.speech != speechAnswering || acted || f.always && !opening) && f.matches(text) {
			return heard{speech: f.speech}
		}
	}
	words := strings.TrimSpace(withoutAttached(withoutTags(text)))
	if words == "" {
		return heard{speech: speechHarness}
	}
	return splitPasted(withoutDemonstration(words))
}

// A form is a pattern of messages that a harness or a loop writes in the user's
// role.
type form struct {
	name    string
	speech  speech
	always  bool // for speechAnswering: matches even without an action before the message
	matches func(text string) bool
}

// forms lists the known patterns. The first match wins.
var forms = []form{
	{"prompt of a shell session", speechAnswering, true, shellState},
	{"bracketed note", speechHarness, true, bracketedNote},
	{"instructions file", speechHarness, true, instructionsFile},
	{"handoff of another program", speechHarness, true, handsOver},
	{"caveat of local commands", speechHarness, true, begins("Caveat: The messages below were generated")},
	{"body of a skill", speechHarness, true, begins("Base directory for this skill:")},
	{"stop hook", speechHarness, true, begins("Stop hook feedback:")},
	{"notice of a background task", speechHarness, true, backgroundNotice},
	{"own summary", speechHarness, true, ownSummary},
	{"demonstration of another task", speechHarness, true, onlyDemonstrates},
	{"report about text edits", speechHarness, true, reportsEdits},
	{"result of an action in a browser", speechAnswering, true, begins(actionDone, actionFailed)},
	{"status of a command", speechAnswering, true, begins("<returncode>", "exitcode: ", "Exit code: ", "<tool_response>", "<function_results>", "<function_result>", "<observation>")},
	{"observation", speechAnswering, true, begins("Observation:", "OBSERVATION:", "EXECUTION RESULT of", "[Tool result", "Tool result:", "TOOL RESULT", "<tool_result")},
	{"result of a call in the text", speechAnswering, true, elementResult},
	{"complaint of the loop", speechAnswering, true, begins(append(complaints, "The last command <command>")...)},
	{"error of the server", speechAnswering, true, errorClass},
	{"patch", speechAnswering, false, begins("diff --git ")},
	{"report of a browser", speechAnswering, true, browserReport},
}

// complaints lists beginnings of messages of a loop that could not read the action.
var complaints = []string{"Please always provide EXACTLY ONE action", "No tool use was detected", "[ERROR] You did not use a tool",
	"Your last response was not", "Your output was not formatted correctly", "Invalid action format"}

// begins matches texts that begin with one of the prefixes.
func begins(prefixes ...string) func(string) bool {
	return func(t string) bool { return prose.BeginsAny(t, prefixes) }
}

// browserReport matches the report of an agent that uses a browser. Its text is mostly that
// of a page.
func browserReport(t string) bool {
	return begins("I clicked ", "I typed ", "I scrolled ", "I visited ", "I hovered ", "I pressed ")(t) && strings.Contains(t, "screenshot")
}

// bracketedNote matches a text that begins with a line in brackets. A harness or a
// recorder writes such notes: [Request interrupted by user].
func bracketedNote(t string) bool {
	line, _, _ := strings.Cut(t, "\n")
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && len(line) > 12 && strings.Contains(line, " ") && !strings.Contains(line, "](")
}

// instructionsFile matches a file with rules for agents that a harness sends.
func instructionsFile(t string) bool {
	line, _, _ := strings.Cut(t, "\n")
	return strings.HasPrefix(line, "#") && (strings.Contains(line, "AGENTS.md") || strings.Contains(line, "CLAUDE.md") || strings.Contains(line, "GEMINI.md") || strings.Contains(line, ".cursorrules")) ||
		strings.HasPrefix(t, "<INSTRUCTIONS>")
}

// shellState matches an output that ends with the state of an editing shell.
func shellState(t string) bool {
	tail := t[max(0, len(t)-600):]
	return strings.Contains(tail, openFileMark) && strings.Contains(tail, "(Current directory: ") || strings.HasSuffix(t, "\nbash-$")
}

// errorClass matches the report of an exception: "litellm.APIError: …".
func errorClass(t string) bool {
	word, _, ok := strings.Cut(t[:min(len(t), 120)], ": ")
	return ok && !strings.ContainsAny(word, " \n") && (strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception")) && len(word) > 8
}

// agentNames lists parts of the names of agents that write in the user's role.
var agentNames = []string{"agent", "assistant", "surfer", "terminal", "orchestrator", "coder", "executor", "expert", "critic", "planner", "proxy", "tool"}

func agentName(name string) bool {
	return name != "" && prose.HasAny(strings.ToLower(name), agentNames)
}
