package strategy

import "testing"

func TestOutlineOfAFileThatWasRead(t *testing.T) {
	o := &outline{path: "queue.go"}
	o.read("1\tpackage queue\n2\ttype Queue struct {\n3\t}\n4\tfunc (q *Queue) Push(n int) {\n", 3)
	if len(o.declared) != 2 || o.declared[0].String() != "the type Queue at line 2" || o.declared[1].String() != "the function Push at line 4" || o.last != 3 {
		t.Errorf("%+v", o)
	}
}
