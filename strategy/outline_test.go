package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestOutlineOfAFileThatWasRead(t *testing.T) {
	o := &outline{path: "queue.go"}
	o.read("1\tpackage queue\n2\ttype Queue struct {\n3\t}\n4\tfunc (q *Queue) Push(n int) {\n", 3)
	if len(o.declared) != 2 || o.declared[0].String() != "the type Queue at line 2" || o.declared[1].String() != "the function Push at line 4" || o.last != 3 {
		t.Errorf("got %+v, want the type at line 2 and the function after it", o)
	}
}

// A summary states the declarations of a file until the file is edited, in the same or in a later
// part.
func TestSummaryStatesTheDeclarationsOfUnchangedFiles(t *testing.T) {
	code := func(name string) string {
		return "     1\timport json\n     2\t\n     3\tclass " + name + ":\n     4\t    def load_" + name + "(self, path):\n     5\t        return json.load(open(path))\n     6\t\n     7\t    def save_" + name + "(self, path):\n     8\t        pass\n"
	}
	read := func(n int, path, name string) []message.Message {
		return toolRun(n, "Read", `{"file_path":"/shop/`+path+`"}`, code(name))
	}
	msgs := slices.Concat(read(1, "stock.py", "Stock"), read(2, "cart.py", "Cart"),
		toolRun(3, "Edit", `{"file_path":"/shop/cart.py","old_string":"        pass","new_string":"        json.dump(self, open(path))"}`, "The file /shop/cart.py has been updated."))
	first := wholeSummary(t, "", "Please make the shop save its state.", msgs)
	for _, want := range []string{"the class Stock at line 3", "the function load_Stock at line 4"} {
		if strings.Count(first, want) != 1 {
			t.Errorf("%q is not stated exactly once:\n%s", want, first)
		}
	}
	if strings.Contains(first, "load_Cart") {
		t.Errorf("the declarations of an edited file are stated:\n%s", first)
	}
	kept := wholeSummary(t, first, "And what does the order need?", toolRun(4, "bash", `{"command":"ls /shop"}`, "cart.py\norder.py\nstock.py"))
	if !strings.Contains(kept, "load_Stock at line 4") {
		t.Errorf("the next summary lost the declarations:\n%s", kept)
	}
	next := wholeSummary(t, first, "And the stock.", toolRun(4, "Edit", `{"file_path":"/shop/stock.py","old_string":"        pass","new_string":"        json.dump(self, open(path), indent=1)"}`, "The file /shop/stock.py has been updated."))
	if strings.Contains(next, "load_Stock at line 4") {
		t.Errorf("the declarations of a file that was edited later are stated:\n%s", next)
	}
}
