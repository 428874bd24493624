package strategy

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// If the command of a tool does not name the operation, the name of the tool does.
// Otherwise, a summary would state a deleted or written file as read, and the agent would
// look for it.
func TestToolNameDecidesIfCommandDoesNot(t *testing.T) {
	for tool, want := range map[string]fileops.Kind{"delete_file": fileops.Deleted, "write_file": fileops.Created, "patch_file": fileops.Edited, "view_file": fileops.Read} {
		c := Call{Tool: tool, Args: []Arg{{"operation", "force"}, {"path", "/w/store/lock.go"}}, Answered: true}
		if got := c.op(); got != want {
			t.Errorf("%s with the operation force: %v, want %v", tool, got, want)
		}
		c.Args[0].Value = "delete"
		if got := c.op(); got != fileops.Deleted {
			t.Errorf("%s with the operation delete: %v, want deleted", tool, got)
		}
	}
}

// Done items share a line, and the next summary reads them one by one from it. The next
// summary would read an item with a semicolon as two items, and nobody planned the
// second one.
func TestDoneItemWithSemicolonStaysOneItem(t *testing.T) {
	for _, l := range itemLines([]item{{Text: "open the store; lock it", Status: itemDone}, {Text: "shut the store", Status: itemDone}}, 0) {
		st, text, ok := statusOf(l.Text)
		if !ok || st != itemDone {
			t.Fatalf("the line %q is not a done item", l.Text)
		}
		b := items{byKey: map[string]int{}}
		b.carried(text, st)
		var got []string
		for _, it := range b.list {
			got = append(got, it.Text)
		}
		if want := []string{"open the store, lock it", "shut the store"}; !slices.Equal(got, want) {
			t.Errorf("%q is read back as %q, want %q", l.Text, got, want)
		}
	}
}

// A sentence can end with names after a colon. If it counted as a list, the next summary
// would drop it, because each summary writes its lists again.
func TestLongSentenceBeforeNamesIsNotAList(t *testing.T) {
	for line, want := range map[string]bool{
		"Read: store/lock.go store/open.go":                                               true,
		"The user wants that nobody changes these two files: store/lock.go store/open.go": false,
		"Read: store/lock.go and more":                                                    false,
	} {
		if got := listing(line); got != want {
			t.Errorf("listing(%q) = %v, want the opposite", line, got)
		}
	}
}
