package turnindex_test

import (
	"fmt"

	"github.com/agentcompact/compact/storage/turnindex"
)

func ExampleParseQuery() {
	for _, text := range []string{"turn:17", "3f9a2c1b70de", "page 3"} {
		q, err := turnindex.ParseQuery(text)
		fmt.Println(text, q.IsTurn(), err)
	}
	// Output:
	// turn:17 true <nil>
	// 3f9a2c1b70de false <nil>
	// page 3 false not a reference: it is 8 to 32 hex digits, or "turn:" and a number
}
