package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

const twoBlocks = "Here is the change.\n\n```python\nshop/cart.py\n<<<<<<< SEARCH\ntotal = 0\n=======\ndef total_of(rows):\n    return 0\n>>>>>>> REPLACE\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\n" +
	"`shop/new.py`\n```\n<<<<<<< SEARCH\n=======\nclass Order:\n>>>>>>> REPLACE\n```\nThe total is a function now."

func TestTextEditsReadsWholeBlocksBelowAPath(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []textEdit
	}{
		"three":            {twoBlocks, []textEdit{{"shop/cart.py", "total = 0\n", "def total_of(rows):\n    return 0\n"}, {"shop/cart.py", "a\n", "b\n"}, {"shop/new.py", "", "class Order:\n"}}},
		"the answer ended": {"a.py\n<<<<<<< ORIGINAL\na\n=======\nb\n", nil},
		"no path":          {"The file has a conflict:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", nil},
		"a rule in a text": {"a.py\n=======\nb\n", nil},
	} {
		got := textEdits(c.text)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %+v, want another number of edits", name, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], c.want[i])
			}
		}
	}
}

// An edit in the text of the assistant counts as a change only if the program says that it
// applied the edit.
func TestAppliedEditsInTextAreChanges(t *testing.T) {
	session := func(said ...string) []message.Message {
		return []message.Message{message.User("Make the total a function."), message.Assistant(twoBlocks), message.User(strings.Join(said, "\n")), message.User("Thanks. And the tax?"), message.Assistant("</div>\n</div>")}
	}
	h := NewHistory(Request{Strategy: CodeDelta, First: 1, Count: quarter, Messages: session("[console of the editor]", "Applied edit to shop/cart.py", "Applied edit to shop/cart.py", "Applied edit to shop/new.py", "Commit 1a2b3c4 Made the total a function")})
	var files []string
	for _, f := range h.fileStates() {
		files = append(files, f.Op.String()+" "+f.Path+" "+strings.Join(f.Funcs, ","))
	}
	if got := strings.Join(files, "; "); got != "edited shop/cart.py total_of; created shop/new.py Order" && got != "created shop/new.py Order; edited shop/cart.py total_of" {
		t.Errorf("the edits are not stated as wanted: %s", got)
	}
	if e := h.effects(); len(e) != 1 || !strings.Contains(e[0].Text, "Commit 1a2b3c4 Made the total a function") {
		t.Errorf("effects %+v, want the commit", e)
	}
	if got := h.Steps[1].saidBefore(); got != "Here is the change." {
		t.Errorf("said before the edits: %q, want the sentence", got)
	}
	if got := h.repliedTo(1); got != replied+"[s2]" {
		t.Errorf("answer %q, want the message with the edits", got)
	}
	if got := h.repliedTo(4); got != "" {
		t.Errorf("tags count as an answer: %q", got)
	}
	for _, said := range []string{"^C", "No, leave it.", "Commit 1a2b3c4 Something else", "Applied edit to shop/other.py"} {
		if h := NewHistory(Request{Strategy: CodeDelta, First: 1, Count: quarter, Messages: session(said)}); len(h.fileStates()) > 0 || len(h.effects()) > 0 {
			t.Errorf("%q: files %+v and effects %+v, want none", said, h.fileStates(), h.effects())
		}
	}
}

// Without a word about them, edits in the text of a message may not have been applied.
func TestTextEditsWithoutAReportAreOpen(t *testing.T) {
	reply := "I change the sum.\n\nshop/cart.go\n```go\n<<<<<<< SEARCH\nfunc Sum() int {\n=======\nfunc Sum() float64 {\n>>>>>>> REPLACE\n```\n"
	open := "wrote search/replace blocks for `shop/cart.go`; whether they were applied is not stated"
	for said, applied := range map[string]bool{
		"I committed the changes with git hash 1a2b3c4 & commit msg: cart: a float": true,
		"I updated the files.":                      true,
		"What is next?":                             false,
		"# 1 SEARCH/REPLACE block failed to match!": false,
	} {
		in := long("Make it a float.", message.Assistant(reply), message.User(said), message.Assistant("Ok."))
		if applied {
			tells(t, in, []string{"`shop/cart.go`: edited (in Sum)"}, []string{open})
		} else {
			tells(t, in, []string{open}, []string{"edited"})
		}
	}
}
