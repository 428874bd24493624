package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A client puts the files that a user attached into elements of the message. Lines of code are
// not the user's words, and set no rules. A document can hold the task.
func TestAttachedCodeIsCited(t *testing.T) {
	code := "\"use strict\";\n" + strings.Repeat("const net = () => { return rows.filter((r) => r.open); };\nmust(never(\"touch\", net));\n", 20)
	task := strings.Repeat("The page lists all open orders by their date. ", 20) + "Never show prices to guests.\n"
	tells(t, long("Make the list shorter.\n<file_content path=\"src/list.tsx\">\n"+code+"</file_content>\n<file path=\"task.md\">\n"+task+"</file>",
		message.Assistant("I look at it.")),
		[]string{"Make the list shorter.", "[pasted file src/list.tsx: ", "Never show prices to guests."},
		[]string{"use strict", "rows.filter", "never(\"touch\""})
}

// A small element stays: a person can write about markup.
func TestSmallFileElementStays(t *testing.T) {
	tells(t, long("Write <file path=\"a.xml\">x</file> into the manifest.", message.Assistant("I write it.")), []string{`<file path="a.xml">x</file>`}, nil)
}

// A list of what was done is no plan, whatever its heading says.
func TestListOfDeedsIsNoPlan(t *testing.T) {
	report := "I cleaned up.\n\n### Removed steps of the old plan\n- **Removed outdated notes** and comments\n- **Consolidated imports** of both modules\n- **Renamed values** across the code\n"
	tells(t, long("Clean up.", message.Assistant(report), message.User("Now check the links.")), nil, []string{writtenPlan})
	plan := "The remaining steps:\n- Remove the outdated notes\n- Consolidate the imports\n"
	tells(t, long("Clean up.", message.Assistant(plan)), []string{writtenPlan + "Remove the outdated notes"}, nil)
}

// A comment in an example of code concludes nothing.
func TestCommentOfCodeIsNoConclusion(t *testing.T) {
	for text, want := range map[string]bool{"// The problem is the order of both parts.": false, "The problem is the order of both parts.": true} {
		if got := concludes(text); got != want {
			t.Errorf("%q concludes: %v, want %v", text, got, want)
		}
	}
}

// The frames of a stack in a pasted text name no state.
func TestFramesOfPastedStackAreNotQuoted(t *testing.T) {
	stack := strings.Repeat("    at QueryResults.update (webpack-internal:///./node_modules/lib/updates.js:148:13)\n    at Client.local (webpack-internal:///./node_modules/lib/client.js:434:40)\n", 20)
	tells(t, long("I still see this.\nError: no function for 'orders:list'\n"+stack, message.Assistant("I look.")), []string{"no function for 'orders:list'"}, []string{"at Client.local ("})
}

// The editor of some clients names the new text new_text, and lists its commands.
func TestEditorWithNewTextEdits(t *testing.T) {
	tells(t, long("Make it smaller.", ranCalls(
		[3]string{"editor", `{"path":"src/list.tsx","old_text":"size-4","new_text":"size-3"}`, `{"query":"edit:src/list.tsx","result":"Edited src/list.tsx","success":true}`},
		[3]string{"run_commands", `{"commands":["go vet ./a","go test ./a"]}`, "ok  \tshop/a\t0.1s"},
	)...), []string{"`src/list.tsx`: edited", "go test ./a` passed"}, nil)
}

// Not more than a number of elements is read, so that a message of many unclosed elements takes
// no quadratic time.
func TestElementsAfterTheMostStay(t *testing.T) {
	file := `<file path="a.go">` + strings.Repeat("x := y\n", leastPaste/7+1) + "</file>"
	text := withoutAttached(strings.Repeat("<file>", mostAttached-1) + file + file)
	if strings.Count(text, "[pasted file a.go") != 1 || !strings.HasSuffix(text, file) {
		t.Errorf("of %d elements, the last two are %.80q", mostAttached+1, text[len(text)-len(file)-80:])
	}
}
