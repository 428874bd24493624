package storagetest_test

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

// broken is a sound archive with one method, or several, replaced.
type broken struct {
	*memory.Archive
	create func(ctx context.Context, k storage.Key, b storage.Blob) error
	append func(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error
	open   func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error)
	list   func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error]
	remove func(ctx context.Context, k storage.Key) error
	kept   func(ctx context.Context, k storage.Key) error
	where  func(k storage.Key) string
}

func (a *broken) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if a.create != nil {
		return a.create(ctx, k, b)
	}
	return a.Archive.Create(ctx, k, b)
}

func (a *broken) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.append != nil {
		return a.append(ctx, k, seq, b)
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *broken) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.open != nil {
		return a.open(ctx, k, off, n)
	}
	return a.Archive.Open(ctx, k, off, n)
}

func (a *broken) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if a.list != nil {
		return a.list(ctx, prefix)
	}
	return a.Archive.List(ctx, prefix)
}

func (a *broken) Remove(ctx context.Context, k storage.Key) error {
	if a.remove != nil {
		return a.remove(ctx, k)
	}
	return a.Archive.Remove(ctx, k)
}

func (a *broken) Kept(ctx context.Context, k storage.Key) error {
	if a.kept != nil {
		return a.kept(ctx, k)
	}
	return storage.Begin(ctx, "look for a lock", k)
}

func (a *broken) Location(k storage.Key) string {
	if a.where != nil {
		return a.where(k)
	}
	return "memory://" + k.String()
}

// write puts data under k, whether or not k exists.
func (a *broken) write(k storage.Key, data string) error {
	ctx := context.Background()
	if err := a.Archive.Remove(ctx, k); err != nil {
		return err
	}
	return a.Archive.Create(ctx, k, storage.Redacted(text(data)))
}

func (a *broken) read(k storage.Key) string {
	r, err := a.Archive.Open(context.Background(), k, 0, -1)
	if err != nil {
		return ""
	}
	data, _ := io.ReadAll(r) // memory never fails
	return string(data)
}

// text makes a redacted text of any string.
func text(s string) redact.Text {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		panic(err)
	}
	return r.Text(s)
}

func content(b storage.Blob) string {
	var s strings.Builder
	_, _ = b.WriteTo(&s) // a Builder never fails
	return s.String()
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestSuiteAcceptsASoundArchive(t *testing.T) {
	got := storagetest.Check(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := &broken{Archive: memory.New()}
		return a, a
	})
	for _, f := range got {
		t.Errorf("%s: %v", f.Case, f.Err)
	}
}
