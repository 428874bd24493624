package garble

import (
	"slices"
	"strings"
	"testing"
)

func TestTextsAreTheSameInEachRunAndDiffer(t *testing.T) {
	seeds := []string{"password=hunter2", "func main() {\n}", "é"}
	first := slices.Collect(Texts(seeds, 500, 1))
	if !slices.Equal(first, slices.Collect(Texts(seeds, 500, 1))) {
		t.Error("the same arguments give other texts")
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n < 400 {
		t.Errorf("%d of 500 texts differ", n)
	}
}

func TestEachNamesTheTextOfAPanic(t *testing.T) {
	defer func() {
		if p, ok := recover().(string); !ok || !strings.HasPrefix(p, `boom; the text is "`) {
			t.Errorf("panic %v", p)
		}
	}()
	Each(t, []string{"x"}, 10, 1, func(string) { panic("boom") })
	t.Error("the panic is lost")
}

func TestLiteralsAreThoseOfTheTestFiles(t *testing.T) {
	all := Literals(t)
	if !slices.Contains(all, "func main() {\n}") || slices.Contains(all, "é") || !slices.IsSorted(all) {
		t.Errorf("%q", all)
	}
}
