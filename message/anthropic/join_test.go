package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
)

// System messages in mid-conversation become one if the messages between them
// are removed, because the API refuses the second of two. Their blocks do not
// change.
func TestSystemMessagesThatBecomeNeighborsAreOneItem(t *testing.T) {
	const blocks = `{ "role":"system","content":[ {"type":"text","text":"two","cache_control":{"type":"ephemeral"}} , {"type":"text","text":"three"} ]}`
	r := parse(t, body(u("a"), system(`o\u006ee`), a("b"), u("c"), blocks, a("d"), u("e"), system("four"), a("f"), u("g")))
	msgs := r.Messages()
	summary := message.Assistant(message.SummaryText(1, "S"))
	made := u(`<COMPACT-SUMMARY v1>\nS\n</COMPACT-SUMMARY>`)
	pick := func(sources ...int) (string, []string) {
		t.Helper()
		view := make([]message.Message, len(sources))
		for i, s := range sources {
			if view[i] = summary; s >= 0 {
				view[i] = msgs[s]
			}
		}
		out, err := r.Write(view, sources)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, v := range r.Check(view, sources) {
			found = append(found, v.Check+" "+v.ID)
		}
		return string(out), found
	}
	two := `{"type":"text","text":"two","cache_control":{"type":"ephemeral"}} , {"type":"text","text":"three"}`
	for _, c := range []struct {
		sources []int
		want    string
		found   []string
	}{
		{[]int{-1, 1, 4, 5, 6}, body(made, `{"role":"system","content":[{"type":"text","text":"o\u006ee"},`+two+`]}`, a("d"), u("e")), nil},
		{[]int{-1, 1, 4, 7, 8, 9}, body(made, `{"role":"system","content":[{"type":"text","text":"o\u006ee"},`+two+`,{"type":"text","text":"four"}]}`, a("f"), u("g")), nil},
		{[]int{-1, 1, 2, 3, 4, 5, 6, 7, 8, 9}, body(made, system(`o\u006ee`), a("b"), u("c"), blocks, a("d"), u("e"), system("four"), a("f"), u("g")), nil},
		{[]int{1, 4, 9}, body(`{"role":"system","content":[{"type":"text","text":"o\u006ee"},`+two+`]}`, u("g")), []string{"first_message_not_user ", "system_position 1/after"}},
	} {
		got, found := pick(c.sources...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.sources, diff)
		}
		if diff := cmp.Diff(c.found, found); diff != "" {
			t.Errorf("%v: %s", c.sources, diff)
		}
		again := parse(t, got).Messages()
		if len(found) == 0 && (again[1].Role != message.RoleSystem || !strings.HasPrefix(again[1].Text(), "one")) {
			t.Errorf("%v: read again as %+v, want one system message", c.sources, again[1])
		}
	}
}

// A message with other fields than role and content, and messages that were
// neighbors in the request, stay separate; the check reports the same error as
// the API.
func TestSystemMessagesThatAreNotJoined(t *testing.T) {
	other := `{"role":"system","content":"x","priority":1}`
	for _, c := range []struct{ body, want, found string }{
		{body(u("a"), system("s"), a("b"), u("c"), other, a("d"), u("e")), body(u("a"), system("s"), other, a("d"), u("e")), "system_position 4/before"},
		{body(u("a"), other, a("b"), u("c"), system("s"), a("d"), u("e")), body(u("a"), other, system("s"), a("d"), u("e")), "system_position 4/before"},
		{body(u("a"), `{"role":"system","content":[]}`, a("b"), u("c"), system("s"), a("d"), u("e")), body(u("a"), `{"role":"system","content":[]}`, system("s"), a("d"), u("e")), "system_position 4/before"},
	} {
		r := parse(t, c.body)
		msgs := r.Messages()
		view, sources := []message.Message{msgs[0], msgs[1], msgs[4], msgs[5], msgs[6]}, []int{0, 1, 4, 5, 6}
		out, err := r.Write(view, sources)
		if err != nil || string(out) != c.want {
			t.Errorf("%v: %s, want %s", err, out, c.want)
		}
		found := r.Check(view, sources)
		if len(found) == 0 || found[len(found)-1].Check+" "+found[len(found)-1].ID != c.found {
			t.Errorf("%s: the check reports %v", c.body, found)
		}
	}
	beside := parse(t, body(u("a"), system("s"), system("t"), a("b"), u("c"), a("d"), u("e")))
	msgs := beside.Messages()
	view, sources := []message.Message{msgs[0], msgs[1], msgs[2], msgs[3], msgs[6]}, []int{0, 1, 2, 3, 6}
	if out, err := beside.Write(view, sources); err != nil || string(out) != body(u("a"), system("s"), system("t"), a("b"), u("e")) {
		t.Errorf("%v: %s", err, out)
	}
	// If two such messages were neighbors, the second one stays separate, even after a
	// message that was joined.
	behind := parse(t, body(u("a"), system("s"), a("b"), u("c"), system("t"), system("v"), a("d"), u("e")))
	msgs = behind.Messages()
	view, sources = []message.Message{msgs[0], msgs[1], msgs[4], msgs[5], msgs[6], msgs[7]}, []int{0, 1, 4, 5, 6, 7}
	want := body(u("a"), `{"role":"system","content":[{"type":"text","text":"s"},{"type":"text","text":"t"}]}`, system("v"), a("d"), u("e"))
	if out, err := behind.Write(view, sources); err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
