package openai_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/openai"
)

// With this import a model can write the summaries. Loading a file sends no request.
func Example() {
	c, err := configs.Parse("compact.yaml", []byte("model: gpt-4o\nsummarizer: {model: gpt-4o-mini}\n"), configs.Environ([]string{"OPENAI_API_KEY=secret"}))
	fmt.Println(c.Summarizer.Backend, err)
	// Output:
	// openai <nil>
}
