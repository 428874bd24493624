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
