package otlp_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/otlp"
)

// With this import a file can name a collector. Loading it opens no connection.
func Example() {
	c, err := configs.Parse("compact.yaml", []byte("model: gpt-4o\ntrace: {otlp_endpoint: \"http://localhost:4318\"}\n"), configs.Environ(nil))
	fmt.Println(len(c.Exporters), err)
	// Output:
	// 1 <nil>
}
