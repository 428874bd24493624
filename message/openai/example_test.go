package openai_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/openai"
)

// A body is parsed into messages, and written with the remaining ones. All other bytes
// stay the same.
func Example() {
	body := []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}],"seed":7}`)
	request, err := openai.Wire.ParseRequest(body, nil)
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
	// user hello
	// assistant hi
	// {"model":"gpt-4o","messages":[{"role":"user","content":"hello"}],"seed":7} <nil>
}
