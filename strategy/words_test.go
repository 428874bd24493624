package strategy

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentcompact/compact/message"
)

func quarter(s string) int { return (len(s) + 3) / 4 }

func TestUserWordsAreVerbatimAndInOrder(t *testing.T) {
	msgs := []message.Message{
		message.User("Use port 8080.\n\n# Not a heading of ours\n[s9] looks like a number"),
		message.Assistant("```bash\nmake\n```"),
		message.User("<returncode>0</returncode>\n<output>ok</output>"),
		message.User("<system-reminder>x</system-reminder>"),
		message.User("No, use port 9090."),
	}
	words := wordsOf(msgs, 1, nil)
	want := []Word{{Step: 1, Text: msgs[0].Text()}, {Step: 5, Text: "No, use port 9090."}}
	if d := cmp.Diff(want, words); d != "" {
		t.Fatal(d)
	}
	text := renderWords(words, TaskState.title)
	again, rest := cutWords("intro\n"+text+"\n\n## Constraints\n- x", TaskState.title)
	if rest != "intro\n## Constraints\n- x" || len(again) != 2 || again[1].Text != "No, use port 9090." {
		t.Errorf("rest %q, words %+v, want %q", rest, again, "intro\n## Constraints\n- x")
	}
}

func TestTypedHeadingDoesNotEndSection(t *testing.T) {
	words := []Word{{Step: 3, Text: "write this:\n## Constraints\n- never"}, {Step: 7, Text: "[s12] and this"}}
	text := renderWords(words, TaskState.title)
	again, _ := cutWords(text+"\n\n## Decisions\n- y", TaskState.title)
	if len(again) != 2 || again[0].Step != 3 || !strings.Contains(again[0].Text, "## Constraints\n- never") {
		t.Errorf("words %+v, want two, the first with the typed heading", again)
	}
}

func TestLongestWordsLoseTheirMiddle(t *testing.T) {
	var words []Word
	for i := range 14 {
		text := fmt.Sprintf("message %d", i)
		if i == 1 || i == 2 {
			text = fmt.Sprintf("begin%d %s end%d", i, strings.Repeat("something in between ", 100), i)
		}
		words = append(words, Word{Step: i + 1, Text: text, Ref: "0123456789ab"})
	}
	got := fitWords(words, 800, 4000, quarter)
	total := 0
	for i, w := range got {
		total += quarter(renderWord(w))
		if i != 1 && i != 2 && w.Text != words[i].Text {
			t.Errorf("%q was cut", words[i].Text)
		}
	}
	if total > 800 || len(got) != 14 {
		t.Errorf("%d words, %d tokens, want 14 words of at most 800 tokens", len(got), total)
	}
	if w := got[1].Text; !strings.HasPrefix(w, "begin1 ") || !strings.HasSuffix(w, " end1") || !strings.Contains(w, "· recall 0123456789ab]") {
		t.Errorf("got %q, want the beginning and the end", w)
	}
	if utf8.RuneCountInString(got[2].Text) < utf8.RuneCountInString(got[1].Text) {
		t.Error("of two equally long messages, the newer one was cut further")
	}
}

func TestNewestTenWordsStayUncutIfThereIsRoom(t *testing.T) {
	var words []Word
	for i := range 12 {
		words = append(words, Word{Step: i + 1, Text: strings.Repeat(fmt.Sprintf("word%d ", i), 60)})
	}
	got := fitWords(words, 100, 5000, quarter)
	for i := 2; i < 12; i++ {
		if got[i].Text != words[i].Text {
			t.Errorf("message %d was cut", i+1)
		}
	}
	if len(got[0].Text) >= len(words[0].Text) {
		t.Error("an old message was not cut")
	}
	small := fitWords(words, 100, 400, quarter)
	total := 0
	for _, w := range small {
		total += quarter(renderWord(w))
	}
	if total > 400 || small[len(small)-1].Step != 12 {
		t.Errorf("%d tokens, the last is of step %d, want at most 400 tokens, and step 12 last", total, small[len(small)-1].Step)
	}
}

// fitWords drops messages only until the rest fits. If it used the costs of other messages,
// the rest would exceed the budget of a summary, or messages would be lost although there
// is room.
func TestFitWordsDropsOnlyOldestWords(t *testing.T) {
	var growing, shrinking []Word // no message is long enough to be cut
	for i := range 12 {
		growing = append(growing, Word{Step: i + 1, Text: strings.Repeat("w", 10*i)})
		shrinking = append(shrinking, Word{Step: i + 1, Text: strings.Repeat("w", 110-10*i)})
	}
	for name, words := range map[string][]Word{"growing": growing, "shrinking": shrinking} {
		for hard := 0; hard < 250; hard += 7 {
			first, room := len(words), hard
			for ; first > 0 && quarter(renderWord(words[first-1])) <= room; first-- {
				room -= quarter(renderWord(words[first-1]))
			}
			got := fitWords(words, hard, hard, quarter)
			if diff := cmp.Diff(words[first:], got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %d tokens: %s", name, hard, diff)
			}
		}
	}
}

// After fitWords drops a message without content, it cuts the longest message, not the message
// that moved to the dropped place.
func TestTheLongestMessageIsCutAfterAPoliteOneWent(t *testing.T) {
	short, long := strings.Repeat("short ", 60), strings.Repeat("A long sentence of the user. ", 200)
	words := []Word{{Step: 1, Text: "thanks"}, {Step: 2, Text: short}, {Step: 3, Text: long}, {Step: 4, Text: short + "end"}}
	for n := range uncut {
		words = append(words, Word{Step: 5 + n, Text: "yes"})
	}
	got := fitWords(words, 1000, 4000, quarter)
	if len(got) != len(words)-1 || got[0].Text != short || got[2].Text != short+"end" || len(got[1].Text) >= len(long) || len(got[1].Text) < 1500 {
		t.Errorf("got %.60q, want the longest message cut", got)
	}
}
