package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// readOnly is an adapter for another archive that allows reading and refuses
// writing.
type readOnly struct{ storage.Archive }

func (readOnly) Create(ctx context.Context, k storage.Key, _ storage.Blob) error {
	if err := storage.Begin(ctx, "create", k); err != nil {
		return err
	}
	return storage.Wrap("create", k, storage.ErrUnsupported)
}

func (readOnly) Append(ctx context.Context, k storage.Key, _ int64, _ storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	return storage.Wrap("append", k, storage.ErrUnsupported)
}

func ExampleArchive() {
	ctx := context.Background()
	redactor, err := redact.New(redact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := storage.ParseKey("session-1/note.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	blob := storage.Redacted(redactor.Text("what was said\n"))

	below := memory.New()
	fmt.Println("create:", below.Create(ctx, k, blob))

	a := readOnly{below}
	err = a.Create(ctx, k, blob)
	fmt.Println(err, errors.Is(err, storage.ErrUnsupported))

	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := io.ReadAll(r)
	fmt.Printf("%s%v %v\n", data, err, r.Close())
	// Output:
	// create: <nil>
	// storage: create session-1/note.txt: unsupported operation true
	// what was said
	// <nil> <nil>
}
