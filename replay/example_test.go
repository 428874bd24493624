package replay_test

import (
	"fmt"

	"github.com/agentcompact/compact/replay"
)

// Replay runs a recorded session call by call, and reports its cost and the text that
// the model would not have seen.
func ExampleParse() {
	s, err := replay.Parse("session.jsonl", []byte(`{"role":"user","content":"hello"}
{"role":"assistant","content":"hi"}
`), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Name, len(s.Messages))
	// Output: session.jsonl 2
}
