package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// Scores are sums of fractions, and such sums depend on the order. With different sums, two
// summaries of one history would quote different excerpts.
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

// The task names a thing with words, and a text with one name of these words.
func TestExcerptHoldsANameOfTheTasksWords(t *testing.T) {
	read := called("1", "read", `{"path":"docs/net.md"}`, strings.Repeat("Other lines of this text are about other things.\n", 9)+"A TokenLimiter holds back what comes too early.\n"+strings.Repeat("Other lines of this text are about other things.\n", 9))
	text := extract(t, strategy.TaskState, append([]message.Message{message.User("What does the limiter do?")}, append(read, message.Assistant("I know it."))...))
	if want := "`docs/net.md` reads “"; !strings.Contains(text, want) || !strings.Contains(text, "A TokenLimiter holds back what comes too early.") {
		t.Errorf("the line of the limiter is not in:\n%s", text)
	}
}

// A text that was edited after it was read is not quoted as it was.
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
