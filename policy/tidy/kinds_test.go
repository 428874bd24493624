package tidy

import (
	"fmt"
	"strings"
	"testing"
)

// Ten lines are enough for a log, nine are not. With a lower limit, a few long lines that
// begin with a time would lose their middle like a log. With a higher limit, a short log of
// long lines would stay whole.
func TestIsLogRequiresTenLines(t *testing.T) {
	for n, want := range map[int]bool{9: false, 10: true, 11: true} {
		d := &draft{}
		for i := range n {
			d.lines = append(d.lines, line{no: i + 1, text: fmt.Sprintf("2026-01-02 10:00:%02d INFO opened", i)}, line{no: i + 1})
		}
		if got := d.isLog(0, len(d.lines)); got != want {
			t.Errorf("%d lines with a time: isLog is %v, want %v", n, got, want)
		}
	}
}

// A Windows terminal ends lines with several carriage returns. A progress bar in such lines
// must also be reduced to its last state.
func TestProgressAcceptsRepeatedCarriageReturns(t *testing.T) {
	for _, end := range []string{"", "\r", "\r\r", "\r\r\r"} {
		text := strings.Repeat("fetch: 1%\rfetch: 50%\rfetch: 100%"+end+"\n", 200)
		out, ok := Reduce(&Result{Text: text, Call: command("make fetch"), Tokens: len(text) / 4}, only("progress"))
		if got := out.Render(text, 9, testRef); !ok || !strings.Contains(got, "fetch: 100%") || strings.Contains(got, "50%") {
			t.Errorf("lines that end with %q: reduced is %v, %.80q; want only the last state of the progress bar", end, ok, got)
		}
	}
}

// A value of a column counts as rare if few lines have it. If more than one line in twenty had a
// rare value, the column would distinguish nothing.
func TestOutliersAreAtMostOneLineInTwenty(t *testing.T) {
	for odd, want := range map[int]int{1: 1, 2: 2, 3: 0} {
		d := &draft{}
		for i := range 40 {
			state := "ready"
			if i < odd {
				state = fmt.Sprint("lost", i)
			}
			d.lines = append(d.lines, line{no: i + 1, text: "node " + state})
		}
		c, raised := &choice{d: d, rank: make([]uint8, 40)}, 0
		c.outliers(0, 40, good)
		for _, rank := range c.rank {
			if rank == good {
				raised++
			}
		}
		if raised != want {
			t.Errorf("%d odd lines of 40: %d raised, want %d", odd, raised, want)
		}
	}
}

// If the task names a place near the beginning of a long line, nothing before the place is cut,
// and the text after it stays too.
func TestALongLineKeepsTheTextAfterANamedPlace(t *testing.T) {
	text := strings.Repeat("x", 450) + "needle " + strings.Repeat("y", 80) + strings.Repeat("z", 900)
	l := newDraft(text).lines[0]
	for _, spots := range [][]int{{450}, nil} {
		got := clipped(text, l, spots).text
		if kept := strings.Contains(got, strings.Repeat("x", 450)+"needle "+strings.Repeat("y", 80)); kept != (spots != nil) || len(got) > 700 {
			t.Errorf("places %v: %d bytes, want at most 700 and the text around each place: %.600s", spots, len(got), got)
		}
	}
}

// A text in a JSON string is read without its escapes, so that reducers recognize its lines, its
// indentation, its quotes and its paths.
func TestTextInAStringIsReadWithoutItsEscapes(t *testing.T) {
	src := `"a\t\"b\"\nc:\\d\r\n\n\u00e4"`
	var got []string
	d := (&shaper{document: &document{src: src}, lent: &borrowedLists{}}).split(1, len(src)-1)
	for i := range d.lines {
		got = append(got, d.lines[i].text)
	}
	if want := "a\t\"b\"|c:\\d||\\u00e4"; strings.Join(got, "|") != want || d.total != 4 {
		t.Errorf("%d lines, %q, want %q", d.total, got, want)
	}
}
