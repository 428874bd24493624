package strategy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// typedTask returns a task that a person typed, with the given number of paragraphs, and
// the rules in it.
func typedTask(paragraphs int) (text string, rules []string) {
	var b strings.Builder
	b.WriteString("Please port the exporter to the new storage layer.\n")
	for i := range paragraphs {
		fmt.Fprintf(&b, "Part %d is about the table of region %d, where the columns are named after what the importer of last year wrote, and some of them are empty in half of all rows.\n", i, i)
		if i%3 == 1 {
			rule := fmt.Sprintf("You must never write to table t_%d while the importer runs.", i)
			rules = append(rules, rule)
			b.WriteString(rule + "\n")
		}
	}
	b.WriteString("Run `make export` at the end and tell me the number of rows.")
	return b.String(), rules
}

// toldOf returns the number of rules in the user's words of a summary, and these words.
func toldOf(t *testing.T, text string, limit int, rules []string) (n int, words string) {
	t.Helper()
	for _, w := range fitWords(wordsOf([]message.Message{message.User(text)}, 1, nil), limit, limit, func(s string) int { return len(s) / 4 }) {
		words += w.Text
	}
	for _, r := range rules {
		if strings.Contains(words, r) {
			n++
		}
	}
	return n, words
}

func TestCutTaskKeepsRules(t *testing.T) {
	for _, c := range []struct {
		name       string
		paragraphs int
		limit      int // tokens of the user's words
		least      int // minimum number of kept rules out of 10
	}{
		{"as it is", 15, 2_000, 10}, {"just too long", 30, 2_000, 10}, {"long", 60, 2_000, 8}, {"little room", 30, 400, 3}, {"very little room", 30, 150, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, rules := typedTask(c.paragraphs)
			n, words := toldOf(t, text, c.limit, rules)
			if want := len(rules) * c.least / 10; n < min(want, 14) {
				t.Errorf("the words have %d of %d rules, want %d: %s", n, len(rules), want, words)
			}
			if len(words)/4 > c.limit {
				t.Errorf("%d tokens, limit %d", len(words)/4, c.limit)
			}
			if !strings.HasPrefix(words, "Please port the exporter") || !strings.HasSuffix(words, "the number of rows.") {
				t.Errorf("the beginning or the end is missing: %s", words)
			}
		})
	}
}

// A text just above the limit does not become much shorter than a text just below it.
func TestCutTextKeepsLengthOfWholeText(t *testing.T) {
	short, long := strings.Repeat("The table has rows. ", 199), strings.Repeat("The table has rows. ", 205)
	_, whole := toldOf(t, short, 2_000, nil)
	_, cut := toldOf(t, long, 2_000, nil)
	if len(cut) < len(whole)*9/10 {
		t.Errorf("%d characters became %d, but %d became %d", len(long), len(cut), len(short), len(whole))
	}
}

// If there is no room for all messages, a long text that was not typed as a whole is cut
// before typed messages, even if it comes from the previous summary.
func TestFitWordsKeepsShortMessagesBesideLongText(t *testing.T) {
	long, _ := typedTask(40)
	msgs := []message.Message{message.User(long)}
	for i := range 9 {
		msgs = append(msgs, message.User(fmt.Sprintf("And then look at %d: %s", i, strings.Repeat("the column of totals, ", 12)+"please.")))
	}
	count := func(s string) int { return len(s) / 4 }
	words := wordsOf(msgs, 1, func(int) string { return "0123456789ab" })
	for range 2 {
		words = fitWords(words, 900, 900, count)
		if len(words) != len(msgs) {
			t.Fatalf("the words have %d of %d messages", len(words), len(msgs))
		}
		for i, w := range words[1:] {
			if w.Text != msgs[i+1].Text() {
				t.Errorf("a typed message was cut: %s", w.Text)
			}
		}
		if first := words[0].Text; !strings.Contains(first, "characters left out]") || strings.Count(first, "[") != 2 || !strings.HasSuffix(first, "[all of it: recall 0123456789ab]") {
			t.Errorf("the long message became %s, want text with %q and text that ends with %q", first, "characters left out]", "[all of it: recall 0123456789ab]")
		}
	}
}

// If there is no room for all rules, rules that demand or forbid have priority over rules
// that only prefer.
func TestEssencePrefersStrongRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("Please port the exporter.\n")
	for i := range 12 {
		fmt.Fprintf(&b, "I prefer short names in table t_%d where that is possible.\n", i)
	}
	const strong = "You must never write to the archive while the importer runs."
	b.WriteString(strong + "\n" + strings.Repeat("The columns are named after the importer of last year. ", 20))
	if got := essence(b.String(), 500, "[cut]"); !strings.Contains(got, strong) {
		t.Errorf("the rule is missing: %s", got)
	}
}

// Old messages without content are dropped before an instruction is cut, and the
// introduction states whether words were cut.
func TestFitWordsDropsPleasantriesFirst(t *testing.T) {
	task := "Please port the exporter to the new index, and write a test for each table of it. It runs at night. Hmm, make that noon. The tables have two names each."
	words := []Word{{Step: 1, Text: task}, {Step: 3, Text: "Thanks, nice work!"}, {Step: 5, Text: "yes"}, {Step: 7, Text: "weiter"}}
	for i := range uncut {
		words = append(words, Word{Step: 9 + i, Text: fmt.Sprintf("Then table %d.", i)})
	}
	count := func(s string) int { return len(s) / 4 }
	all := 0
	for _, w := range words {
		all += count(renderWord(w))
	}
	got := fitWords(words, all-8, all, count)
	if len(got) != len(words)-2 || got[0].Text != task || got[1].Text != "yes" || slices.ContainsFunc(got, Word.cut) || strings.Contains(introduction(got, false, 1), "but cut") {
		t.Errorf("got %v, want the pleasantries dropped and the task uncut", got)
	}
	got = fitWords(words, all-20, all, count)
	if !got[0].cut() || !strings.Contains(introduction(got, false, 1), "verbatim, but cut at “…”") {
		t.Errorf("got %v, want a cut message and an introduction that says so", got)
	}
	if text := essence(task, 130, "[cut]"); !strings.Contains(text, "Hmm, make that noon.") {
		t.Errorf("the change is missing: %s", text)
	}
}

// ends cuts a text between sentences.
func TestEndsCutsBetweenSentences(t *testing.T) {
	const text = "The report has two tables. Each of them has forty columns in it. They come from the importer of last year. The last one is empty."
	if got, want := ends(text, 60, 30, "[cut]"), "The report has two tables. [cut] The last one is empty."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
