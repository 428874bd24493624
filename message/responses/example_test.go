package responses_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/responses"
)

// A body is parsed into messages, and written with the remaining ones. All other bytes
// stay the same.
func Example() {
	body := []byte(`{"model":"gpt-5","input":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}],"store":false}`)
	request, err := responses.Wire.ParseRequest(body, nil)
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
	// {"model":"gpt-5","input":[{"role":"user","content":"hello"}],"store":false} <nil>
}
