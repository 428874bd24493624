package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary states the actions that a model writes as JSON in a fenced block, with the results
// that its loop sends in the user's role. The final answer is a text.
func TestActionsInFencedJSONAreCalls(t *testing.T) {
	tells(t, long("Delete the old logs of the shop.",
		message.Assistant("Thought: I look for old files.\n\n```json\n{\"action\": \"shell\", \"action_input\": {\"command\": \"find /srv/logs -mtime +30\"}}\n```"),
		message.User("Observation: /srv/logs/a.log"),
		message.Assistant("```json\n{\n  \"action\": \"shell\",\n  \"action_input\": {\"command\": \"rm /srv/logs/a.log\"}\n}\n```"),
		message.User("Observation: rm: cannot remove '/srv/logs/a.log': Permission denied"),
		message.Assistant("```json\n{\"thought\": \"I tell the owner.\", \"tool\": {\"name\": \"create_ticket\", \"args\": {\"title\": \"Old log\"}}}\n```"),
		message.User("Observation: {\"id\":\"T-31\"}"),
		message.Assistant("```\n{\"action\": \"Final Answer\", \"action_input\": \"The file a.log needs root, so I opened T-31.\"}\n```"),
	), []string{
		"looked with `find /srv/logs -mtime +30`",
		"`rm /srv/logs/a.log` failed: rm: cannot remove '/srv/logs/a.log': Permission denied",
		"[done] called `create_ticket` Old log, which returned: id: T-31 (do not repeat)",
		"told the user: The file a.log needs root, so I opened T-31.",
	}, []string{"Observation", "action_input"})
}

// JSON that a model shows to the user is no action.
func TestShownJSONIsNoAction(t *testing.T) {
	tells(t, long("How do I call the tool?",
		message.Assistant("Send this body:\n\n```json\n{\"name\": \"delete_order\", \"arguments\": {\"id\": 7}}\n```"),
		message.User("Thanks, that works."),
		message.Assistant("Good."),
	), []string{"Thanks, that works."}, []string{"called `delete_order`", "[done]"})
}

// The label of a result does not hide an error, and a command can be the whole input of an action.
func TestLabelOfResultHidesNoError(t *testing.T) {
	for _, act := range []string{
		"```bash\nrm /srv/a.log\n```",
		"Thought: I delete it.\nAction:\n{\"action\": \"terminal\", \"action_input\": \"rm /srv/a.log\"}",
		"{\"thought\": \"I delete it.\", \"command\": {\"name\": \"shell\", \"args\": {\"command\": \"rm /srv/a.log\"}}}",
	} {
		for _, label := range []string{"Observation: ", "EXECUTION RESULT of [bash]:\n"} {
			tells(t, long("Delete a.log.", message.Assistant(act), message.User(label+"rm: cannot remove '/srv/a.log': Permission denied"), message.Assistant("I need root.")),
				[]string{"`rm /srv/a.log` failed: rm: cannot remove '/srv/a.log': Permission denied"}, []string{"deleted", label})
		}
	}
}
