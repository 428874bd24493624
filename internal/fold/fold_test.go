package fold

import (
	"strings"
	"testing"
)

func TestTableFoldsAtEightyColumns(t *testing.T) {
	head, row := []string{"name"}, []string{"first — of all"}
	for _, c := range strings.Split("calls tokens-in tokens-sent compactions fallbacks recalls estimated projected", " ") {
		head, row = append(head, c), append(row, "1,234.5678")
	}
	var b strings.Builder
	Table(&b, "  ", [][]string{head, row, {"short", "1"}}, nil)
	blocks := strings.Split(b.String(), "\n\n")
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of lines:\n%s", len(blocks), b.String())
	}
	for _, word := range append(head, "1,234.5678") {
		if !strings.Contains(b.String(), word) {
			t.Errorf("%q is lost", word)
		}
	}
	for _, block := range blocks {
		lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "  name ") || !strings.HasPrefix(lines[1], "  first — of all ") {
			t.Errorf("a block is\n%s", block)
		}
		if a, b := len([]rune(lines[0])), len([]rune(lines[1])); a != b || a > 80 {
			t.Errorf("the head has %d columns, a row %d", a, b)
		}
	}
}

func TestTableKeepsWhatFitsTogether(t *testing.T) {
	for name, rows := range map[string][][]string{
		"a\nb\n":           {{"a"}, {"b"}},
		"a    c\nbb  dd\n": {{"a", "c"}, {"bb", "dd"}},
		"":                 nil,
	} {
		var b strings.Builder
		Table(&b, "", rows, nil)
		if b.String() != name {
			t.Errorf("%q is printed as %q", rows, b.String())
		}
	}
}

// A column wider than the line gets a separate table.
func TestTableHoldsAnyColumn(t *testing.T) {
	var b strings.Builder
	Table(&b, "", [][]string{{"n", strings.Repeat("x", 100), "y"}}, nil)
	if b.String() != "n  "+strings.Repeat("x", 100)+"\n\nn  y\n" {
		t.Errorf("printed as %q", b.String())
	}
}

// The caller sets the widths of cells.
func TestTableTakesWidthsOfTheCaller(t *testing.T) {
	var b strings.Builder
	Table(&b, "", [][]string{{"日本", "x"}, {"ab", "y"}}, func(s string) int {
		n := 0
		for _, r := range s {
			if n++; r > 0x1100 {
				n++
			}
		}
		return n
	})
	if b.String() != "日本  x\nab    y\n" {
		t.Errorf("printed as %q", b.String())
	}
}

// A line has at most 80 columns.
func TestTableFillsTheLine(t *testing.T) {
	for wide, blocks := range map[int]int{75: 1, 76: 2} { // "n", two blanks, and "y" with its two blanks take the rest
		var b strings.Builder
		Table(&b, "", [][]string{{"n", strings.Repeat("x", wide-1), "y"}}, nil)
		if got := strings.Count(b.String(), "\n\n") + 1; got != blocks {
			t.Errorf("%d columns fold into %d tables, want %d", wide+5, got, blocks)
		}
	}
}
