package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
)

// removed returns the archive of a session whose first results were replaced by a
// summary. The results have these lines.
func removed(t *testing.T, results ...string) *memory.Archive {
	t.Helper()
	return removedFrom(t, func(history []message.Message) []message.Message {
		history = slices.Insert(history, 2, message.Assistant("I begin with Alpha."))
		for i, text := range results {
			history[4+2*i].Parts[0].Text = text
		}
		return history
	})
}

// removedFrom returns the archive of a session whose first messages were replaced by a
// summary. change changes the history before.
func removedFrom(t *testing.T, change func(history []message.Message) []message.Message) *memory.Archive {
	t.Helper()
	c, err := compact.Preset("summarize")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 8_000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(t.Context(), "s", change(loop(60)))
	if err != nil || res.Summary == nil {
		t.Fatalf("no summary (%v)", err)
	}
	if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return a
}

// The error about a pattern has the pattern as the caller wrote it.
func TestSearchPatternNamesThePatternAsGiven(t *testing.T) {
	if _, err := recall.SearchPattern("two("); err == nil || !strings.Contains(err.Error(), "`two(`") {
		t.Errorf("got %v", err)
	}
}

// search returns the matches as "line:text", context lines as "line-text".
func search(t *testing.T, a *memory.Archive, pattern string, most int, opts ...recall.SearchOption) (got []string, found recall.Found) {
	t.Helper()
	p, err := recall.SearchPattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	found, err = recall.Search(t.Context(), a, "s", p, most, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found.Matches {
		sep := ":"
		if m.Near {
			sep = "-"
		}
		got = append(got, fmt.Sprintf("%s%d%s%s", m.Role[:1], m.Line, sep, m.Text))
	}
	return got, found
}

func TestSearchShowsEachMatchingLineOnceWithItsNeighbors(t *testing.T) {
	a := removed(t, "one\nalpha 1\nthree\nfour\nfive\nalpha 6\nseven\nalpha 8\nnine\nten\neleven", "alpha 1\nbeta\nALPHA", "nothing here")
	for _, tc := range []struct {
		pattern     string
		most        int
		around      int
		want        []string
		lines, same int
	}{
		{"alpha", 0, 0, []string{"a1:I begin with Alpha.", "t1:alpha 1", "t3:ALPHA", "t6:alpha 6", "t8:alpha 8"}, 6, 1},
		{"ALPHA", 0, 0, []string{"t3:ALPHA"}, 1, 0},
		{"alpha [68]", 0, 1, []string{"t5-five", "t6:alpha 6", "t7-seven", "t8:alpha 8", "t9-nine"}, 2, 0},
		{"alpha [68]", 0, 2, []string{"t4-four", "t5-five", "t6:alpha 6", "t7-seven", "t8:alpha 8", "t9-nine", "t10-ten"}, 2, 0},
		{"alpha [68]", 0, 99, []string{"t1-one", "t2-alpha 1", "t3-three", "t4-four", "t5-five", "t6:alpha 6", "t7-seven", "t8:alpha 8", "t9-nine", "t10-ten", "t11-eleven"}, 2, 0},
		{"alpha [68]", 0, -1, []string{"t6:alpha 6", "t8:alpha 8"}, 2, 0},
		{"alpha", 2, 0, []string{"t1:alpha 1", "t3:ALPHA"}, 6, 1},
		{"^three$|^four$", 0, 1, []string{"t2-alpha 1", "t3:three", "t4:four", "t5-five"}, 2, 0},
		{"no such word", 0, 3, nil, 0, 0},
	} {
		got, found := search(t, a, tc.pattern, tc.most, recall.Around(tc.around))
		if !slices.Equal(got, tc.want) || found.Lines != tc.lines || found.Same != tc.same || found.Cut || found.Changed != 0 {
			t.Errorf("%s, %d lines around: %q, %d lines, %d the same, want %q, %d and %d", tc.pattern, tc.around, got, found.Lines, found.Same, tc.want, tc.lines, tc.same)
		}
	}
}

// Originals that no step has archived yet are shown newest first, too.
func TestSearchShowsTheNewestEditFirst(t *testing.T) {
	c, err := compact.Preset("gateway")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 100_000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(t.Context(), "s", loop(40))
	if err := errors.Join(err, m.Close(context.WithoutCancel(t.Context()))); err != nil || res.Step != 0 {
		t.Fatal(res.Step, err)
	}
	_, found := search(t, a, `^file_\d+\.go`, 0)
	last := 40
	for _, line := range found.Matches {
		var n int
		if _, err := fmt.Sscanf(line.Text, "file_%d.go", &n); err != nil || n >= last {
			t.Errorf("file %d after file %d, %v", n, last, err)
		}
		last = n
	}
	if len(found.Matches) < 20 {
		t.Errorf("%d matches", len(found.Matches))
	}
}

func TestAMatchHasItsPosition(t *testing.T) {
	a := removed(t, "one\nthe needle\nthree")
	_, found := search(t, a, "needle", 0)
	if len(found.Matches) != 1 {
		t.Fatalf("%+v", found)
	}
	m := found.Matches[0]
	text, err := recall.Text(t.Context(), a, "s", m.Ref)
	if err != nil || text != "one\nthe needle\nthree" || m.Role != message.RoleTool || m.Line != 2 || m.Turn != 2 {
		t.Errorf("%+v, whose text is %q, %v", m, text, err)
	}
}

// A line of more than 400 bytes is cut around its match, between characters.
func TestALongLineIsShownAroundItsMatch(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
	}{
		{"400 bytes", strings.Repeat("x", 394) + "needle", strings.Repeat("x", 394) + "needle"},
		{"at the beginning", "needle" + strings.Repeat("x", 500), "needle" + strings.Repeat("x", 388) + "…"},
		{"at the end", strings.Repeat("x", 500) + "needle", "…" + strings.Repeat("x", 388) + "needle"},
		{"in the middle", strings.Repeat("x", 500) + "needle" + strings.Repeat("y", 500), "…" + strings.Repeat("x", 194) + "needle" + strings.Repeat("y", 194) + "…"},
		{"characters of two bytes, the cut within one", strings.Repeat("ä", 250) + "xneedle" + strings.Repeat("ö", 250), "…" + strings.Repeat("ä", 97) + "xneedle" + strings.Repeat("ö", 96) + "…"},
		{"characters of two bytes", strings.Repeat("ä", 250) + "needle" + strings.Repeat("ö", 250), "…" + strings.Repeat("ä", 97) + "needle" + strings.Repeat("ö", 97) + "…"},
	} {
		got, _ := search(t, removed(t, tc.text), "needle", 0)
		if want := "t1:" + tc.want; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", tc.name, got, want)
		}
	}
}

// If there are too many matches, those of the newest step are shown.
func TestSearchShowsTheNewestStepFirst(t *testing.T) {
	a := memory.New()
	compacts, history := agent(t, a), loop(150)
	last := 0
	for _, n := range []int{102, len(history)} {
		compacts(history[:n])
		_, found := search(t, a, `file_\d+\.go: `, 1)
		if len(found.Matches) == 0 || found.Matches[0].Turn <= last {
			t.Fatalf("%d messages: %+v, and before turn %d", n, found.Matches, last)
		}
		last = found.Matches[0].Turn
	}
}
