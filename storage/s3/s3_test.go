package s3_test

import (
	"strconv"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3/s3test"
	"github.com/agentcompact/compact/storage/storagetest"
)

func suite(t *testing.T, s *s3test.Server) {
	bucket := s.Bucket(t, false)
	n := 0
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		c := s.Config(bucket)
		n++
		c.Prefix += "/" + strconv.Itoa(n)
		return open(t, c), open(t, c)
	})
}

func TestPlainS3KeepsThePromisesOfAnArchive(t *testing.T) { suite(t, s3test.Plain(t)) }

func TestMinIOKeepsThePromisesOfAnArchive(t *testing.T) {
	sample(t)
	suite(t, s3test.MinIO(t))
}

// sample leaves a test out where -short asks for samples only.
func sample(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED: it takes long, and -short asks for samples; run it without")
	}
}
