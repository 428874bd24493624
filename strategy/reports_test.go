package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// A linter with only warnings has not failed; a linter with errors has failed.
func TestLinterWarningsAreNotFailures(t *testing.T) {
	for result, want := range map[string]strategy.Outcome{
		"Exit code: 0\n\n/a/b.ts\n  3:1  warning  Unexpected any\n\n✖ 3 problems (0 errors, 3 warnings)":                 strategy.OK,
		"Exit code: 0\n\n✖ 1 problem (0 errors, 1 warning)":                                                              strategy.OK,
		"Exit code: 1\n\n✖ 3 problems (1 error, 2 warnings)":                                                             strategy.Failed,
		"/a/b.ts\n  3:1  error  Unexpected any\n\n✖ 3 problems (1 error, 2 warnings)\n  0 errors and 2 warnings fixable": strategy.Failed,
		"✖ 12 problems (10 errors, 2 warnings)":                                                                          strategy.Failed,
		"✖ 3 problems (0 errors, 3 warnings)":                                                                            strategy.Unknown,
	} {
		if got := history(called("1", "bash", `{"command":"eslint src/"}`, result)...).Steps[0].Calls[0].Outcome; got != want {
			t.Errorf("%q: %v, want %v", result, got, want)
		}
	}
}

// The script of sed is not a file, in any of its forms.
func TestSedScriptsAreNotFiles(t *testing.T) {
	for cmd, want := range map[string]string{
		"sed -i '/foo.bar/d' pkg/a.go":          "pkg/a.go edited",
		"sed -n '/TODO/p' pkg/a.go":             "pkg/a.go read",
		"sed -n '/TODO/,$p' pkg/a.go":           "pkg/a.go read",
		"sed -i s/old/new.go/ pkg/a.go":         "pkg/a.go edited",
		"sed -i '3s|a/b.c|d/e.f|g' pkg/a.go":    "pkg/a.go edited",
		"sed -i s/old/new/ /srv/app/p.go":       "/srv/app/p.go edited",
		"sed -n 1,5p src/s/a/b.go /home/x/y/ab": "src/s/a/b.go read, /home/x/y/ab read",
	} {
		got := ""
		for i, f := range history(called("1", "bash", fmt.Sprintf(`{"command":%q}`, cmd), "")...).Steps[0].Calls[0].Files() {
			if i > 0 {
				got += ", "
			}
			got += f.Path + " " + f.Op.String()
		}
		if got != want {
			t.Errorf("%s: files %s, want others", cmd, got)
		}
	}
}

// Some linters print their findings after the count of files. A count at the end of such an
// output means that nothing was found. A count in another place means nothing.
func TestLinterWithCountAtEndFoundNothing(t *testing.T) {
	const count = "Checked 12 files in 30ms. No fixes applied."
	for result, want := range map[string]strategy.Outcome{
		"> lint\n> biome check .\n\n" + count: strategy.OK,
		count + "\nFound 2 errors.":           strategy.Failed,
		count + "\nFound 2 warnings.":         strategy.Unknown,
		count + "\n> now the types":           strategy.Unknown,
		"Exit code: 1\n" + count:              strategy.Failed,
		"Checked all files in 30ms.":          strategy.Unknown,
	} {
		if got := history(called("1", "bash", `{"command":"npm run lint 2>&1 | tail -20"}`, result)...).Steps[0].Calls[0].Outcome; got != want {
			t.Errorf("%q: %v, want %v", result, got, want)
		}
	}
}

// A note of the harness below an output does not belong to the command's output.
func TestSummaryOmitsHarnessNoteAboutFolder(t *testing.T) {
	text := extract(t, strategy.TaskState, append([]message.Message{message.User("Commit the rows.")},
		called("1", "Bash", `{"command":"cd /srv/rows && git push"}`, "To rows.example:rows.git\n   1a2b3c4..5d6e7f8  main -> main\nShell cwd was reset to /srv")...))
	if strings.Contains(text, "cwd") || !strings.Contains(text, "which printed: 1a2b3c4..5d6e7f8 main -> main") {
		t.Errorf("the note of the harness is quoted:\n%s", text)
	}
}

// A tool that finds other tools is not a source of facts.
func TestToolSearchIsNotASource(t *testing.T) {
	msgs := []message.Message{message.User("Find out when the library was founded.")}
	msgs = append(msgs, called("1", "ToolSearch", `{"query":"select:WebSearch"}`, "WebSearch")...)
	msgs = append(msgs, called("2", "web_search", `{"query":"library founded year"}`, strings.Repeat("The library was founded in 1901. ", 60))...)
	text := section(t, extract(t, strategy.TaskState, msgs), "Sources")
	if strings.Contains(text, "ToolSearch") || !strings.Contains(text, "asked web_search for “library founded year”") {
		t.Errorf("the result of a tool search is quoted:\n%s", text)
	}
}

// An assumption is not a rule.
func TestSuppositionIsNotAConstraint(t *testing.T) {
	h := history(message.User("My assumption is that you must never start it twice. You must never stop it twice either."))
	got := h.Constraints()
	if len(got) != 1 || got[0].Text != "You must never stop it twice either. [s1]" {
		t.Errorf("got %+v, want only the rule", got)
	}
}
