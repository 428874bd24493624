package s3_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/forgery"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

func TestForgedHeadsInABucketAreFound(t *testing.T) {
	sample(t)
	s := s3test.Plain(t)
	r, err := redact.New(redact.Options{Disabled: true})
	must(t, err)
	forgery.Run(t, open(t, s.Config(s.Bucket(t, false))), 40, r.Text)
}
