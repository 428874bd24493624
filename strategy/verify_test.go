package strategy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
)

// work returns a conversation about a few files.
func work() []message.Message {
	msgs := []message.Message{
		message.User("Fix service/importer.go, ticket SHOP-4412. Budget is 128,000 tokens. Release v2.4.1."),
		message.Assistant("I'll read it first.", message.Call("a", "read", `{"file_path":"/home/dev/shop/service/importer.go"}`)),
		message.ToolResult("a", strings.Repeat("func loadRows(path string) error { return parseLine(path) }\n", 30)),
		message.Assistant("Now the tests.", message.Call("b", "bash", `{"command":"go test ./service/..."}`)),
		message.ToolResult("b", "--- FAIL: TestLoadRows\nimporter.go:88: unexpected end of JSON input\nexit code: 1"),
		message.Assistant("Commit 3f9a2c1bd8 broke it, see https://ci.example.com/runs/5511/ for the log."),
	}
	return append(msgs, message.User(strings.Repeat("Please go on with the importer until all of its tests pass. ", 40)))
}

// A scribe answers every request with the same text.
type scribe struct{ text string }

func (s scribe) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: s.text}, nil
}

func write(t *testing.T, draft string, msgs []message.Message) summarize.Summary {
	t.Helper()
	sum, err := summarize.Writer{Summarizer: scribe{draft}}.Write(context.Background(), summarize.Input{Messages: msgs, Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestVerificationCutsNamesThatTheSourceLacks(t *testing.T) {
	for _, c := range []struct{ name, line, gone string }{
		{"path", "- the fix is in service/ghost_loader.go as the user wished", "ghost_loader"},
		{"file", "- see helper_extra.py for the helper that does the work", "helper_extra.py"},
		{"URL", "- the log is at https://ci.example.com/runs/9999", "9999"},
		{"hash", "- commit deadbee77 introduced the bug in the importer", "deadbee77"},
		{"ticket", "- the work belongs to ticket SHOP-9999 of the shop", "SHOP-9999"},
		{"number", "- the importer reads 48213 rows on each night of the week", "48213"},
		{"version", "- the fix is planned for the release v9.9.9 of the shop", "v9.9.9"},
		{"symbol", "- the function rebuildGhostIndex calls the importer in a loop", "rebuildGhostIndex"},
		{"id", "- the order of the customer is W9911223 and has been paid", "W9911223"},
		{"quoted error", "- the test of the importer fails with \"cannot open the ghost database\"", "ghost database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			draft := "## Key entities\n- service/importer.go: loadRows\n## Decisions\n" + c.line
			sum := write(t, draft, work())
			if strings.Contains(sum.Text, c.gone) {
				t.Errorf("%q is left in:\n%s", c.gone, sum.Text)
			}
			if sum.Invented != 1 {
				t.Errorf("%d invented, want 1", sum.Invented)
			}
			if !strings.Contains(sum.Text, "- service/importer.go: loadRows") {
				t.Errorf("a true line is gone:\n%s\nwant text with %q", sum.Text, "- service/importer.go: loadRows")
			}
		})
	}
}

func TestVerificationReadsLinesOutsideTheSections(t *testing.T) {
	sum := write(t, "## Key entities\n- service/importer.go: loadRows\n## Remarks\n- the fix of the importer is in lib/ghost_loader.go as the user wished\n", work())
	if strings.Contains(sum.Text, "ghost_loader") || sum.Invented != 1 || !strings.Contains(sum.Text, "as the user wished") {
		t.Errorf("%d names are invented, want 1:\n%s", sum.Invented, sum.Text)
	}
}

func TestDraftOfOnlyReferencesIsUnusable(t *testing.T) {
	w := summarize.Writer{Summarizer: scribe{"## References\n- Files: service/importer.go"}}
	if _, err := w.Write(t.Context(), summarize.Input{Messages: work(), Count: count4}); !errors.Is(err, strategy.ErrUnusable) {
		t.Errorf("error %v, want ErrUnusable", err)
	}
}

func TestVerificationDropsEmptiedLine(t *testing.T) {
	sum := write(t, "## Key entities\n- service/importer.go: loadRows\n- service/ghost_loader.go\n- the file lib/ghost_two.go\n", work())
	if strings.Contains(sum.Text, "[…]") || strings.Contains(sum.Text, "the file") {
		t.Errorf("an empty line is left:\n%s", sum.Text)
	}
}

func TestVerificationKeepsTrueListEntries(t *testing.T) {
	sum := write(t, "## Key entities\n- Files: service/importer.go ghost_one.go importer.go\n- Seen: loadRows, ghostRows, parseLine\n", work())
	for _, want := range []string{"- Files: service/importer.go importer.go\n", "- Seen: loadRows, parseLine"} {
		if !strings.Contains(sum.Text, want) {
			t.Errorf("want %q in:\n%s", want, sum.Text)
		}
	}
}

func TestVerificationAcceptsOtherSpellings(t *testing.T) {
	for _, line := range []string{
		"the budget is 128000 tokens", "the file is ./service/importer.go", "the file is /home/dev/shop/service/importer.go",
		"the file is shop/service/importer.go", "version 2.4.1 is released", "commit 3f9a2c1 broke it", "run ci.example.com/runs/5511 has the log",
		"`loadRows()` calls `parseLine`", "importer.go:88 fails", "shop-4412 is the ticket", "it says \"unexpected end of JSON input\"",
		"it says \"Unexpected end\n of JSON input\"", "step [s104] is done", "GitHub and JavaScript are used", "importer/tests pass",
	} {
		if got := strategy.Inventions(line, work()); len(got) > 0 {
			t.Errorf("%q: %q counts as invented", line, got)
		}
	}
}

func TestVerificationCutsFiveInventedNamesPerAnswer(t *testing.T) {
	msgs := work()
	for i := range 50 {
		var ghosts [5]string
		ghosts[0] = fmt.Sprintf("/srv/ghost%d/data_%d.json", i, i)
		ghosts[1] = fmt.Sprintf("%d", 770_000+i*13)
		ghosts[2] = fmt.Sprintf("GHOST-%d", 100+i)
		ghosts[3] = fmt.Sprintf("ghostHandler%dRun", i)
		ghosts[4] = fmt.Sprintf("https://ghost%d.example.org/x", i)
		draft := "## Goals and success criteria\n- fix service/importer.go as in " + ghosts[0] + "\n## Decisions\n- " + ghosts[1] + " rows, because of " + ghosts[2] +
			"\n- call " + ghosts[3] + "() in loadRows\n## Sources\n- " + ghosts[4] + "\n"
		sum := write(t, draft, msgs)
		for _, g := range ghosts {
			if strings.Contains(sum.Text, g) {
				t.Errorf("%q is left in:\n%s", g, sum.Text)
			}
		}
		if sum.Invented != len(ghosts) {
			t.Errorf("%d cut, want %d:\n%s", sum.Invented, len(ghosts), sum.Text)
		}
	}
}

func TestReferencesNameOmittedIdentifiers(t *testing.T) {
	for _, s := range []strategy.Strategy{strategy.TaskState, strategy.DecisionLog, strategy.CodeDelta, strategy.Brief} {
		w := summarize.Writer{Strategy: s, Summarizer: scribe{"## " + s.Sections[0].Title + "\n- things were done"}}
		sum, err := w.Write(context.Background(), summarize.Input{Messages: recorded(t), Count: counter(t).Count})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Retention < 0.35 { // lists state all identifiers, and lists have at most their share of the summary
			t.Errorf("%s: retention %.2f, want at least 0.35", s.Name, sum.Retention)
		}
		_, refs, ok := strings.Cut(sum.Text, "## References")
		if !ok || counter(t).Count(refs) > summarize.DefaultMaxTokens*16/100 {
			t.Errorf("%s: references of %d tokens, want at most 16 %% of the limit", s.Name, counter(t).Count(refs))
		}
	}
}

func TestLongDraftMakesRoomForReferences(t *testing.T) {
	var b strings.Builder
	b.WriteString("## Goals and success criteria\n")
	for b.Len() < 1450*4 {
		b.WriteString("- something was said here that names nothing at all and goes on for a while\n")
	}
	sum, err := summarize.Writer{Summarizer: scribe{b.String()}}.Write(context.Background(), summarize.Input{Messages: recorded(t), Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Retention < 0.4 || sum.Tokens > summarize.DefaultMaxTokens+summarize.DefaultUserTokens {
		t.Errorf("retention %.2f, %d tokens, want a retention of at least 0.4 within the limit", sum.Retention, sum.Tokens)
	}
}

func TestSummaryCountsItsIdentifiersByOrigin(t *testing.T) {
	// The lines of a model: five in the sections (one of them is cut), the rest added.
	sum := write(t, "## Key entities\n- Files: service/importer.go ghost_one.go\n- Seen: loadRows, parseLine, TestLoadRows\n", work())
	_, refs, _ := strings.Cut(sum.Text, "## References\n")
	if sum.Invented != 1 || sum.References == 0 || sum.Named != 4+sum.References {
		t.Errorf("%d named, %d of them by references, %d invented:\n%s", sum.Named, sum.References, sum.Invented, sum.Text)
	}
	if n := len(strings.Fields(refs)); sum.References > n {
		t.Errorf("%d identifiers in %d words of references", sum.References, n)
	}
	// The test checks summaries of the extractive backend, which only the same
	// verification checks otherwise.
	sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Messages: recorded(t), Count: counter(t).Count})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Named <= sum.References || sum.References == 0 || sum.Invented != 0 {
		t.Errorf("%d named, %d of them by references, %d invented", sum.Named, sum.References, sum.Invented)
	}
}

// The recordings contain summaries that models wrote of the same sessions when these were
// compacted. The summaries are mostly true, so verification must keep their lines.
func TestVerificationKeepsHonestSummaries(t *testing.T) {
	summaries, lines, removed := 0, 0, 0
	const mark = "being continued from a previous conversation"
	for name, data := range corpus.Sessions(t, "chat") {
		if !bytes.Contains(data, []byte(mark)) {
			continue
		}
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, m := range msgs {
			if i < 20 || !m.IsUser() || !strings.Contains(m.Text(), mark) {
				continue
			}
			_, n, gone, _ := strategy.Verify(strategy.TaskState, m.Text(), msgs[:i])
			summaries, lines, removed = summaries+1, lines+n, removed+gone
		}
	}
	if summaries == 0 {
		t.Skip("no recorded session was continued from a summary; let " + corpus.Env + " name a folder with one")
	}
	t.Logf("%d summaries, %d lines, %d removed (%.2f %%)", summaries, lines, removed, 100*float64(removed)/float64(lines))
	if float64(removed) > 0.005*float64(lines) {
		t.Errorf("%d of %d lines are removed, more than 0.5 %%", removed, lines)
	}
}

// The test reads a sample of the sessions, and all sessions with COMPACT_SOAK=1.
func TestVerificationKeepsExtractedSummaries(t *testing.T) {
	for name, data := range corpus.Sessions(t, "chat") {
		if n := bytes.Count(data, []byte("\n")); n < 40 || n%samples.Every(9) > 0 && os.Getenv("COMPACT_SOAK") == "" { // one message per line
			continue
		}
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := "" // text of all summaries, so that the source is read once
		for _, n := range strategy.Names() {
			s, err := strategy.Lookup(n)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := summarize.Writer{Strategy: s}.Write(context.Background(), summarize.Input{Messages: msgs, Count: count4})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			said += withoutWords(s, sum.Text) + "\n"
		}
		if got := strategy.Inventions(said, msgs); len(got) > 0 {
			t.Errorf("%s: %q would be cut", name, got)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	msgs := tokens(recorded(b), 128_000, counter(b))
	sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Messages: msgs, Count: counter(b).Count})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		strategy.Verify(strategy.TaskState, sum.Text, msgs)
	}
}
