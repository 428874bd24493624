package s3_test

import (
	"context"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, c s3.Config) *s3.Archive {
	t.Helper()
	a, err := s3.Open(t.Context(), c)
	must(t, err)
	return a
}

func key(t testing.TB, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

// raw makes a redacted text of any string.
func raw(s string) storage.Blob {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		panic(err)
	}
	return storage.Redacted(r.Text(s))
}

func read(ctx context.Context, a storage.Archive, k storage.Key, off, n int64) (string, error) {
	r, err := a.Open(ctx, k, off, n)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return string(data), err
}

// static returns credentials that never change.
func static(id, secret string) func(context.Context) (aws.Credentials, error) {
	return func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}, nil
	}
}
