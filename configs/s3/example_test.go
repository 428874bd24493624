package s3_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/s3"
)

// With this import a file can name a bucket. Loading it sends no request.
func Example() {
	c, err := configs.Parse("compact.yaml", []byte("model: gpt-4o\nstorage: {adapter: s3, bucket: agents}\n"), configs.Environ(nil))
	fmt.Println(c.Storage.Adapter, c.Storage.Bucket, err)
	// Output:
	// s3 agents <nil>
}
