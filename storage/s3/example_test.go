package s3_test

import (
	"fmt"

	"github.com/agentcompact/compact/storage/s3"
)

func ExampleParseURL() {
	bucket, prefix, ok := s3.ParseURL("s3://company-archive/agents/coder")
	fmt.Println(bucket, prefix, ok)
	// Output: company-archive agents/coder true
}

// Mistakes in the settings are found before any request.
func ExampleConfig_Check() {
	fmt.Println(s3.Config{Bucket: "A", Endpoint: "localhost:9000"}.Check())
	// Output:
	// s3: bucket must be the name of a bucket: 3-63 of a-z, 0-9, . and -
	// s3: endpoint must be a URL such as https://minio.internal:9000, without user and query
}
