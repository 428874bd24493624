package prose

import (
	"slices"
	"strings"
	"testing"
)

func TestSentencesReadsEndOfLongLine(t *testing.T) {
	text := strings.Repeat("x", 30_000) + ". You must never drop the table of orders."
	found := false
	Sentences(text, func(s string, _ bool) { found = found || strings.HasPrefix(s, "You must never") })
	if !found {
		t.Error("the end of a long line is not read")
	}
}

// A pleasantry before a sentence is a separate sentence.
func TestSplitSentencesSeparatesPleasantry(t *testing.T) {
	var got []string
	SplitLine("Good catch. It should return the error.", func(s string) { got = append(got, s) })
	if len(got) != 2 || got[1] != "It should return the error." {
		t.Errorf("got %q, want the pleasantry and the sentence", got)
	}
}

func TestAbbreviationDoesNotEndSentence(t *testing.T) {
	for _, text := range []string{
		"Call the harbor office at 555-0134, ext. 12, before noon.",
		"The tide tables of Lind et al. are wrong by an hour.",
		"The pier is closed between 5 a.m. and noon.",
	} {
		var got []string
		Sentences(text, func(s string, _ bool) { got = append(got, s) })
		if len(got) != 1 {
			t.Errorf("%q became %q, want one sentence", text, got)
		}
	}
}

func TestSentencesDoesNotCutInCode(t *testing.T) {
	var got []string
	SplitLine("The call `gh run view --log ... --job x. y` returned no body. It is the newest one.", func(s string) { got = append(got, s) })
	if len(got) != 2 || !strings.HasSuffix(got[0], "returned no body.") {
		t.Errorf("got %q, want 2 sentences with the code uncut", got)
	}
	got = nil
	SplitLine("A stray ` is no code. It is a typo of mine.", func(s string) { got = append(got, s) })
	if len(got) != 2 {
		t.Errorf("%q, want 2 sentences", got)
	}
}

func TestSentencesSplitsText(t *testing.T) {
	text := "One is done. Two is not.\n# Three\n~~~\ncode. more code.\n~~~\n- Four is next.\n```\nx. y.\n```\n2) Five is last.\n12. Six\n1234. Seven\n| a | b |\n---\n> Eight\n2.5 is a number\n"
	var got []string
	EachSentence(text, func(s Sentence) {
		switch {
		case s.Heading:
			s.Text += " (heading)"
		case s.Item:
			s.Text += " (item)"
		}
		got = append(got, s.Text)
	})
	want := []string{"One is done. Two is not.", "Three (heading)", "Four is next. (item)", "Five is last. (item)", "Six (item)", "1234. Seven", "Eight", "2.5 is a number"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestNumberAfterAnAbbreviationEndsNoSentence(t *testing.T) {
	for line, want := range map[string]string{
		"The address of the order is now Torstr. 12 in Berlin. It ships today.": "The address of the order is now Torstr. 12 in Berlin.|It ships today.",
		"The contract is amended in Art. 5 and nowhere else.":                   "The contract is amended in Art. 5 and nowhere else.",
		"The whole run took five minutes. 12 tests passed.":                     "The whole run took five minutes.|12 tests passed.",
		"The whole run used version V2. 12 tests passed.":                       "The whole run used version V2.|12 tests passed.",
	} {
		var got []string
		SplitLine(line, func(s string) { got = append(got, s) })
		if strings.Join(got, "|") != want {
			t.Errorf("%q is cut into %q", line, got)
		}
	}
}
