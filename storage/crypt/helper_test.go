package crypt_test

import (
	"context"
	"io"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair is an identity and its recipient.
type pair struct{ identity, recipient string }

func newPair(t testing.TB) pair {
	t.Helper()
	identity, recipient, err := crypt.NewIdentity()
	must(t, err)
	return pair{identity, recipient}
}

// keys returns the keys of a process that encrypts for the recipients of to and
// decrypts with identity.
func keys(t testing.TB, identity string, to ...pair) *crypt.Keys {
	t.Helper()
	var recipients []string
	for _, p := range to {
		recipients = append(recipients, p.recipient)
	}
	k, err := crypt.NewKeys(recipients, identity)
	must(t, err)
	return k
}

func folder(t testing.TB, root string) *fs.Archive {
	t.Helper()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func key(t testing.TB, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

func text(t testing.TB, s string) redact.Text {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	must(t, err)
	return r.Text(s)
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
