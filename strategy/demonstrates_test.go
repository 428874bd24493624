package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A message with only a demonstration of another task is not a request.
func TestDemonstrationIsNoRequest(t *testing.T) {
	demo := "Here is a demonstration of the interface.\nYou do not need to follow it.\n--- DEMONSTRATION ---\n" + strings.Repeat("Never touch the harbor module.\n", 40) + "--- END OF DEMONSTRATION ---\n"
	msgs := append([]message.Message{message.User(demo)}, ranCalls([3]string{"bash", `{"command":"cat stock.py"}`, strings.Repeat("stock = 1\n", 80)})...)
	tells(t, Input{Messages: msgs}, nil, []string{"emonstration", "newest request", "not replied to", "What the user said"})
	tells(t, Input{Messages: append([]message.Message{message.User(demo + "Round the tax of each line.")}, msgs[1:]...)}, []string{"Round the tax of each line."}, []string{"harbor"})
}

// A call of an editor with several operations counts as a read if its operation is a view.
func TestViewOfAnEditorIsALook(t *testing.T) {
	view := `{"command":"view","path":"/shop/stock.py"}`
	text := "Here's the result of running `cat -n` on /shop/stock.py:\n     1\tclass Stock:\n     2\t    def count_all(self):\n     3\t        return 1\n"
	for _, tool := range []string{"str_replace_editor", "str_replace_based_edit_tool", "edit_file_tool"} {
		tells(t, long("Count the stock.", append(ranCalls([3]string{tool, view, text}), message.Assistant("It is one."))...),
			[]string{"read `notes.txt` and `/shop/stock.py`", "`/shop/stock.py` declares the class Stock at line 1"}, []string{"with command=view", "Here's the result"})
	}
}
