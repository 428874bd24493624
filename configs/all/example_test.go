package all_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/all"
)

// With this import a file can name all that compactctl knows.
func Example() {
	c, err := configs.Parse("compact.yaml", []byte("model: gpt-4o\nstorage: {adapter: s3, bucket: agents}\ntrace: {otlp_endpoint: \"http://localhost:4318\"}\n"), configs.Environ(nil))
	fmt.Println(c.Storage.Adapter, len(c.Exporters), err)
	// Output:
	// s3 1 <nil>
}
