package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary states calls that a model writes as elements of its text like other calls. Their
// results do not count as words of the user, but an answer or a refusal in them does.
func TestCallsWrittenAsElementsAreRead(t *testing.T) {
	pad := strings.Repeat("const unit = price(17)\n", 90)
	tells(t, Input{Messages: []message.Message{
		message.User("<task>\nRound the tax of each line. Don't change rates.yml.\n</task>\n<environment_details>\nsrc/tax.ts\n</environment_details>"),
		message.Assistant("I read the file.\n\n<read_file>\n<path>src/tax.ts</path>\n</read_file>"),
		message.User("[read_file for 'src/tax.ts'] Result:\nexport function tax() {}\n" + pad),
		message.Assistant("The tax is rounded at the end.\n\n<replace_in_file>\n<path>src/tax.ts</path>\n<diff>\n<<<<<<< SEARCH\n  return net\n=======\nfunction roundCents(net) {\n>>>>>>> REPLACE\n</diff>\n</replace_in_file>"),
		message.User("[replace_in_file for 'src/tax.ts'] Result:\nThe content was successfully saved to src/tax.ts."),
		message.Assistant("<execute_command>\n<command>npm test</command>\n</execute_command>"),
		message.User("[execute_command for 'npm test'] Result:\nCommand executed.\nOutput:\nTests: 1 failed, 11 passed, 12 total\n"),
		message.Assistant("<ask_followup_question>\n<question>Shall I round half up?</question>\n</ask_followup_question>"),
		message.User("[ask_followup_question for 'Shall I round half up?'] Result:\n<answer>\nYes, half up.\n</answer>"),
		message.Assistant("<write_to_file>\n<path>src/b.ts</path>\n<content>\nx\n</content>\n</write_to_file>"),
		message.User("[write_to_file for 'src/b.ts'] Result:\nThe user denied this operation.\n<feedback>\nPut it into tax.ts.\n</feedback>"),
		message.Assistant("Into tax.ts then."),
	}}, []string{
		"[s1] Round the tax of each line. Don't change rates.yml.",
		"[s9] Yes, half up.", "[s11] Put it into tax.ts.",
		"`src/tax.ts`: edited (in roundCents)", "read `src/tax.ts`", "`npm test` failed: Tests: 1 failed, 11 passed, 12 total",
	}, []string{"Result:", "environment_details", "<path>", "`src/b.ts`: created"})
}

// A line in brackets that a person wrote does not count as a result.
func TestBracketsOfAPersonAreNoResult(t *testing.T) {
	for text, want := range map[string]bool{
		"[read_file for 'a.ts'] Result:\nx":   true,
		"[attempt_completion] Result:\nx":     true,
		"[urgent] Result: the tests fail":     false,
		"See this.\n[read_file] Result:\nx":   false,
		"[Read this for me] Result:\nnothing": false,
	} {
		if got := elementResult(text); got != want {
			t.Errorf("%q: elementResult returns %v, want the opposite", text, got)
		}
	}
}
