package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// An open item that the user forbade later is blocked, and names the step of the prohibition. A
// prohibition of something else, a question, or a prohibition that was lifted changes nothing.
func TestForbiddenItemIsBlocked(t *testing.T) {
	for _, c := range []struct {
		item, want string
		said       []string
	}{
		{"Remove the column nickname", "[blocked] Remove the column nickname (the user forbade it [s4])", []string{"Don't remove nickname, the export still reads it."}},
		{"Remove nickname", "[blocked] Remove nickname (the user forbade it [s4])", []string{"Looks good. Please do not remove nickname until the export is gone."}},
		{"Spalte nickname löschen", "[blocked] Spalte nickname löschen (the user forbade it [s4])", []string{"Die Spalte nickname bitte nicht löschen!"}},
		{"Remove nickname", "[open] Remove nickname", []string{"Don't rename nickname."}},
		{"Remove nickname", "[open] Remove nickname", []string{"Don't remove surname."}},
		{"Remove the old index of nickname", "[open] Remove the old index of nickname", []string{"Don't remove the view of nickname."}},
		{"Remove nickname", "[open] Remove nickname", []string{"Why don't you remove nickname?"}},
		{"Remove nickname", "[open] Remove nickname", []string{"Don't remove nickname.", "The export is gone. Remove nickname now."}},
		{"Remove nickname", "[open] Remove nickname", []string{"Don't remove nickname.", "You may remove nickname."}},
		{"Spalte nickname löschen", "[open] Spalte nickname löschen", []string{"Die Spalte surname bitte nicht löschen!"}},
	} {
		msgs := []message.Message{message.User("Clean up the table."), message.Assistant("", message.Call("1", "todo_write", `{"todos":[{"content":"`+c.item+`","status":"pending"}]}`)), message.ToolResult("1", "ok")}
		for _, s := range c.said {
			msgs = append(msgs, message.User(s), message.Assistant("Noted, I do so."))
		}
		h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
		items := h.items()
		if len(items) != 1 || items[0].Line() != c.want {
			t.Errorf("%q: items %+v, want one with another line", c.said, items)
		}
		if back := unmarked(strings.SplitN(items[0].Line(), "] ", 2)[1]); back.Text != c.item || back.forbidden != items[0].forbidden {
			t.Errorf("%q is read as %+v", items[0].Line(), back)
		}
	}
}

// The mark survives a second summary, until the user asks for the item.
func TestForbiddenItemIsCarried(t *testing.T) {
	const previous = "## Outstanding actions and blockers\n- [blocked] Remove nickname (the user forbade it [s4])\n- [blocked] Ask the owner\n"
	for said, want := range map[string]string{
		"Go on.": "[blocked] Remove nickname (the user forbade it [s4]) | [blocked] Ask the owner", "Remove nickname now.": "[open] Remove nickname | [blocked] Ask the owner",
	} {
		var got []string
		for _, it := range NewHistory(Request{Strategy: TaskState, Previous: previous, Messages: []message.Message{message.User(said)}, First: 9}).items() {
			got = append(got, it.Line())
		}
		if text := strings.Join(got, " | "); text != want {
			t.Errorf("%s: got %s, want %s", said, text, want)
		}
	}
}

// Only a request after the prohibition lifts the mark of the previous summary.
func TestForbiddenItemStaysDespiteAnEarlierRequest(t *testing.T) {
	for step, want := range map[int]string{4: "[s10]", 12: ""} {
		list := []item{{Status: itemOpen, Text: "publish the page", forbidden: "[s10]"}}
		h := &History{Previous: Document{Words: []Word{{Step: step, Text: "Publish the page."}}}}
		if h.markForbidden(list); list[0].forbidden != want || (list[0].Status == itemBlocked) != (want != "") {
			t.Errorf("a request at step %d: %+v", step, list[0])
		}
	}
}
