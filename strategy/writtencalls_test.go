package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary states calls that a model writes into its text, in JSON or as an <invoke>, like other
// calls.
func TestCallsWrittenIntoTheTextAreRead(t *testing.T) {
	pad := strings.Repeat("unit = price(17)\n", 90)
	tells(t, Input{Messages: []message.Message{
		message.User("Mend the sum, and don't change config.toml."),
		message.Assistant("<function_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">pytest -q</parameter>\n</invoke>\n</function_calls>"),
		message.User("<function_results>\n<result>\n<tool_name>bash</tool_name>\n<stdout>\n" + pad + "1 failed, 9 passed in 0.4s\n</stdout>\n</result>\n</function_results>"),
		message.Assistant("The limit is wrong.\n<function_calls>\n<invoke name=\"str_replace_editor\">\n<parameter name=\"command\">str_replace</parameter>\n<parameter name=\"path\">/app/sum.py</parameter>\n<parameter name=\"old_str\">range(n)</parameter>\n<parameter name=\"new_str\">def limit(n):</parameter>\n</invoke>\n</function_calls>"),
		message.User("<function_results>\n<result>\nThe file /app/sum.py has been edited.\n</result>\n</function_results>"),
		message.Assistant("Done."),
	}}, []string{"`/app/sum.py`: edited (in limit)", "`pytest -q` failed: 1 failed, 9 passed in 0.4s"}, []string{"invoke", "<result>", "function_calls"})
	tells(t, Input{Messages: []message.Message{
		message.User("Book the cheapest flight to Oslo."),
		message.Assistant("I compare two days.\n<tool_call>\n{\"name\": \"search_flights\", \"arguments\": {\"to\": \"OSL\", \"day\": 3}}\n</tool_call>\n<tool_call>\n{\"name\": \"search_flights\", \"arguments\": {\"to\": \"OSL\", \"day\": 4}}\n</tool_call>"),
		message.User("<tool_response>\n{\"id\":\"DY1757\",\"price\":139}\n</tool_response>\n<tool_response>\n{\"id\":\"DY1761\",\"price\":88}\n</tool_response>"),
		message.Assistant("<tool_call>\n{\"name\": \"book_flight\", \"arguments\": {\"id\": \"DY1761\"}}\n</tool_call>"),
		message.User("<tool_response>\n{\"error\":\"the birth date is missing\"}\n</tool_response>"),
		message.Assistant("I need the birth date."),
	}}, []string{
		"called `search_flights` OSL with day=3, which returned: id: DY1757, price: 139",
		"called `search_flights` OSL with day=4, which returned: id: DY1761, price: 88",
		"`book_flight` DY1761 failed: error: the birth date is missing",
	}, []string{"tool_response", "tool_call"})
}
