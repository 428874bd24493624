package eval

import (
	"slices"
	"strings"
	"testing"
)

func TestAbbreviationsAreExpanded(t *testing.T) {
	text := "- `…/` in a path stands for `/srv/app/`\n- `…/one.go`: edited\n- looked at these in `…/sub/`: two.go and three.go [s4]"
	long := expanded(text)
	if want := "- `/srv/app/one.go`: edited"; !slices.Contains(strings.Split(long, "\n"), want) {
		t.Errorf("got %q, want the path in full", long)
	}
	if got := inFolders(long); !slices.Equal(got, []string{"/srv/app/sub/two.go", "/srv/app/sub/three.go"}) {
		t.Errorf("got %q, want the two paths in full", got)
	}
}

// The cheapest way to state many names is to list them after a mark. Such lines still count as a
// list.
func TestMarkMakesNoListReadable(t *testing.T) {
	text := "`…/` stands for `/srv/app/`\n…/a.go …/b.go …/c.go …/d.go"
	if n := bag(text); n == 0 {
		t.Error("a list of marked names does not count as a list")
	}
}

func TestParameterNamesAreNotNeeded(t *testing.T) {
	if got := arguments([]byte(`{"file_path":"/a/b.go","old_string":"fooBar","timeout":120000}`)); !slices.Equal(got, []string{"/a/b.go", "fooBar"}) {
		t.Errorf("got %q, want no names of parameters", got)
	}
}
