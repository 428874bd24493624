package strategy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// Scores are sums of fractions, and such sums depend on the order of the fractions. With
// different sums, two summaries of one history would quote different excerpts.
func TestExcerptScoresAreReproducible(t *testing.T) {
	words := []string{"parser", "lexer", "tokens", "grammar", "symbols", "scanner", "errors", "positions", "comments", "literals"}
	msgs := []message.Message{message.User("Check " + strings.Join(words, ", ") + " of the compiler.")}
	for i := range words { // no two words are equally rare
		text := fmt.Sprintf("part %d\n", i) + strings.Join(words[i:], " are parts of the old compiler\n")
		msgs = append(msgs, called(fmt.Sprint(i), "read", fmt.Sprintf(`{"path":"src/part%d.go"}`, i), text)...)
	}
	first := strategy.ExcerptScores(history(msgs...))
	if len(first) == 0 {
		t.Fatal("no excerpts")
	}
	for range 40 {
		if d := cmp.Diff(first, strategy.ExcerptScores(history(msgs...))); d != "" {
			t.Fatal(d)
		}
	}
}

// The task describes a thing in words, and a text has one identifier made of these words.
func TestExcerptHoldsANameOfTheTasksWords(t *testing.T) {
	read := called("1", "read", `{"path":"docs/net.md"}`, strings.Repeat("Other lines of this text are about other things.\n", 9)+"A TokenLimiter holds back what comes too early.\n"+strings.Repeat("Other lines of this text are about other things.\n", 9))
	text := extract(t, strategy.TaskState, append([]message.Message{message.User("What does the limiter do?")}, append(read, message.Assistant("I know it."))...))
	if want := "`docs/net.md` reads “"; !strings.Contains(text, want) || !strings.Contains(text, "A TokenLimiter holds back what comes too early.") {
		t.Errorf("the line of the limiter is not in:\n%s", text)
	}
}

// A text that was edited after it was read is not quoted in its earlier form.
func TestExcerptsAreNotOfTextsThatWereEditedLater(t *testing.T) {
	other := strings.Repeat("Other lines of this text are about other things.\n", 9)
	msgs := append([]message.Message{message.User("What does the limiter do?")}, called("1", "read", `{"path":"docs/net.md"}`, other+"A TokenLimiter holds back what comes too early.\n"+other)...)
	for _, edited := range []bool{false, true} {
		if edited {
			msgs = append(msgs, called("2", "write_file", `{"path":"docs/net.md","content":"Now it is a queue."}`, "ok")...)
		}
		text := extract(t, strategy.TaskState, append(msgs, message.Assistant("I know it.")))
		if got := strings.Contains(text, "holds back what comes"); got == edited {
			t.Errorf("edited later: %v, quoted: %v\n%s", edited, got, text)
		}
	}
}

// excerpts returns the excerpts for a task for which files were read.
func excerpts(task string, files map[string]string) string {
	msgs := []message.Message{message.User(task)}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		msgs = append(msgs, called(fmt.Sprint(i), "read", fmt.Sprintf(`{"path":%q}`, name), files[name])...)
	}
	return strings.Join(strategy.Excerpts(history(msgs...)), "\n")
}

// Excerpts quote texts about the task. They quote no code, no line of a tool around a text, and
// no text without a word of the task.
func TestExcerptsAreTextsAboutTheTask(t *testing.T) {
	const about, other = "The limiter holds back what comes too early.\nIt waits until there is room again.\n", "Other lines of this text are about other things.\nThey name nothing of the task.\n"
	const quoted = "The limiter holds back what comes too early. ⏎ It waits until there is room again.” [s2]"
	for name, c := range map[string]struct{ file, text, want string }{
		"a text":         {"docs/net.md", about, "`docs/net.md` reads “" + quoted},
		"a frame":        {"docs/net.md", strings.Replace(about, "\n", "\nTotal output lines: 12\n", 1), "`docs/net.md` reads “" + quoted},
		"a file of code": {"net/limit.go", about, ""},
		"another text":   {"docs/net.md", other, ""},
		"both":           {"docs/net.md", strings.Repeat(other, 9) + "\n" + about, "`docs/net.md` reads “They name nothing of the task. ⏎ " + quoted},
		"short lines":    {"docs/net.md", "A limiter is here now\n" + strings.Repeat("a b c d e\n", 30), "`docs/net.md` reads “A limiter is here now" + strings.Repeat(" ⏎ a b c d e", 11) + "” [s2]"},
	} {
		if got := excerpts("What does the limiter do?", map[string]string{c.file: c.text}); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// If there are too many excerpts, those with the rarest words of the task stay.
func TestExcerptsWithRareWordsComeFirst(t *testing.T) {
	files := map[string]string{"docs/z.md": "The limiter holds back what comes too early.\nIt waits until there is room again.\n"}
	for i := range 70 {
		files[fmt.Sprintf("docs/%02d.md", i)] = fmt.Sprintf("The server also has a part with number %d\nwhich does just one thing and no more.\n", i)
	}
	if got := excerpts("What does the limiter of the server do?", files); !strings.HasPrefix(got, "`docs/z.md` reads “The limiter holds back") {
		t.Errorf("the first excerpt is not about the limiter: %.200s", got)
	}
}
