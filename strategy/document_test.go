package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/google/go-cmp/cmp"
)

func TestParseDocumentKnowsTheHeadingsThatModelsWrite(t *testing.T) {
	text := "Here is the summary.\n\n### 1. GOALS and success criteria:\n* one\n\n**Key entities**\n- two\n  - three\n## Something else\n+ four\n## References\n- Files: a.go b.go"
	got := ParseDocument(TaskState, text)
	want := Document{Sections: make([][]string, len(TaskState.Sections)), Notes: []string{"Here is the summary.", "four"}, References: []string{"Files: a.go b.go"}}
	want.Sections[stateGoals] = []string{"one"}
	want.Sections[stateEntities] = []string{"two", "three"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("parsed document (-want +got):\n%s", d)
	}
}

func TestRenderKeepsTextWithoutHeadings(t *testing.T) {
	d := ParseDocument(TaskState, "The loader was fixed.\nThe tests pass.")
	if got := d.Render(TaskState); got != "The loader was fixed.\nThe tests pass." {
		t.Errorf("got %q, want the text without a heading", got)
	}
}

func TestShortenShrinksDocumentUntilEmpty(t *testing.T) {
	d := ParseDocument(TaskState, "note one\nnote two\n## Decisions\n- first\n- second\n## References\n- Files: a.go b.go\n- Symbols: x_y")
	sizes := []int{}
	for range 20 {
		sizes = append(sizes, len(d.Render(TaskState)))
		if d.empty() {
			break
		}
		d.shorten()
	}
	if !d.empty() {
		t.Fatalf("the document is not empty: %+v", d)
	}
	for i := 1; i < len(sizes); i++ {
		if sizes[i] >= sizes[i-1] {
			t.Errorf("step %d changed the size from %d to %d", i, sizes[i-1], sizes[i])
		}
	}
}

func TestFitKeepsWithinTheLimit(t *testing.T) {
	d := ParseDocument(Brief, "## Summary\n"+strings.Repeat("- a line of the summary\n", 40)+"## References\n- Files: "+strings.Repeat("some/file.go ", 40))
	count := func(s string) int { return len(s) }
	for _, limit := range []int{0, 10, 100, 500, 5000} {
		if got := len(fit(d, Brief, limit, count).Render(Brief)); got > limit {
			t.Errorf("size %d, limit %d, want at most the limit", got, limit)
		}
	}
}

func FuzzDocumentIsStableOnceParsed(f *testing.F) {
	f.Add("## Decisions\n- x\n\n- y\nz\n## References\n- Files: a")
	f.Add("**Bold**\n****\n# \n-\n- - -\n+ ")
	f.Add("+ Decisions\n- Decisions:\nx")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []Strategy{TaskState, Brief} {
			once := ParseDocument(s, text).Render(s)
			if twice := ParseDocument(s, once).Render(s); once != twice {
				t.Errorf("%q became %q, then %q", text, once, twice)
			}
		}
	})
}

func FuzzCallsAndPatchesAreReadWithoutPanic(f *testing.F) {
	f.Add(`{"command":"cat > a/b.go <<'EOF'\nx\nEOF\nrm -rf c/d.go && sed -i s/a/b/ e.go"}`, "exit code: 1")
	f.Add(`{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@ func F("}`, "<a>b</a>")
	f.Add("*** Begin Patch\n*** Move to: x\n*** Update File: ", "")
	f.Fuzz(func(t *testing.T, args, result string) {
		c := Call{Tool: "bash", Exit: -1}
		c.Args = append(c.Args, Arg{"command", args}, Arg{"patch", args}, Arg{"path", args})
		c.Result, c.Answered = result, true
		c.finish()
		if strings.ContainsAny(c.Line(), "\n\r") {
			t.Errorf("the line %q has a line break", c.Line())
		}
		prose.Sentences(result, func(s string, _ bool) {
			if s == "" || strings.Contains(s, "\n") {
				t.Errorf("the sentence %q is empty or has a line break", s)
			}
		})
		if got := prose.Clip(prose.Squash(args), 40); len([]rune(got)) > 42 {
			t.Errorf("Clip returned %q, want at most 42 characters", got)
		}
	})
}
