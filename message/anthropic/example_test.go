package anthropic_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/anthropic"
)

// A body is parsed into messages, and written with the remaining ones. All other bytes stay the
// same.
func Example() {
	body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"system":"be good","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]}`)
	request, err := anthropic.Wire.ParseRequest(body, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	view := request.Messages()
	for _, m := range view {
		fmt.Println(m.Role, m.Text())
	}
	last := len(view) - 1
	shorter, err := request.Write(view[:last], []int{0, 1}[:last])
	fmt.Println(string(shorter), err)
	// Output:
	// system be good
	// user hello
	// assistant hi
	// {"model":"claude-sonnet-4-5","max_tokens":9,"system":"be good","messages":[{"role":"user","content":"hello"}]} <nil>
}
