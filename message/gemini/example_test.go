package gemini_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/gemini"
)

// The program parses a body into messages, and writes the body without the last message. All
// other bytes stay the same.
func Example() {
	body := []byte(`{"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"text":"hi"}]}],"generationConfig":{"seed":7}}`)
	request, err := gemini.Wire.ParseRequest(body, nil)
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
	// {"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":{"seed":7}} <nil>
}
