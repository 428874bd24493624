package formats_test

import (
	"fmt"

	"github.com/agentcompact/compact/message/formats"
)

// Read detects the format of a file.
func ExampleRead() {
	file, err := formats.Read("", []byte(`{"role":"user","content":"hello"}
{"role":"assistant","content":"hi"}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Format(), file.Wire().Name(), len(file.Messages()))
	// Output: openai openai 2
}

func ExampleDetect() {
	format, err := formats.Detect([]byte(`{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(format.Name())
	// Output: gemini
}
