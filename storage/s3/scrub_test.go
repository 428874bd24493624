package s3_test

import (
	"strconv"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/s3/s3test"
	"github.com/agentcompact/compact/storage/storagetest"
)

func fresh(t *testing.T, s *s3test.Server) func(t testing.TB) (storage.Archive, storage.Archive) {
	bucket, n := s.Bucket(t, false), 0
	return func(t testing.TB) (storage.Archive, storage.Archive) {
		c := s.Config(bucket)
		n++
		c.Prefix += "/" + strconv.Itoa(n)
		return open(t, c), open(t, c)
	}
}

func TestInterruptedScrubInABucketLosesNothing(t *testing.T) {
	sample(t)
	storagetest.RunScrub(t, fresh(t, s3test.Plain(t)), 67)
}

func encrypted(t *testing.T, s *s3test.Server) func(t testing.TB) (storage.Archive, storage.Archive) {
	plain := fresh(t, s)
	return func(t testing.TB) (storage.Archive, storage.Archive) {
		identity, recipient, err := crypt.NewIdentity()
		must(t, err)
		keys := func() *crypt.Keys {
			k, err := crypt.NewKeys([]string{recipient}, identity)
			must(t, err)
			return k
		}
		a, b := plain(t)
		return crypt.New(a, keys()), crypt.New(b, keys())
	}
}

func TestEncryptedArchiveInABucketKeepsThePromises(t *testing.T) {
	sample(t)
	storagetest.Run(t, encrypted(t, s3test.Plain(t)))
}

func TestInterruptedScrubInAnEncryptedBucketLosesNothing(t *testing.T) {
	sample(t)
	storagetest.RunScrub(t, encrypted(t, s3test.Plain(t)), 67)
}
