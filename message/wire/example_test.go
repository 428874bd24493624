package wire_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
)

// Violations of the request itself are not reported for its view.
func ExampleNew() {
	body := []byte(`{"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"gone","content":"42"}]}`)
	request, err := openai.Wire.ParseRequest(body, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	before := request.Check(request.Messages(), []int{0, 1})
	for _, v := range before {
		fmt.Println(v.Check)
	}
	fmt.Println(len(wire.New(before, before)), "of them are new")
	// Output:
	// tool_result_without_call
	// 0 of them are new
}
