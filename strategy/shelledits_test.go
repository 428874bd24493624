package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

const shellPrompt = "\n(Open file: /src/tax.py)\n(Current directory: /src)\nbash-$"

// The task of an editing shell ends with the prompt of the shell, as results do. A demonstration
// before the task is a session of another task.
func TestSummaryStatesTaskOfEditingShell(t *testing.T) {
	demo := "Here is a demonstration of the interface.\n--- DEMONSTRATION ---\n" + strings.Repeat("Never touch the harbor module.\nLet's look at harbor.py.\n", 40) + "--- END OF DEMONSTRATION ---\n"
	tells(t, Input{Messages: append([]message.Message{
		message.User(demo),
		message.User("We must round the tax of each line. Don't change the rates." + "\n(Open file: n/a)\n(Current directory: /src)\nbash-$"),
	}, ranCalls(
		[3]string{"bash", `{"command":"create tax.py"}`, "[File: /src/tax.py (1 lines total)]\n1:" + shellPrompt},
		[3]string{"bash", `{"command":"edit 1:1\ndef tax(net):\n    return round(net * 0.2)\nend_of_edit"}`, "[File: /src/tax.py (2 lines total)]\n1:def tax(net):\n2:    return round(net * 0.2)\nFile updated. Please review the changes and make sure they are correct." + shellPrompt},
		[3]string{"bash", `{"command":"edit 2:2\n    return round(net * 0.2))\nend_of_edit"}`, "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: unmatched ')'\n\nDO NOT re-run the same failed edit command. Running it again will lead to the same error." + shellPrompt},
	)...)}, []string{
		"We must round the tax of each line. Don't change the rates.",
		"- Don't change the rates. [s2]",
		"`/src/tax.py`: created, then edited once",
		"the edit of `/src/tax.py` was refused: - E999 SyntaxError: unmatched ')'",
	}, []string{"harbor", "emonstration", "end_of_edit", "DO NOT re-run"})
}

// After the assistant's first message, a text that ends with a prompt is a result and not a
// request.
func TestPromptOfEditingShellIsNoRequest(t *testing.T) {
	tells(t, Input{Messages: []message.Message{
		message.User("Round the tax."),
		message.Assistant("I look at it."),
		message.User("3 matches in harbor.py" + shellPrompt),
		message.Assistant("Then I round it."),
	}}, nil, []string{"[s3] 3 matches"})
}

// A result that begins with the line of the open file is a result, and no note of the harness.
func TestResultBelowTheLineOfTheOpenFileIsRead(t *testing.T) {
	edit := func(text string) message.Message {
		return message.Assistant("I round it.\n```\nedit 2:2\n" + text + "\nend_of_edit\n```")
	}
	tells(t, long("Round the tax.",
		edit("    return round(net * 0.2"),
		message.User("Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: '(' was never closed"+shellPrompt),
		edit("    return round(net * 0.2)"),
		message.User("[File: /src/tax.py (2 lines total)]\n1:def tax(net):\n2:    return round(net * 0.2)\nFile updated. Please review the changes."+shellPrompt),
		message.Assistant("Done."),
	), []string{"`/src/tax.py`: edited", "the edit of `/src/tax.py` was refused"}, []string{"edited twice", "end_of_edit"})
}
