package replay

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
)

func TestIdentifiersAreNamesAndNotWords(t *testing.T) {
	var got []string
	identifiers(`Then I ran "go test ./storage/fs" and TestTornWrite failed: got 3 files, want 1024 (see https://example.com/a?b=c, commit 3f9a2c1). An e.g. word, and/or others.`, func(s string) { got = append(got, s) })
	want := []string{"storage/fs", "TestTornWrite", "1024", "https://example.com/a?b", "3f9a2c1", "e.g", "and/or"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAListOfNamesIsNotReadable(t *testing.T) {
	for line, want := range map[string]bool{
		"storage/fs/log.go, storage/fs/open.go, policy/mask.go, TestTornWrite": false,
		"* `storage/fs/log.go`: the sync of the folder was added":              true,
		"- storage/fs/log.go": false,
		"go test ./storage failed: TestTornWrite: got 3 files, want 2": true,
		"": false,
	} {
		if got := isReadable(line); got != want {
			t.Errorf("isReadable(%q) = %v", line, got)
		}
	}
}

func TestNeedsReflectTheView(t *testing.T) {
	h := []message.Message{
		message.User("Look at pkg/one.go and pkg/two.go."),
		message.Assistant("I did."),
		message.User("pkg/three.go too"),
		message.Assistant("Now pkg/one.go, pkg/two.go, pkg/three.go and pkg/four.go."),
	}
	n := newNeeds(h)
	for _, tc := range []struct {
		name    string
		view    []message.Message
		sources []int
		missing []string
	}{
		{"all", h[:3], []int{0, 1, 2}, nil},
		{"without the first", h[1:3], []int{1, 2}, []string{"pkg/one.go", "pkg/two.go"}},
		{"a readable summary", []message.Message{message.Assistant("The user asked to look at pkg/two.go first."), h[2]}, []int{-1, 2}, []string{"pkg/one.go"}},
		{"a bare list", []message.Message{message.Assistant("pkg/one.go pkg/two.go"), h[2]}, []int{-1, 2}, []string{"pkg/one.go", "pkg/two.go"}},
		{"an edited message", []message.Message{message.User("[…] pkg/two.go."), h[2]}, []int{0, 2}, []string{"pkg/one.go"}},
	} {
		v := View{Messages: tc.view, Sources: tc.sources}
		needed, missing := n.at(3, &v, inFull(h[:3], &v))
		if needed != 3 || !slices.Equal(missing, tc.missing) {
			t.Errorf("%s: %d needed, missing %v; want 3, %v", tc.name, needed, missing, tc.missing)
		}
	}
}

func TestArgumentsOfACallAreReadAsTheToolReadsThem(t *testing.T) {
	h := []message.Message{
		message.User("Rename it."),
		{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, CallID: "1", Text: "\tshadeStep := 4096\n\treturn shadeStep"}}},
		{Role: message.RoleAssistant, Parts: []message.Part{{
			Kind: message.KindToolCall, CallID: "2", Name: "edit",
			Args: []byte(`{"old_string":"\tshadeStep := 4096\n\treturn shadeStep","lines":[4096]}`),
		}}},
		message.User("Go on."),
		{Role: message.RoleAssistant, Parts: []message.Part{{
			Kind: message.KindToolCall, CallID: "3", Name: "edit", Args: []byte(`{"old_string":"\n\tshadeStep"}`),
		}}},
	}
	n := newNeeds(h)
	if diff := cmp.Diff([]string{"4096", "shadeStep"}, n.uses[2]); diff != "" {
		t.Errorf("the first call uses %s", diff)
	}
	v := View{Messages: h[1:2], Sources: []int{1}}
	if needed, missing := n.at(4, &v, inFull(h[:4], &v)); needed != 2 || !slices.Equal(missing, []string{"old_string"}) {
		t.Errorf("%d needed, missing %v", needed, missing)
	}
}

func TestArgumentsThatAreNotJSONAreReadVerbatim(t *testing.T) {
	var got []string
	read(&message.Message{Parts: []message.Part{{Kind: message.KindToolCall, Args: []byte("*** Update pkg/one.go")}}}, func(s string) { got = append(got, s) })
	if diff := cmp.Diff([]string{"", "", "*** Update pkg/one.go"}, got); diff != "" {
		t.Error(diff)
	}
}
