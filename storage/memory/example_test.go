package memory_test

import (
	"context"
	"fmt"
	"io"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// An archive accepts only redacted data.
func Example() {
	ctx, archive := context.Background(), memory.New()
	r, err := redact.New(redact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := storage.ParseKey("notes/today.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	b := storage.Redacted(r.Text("password=" + "tR4-oak-91z"))
	fmt.Println(archive.Create(ctx, key, b))
	fmt.Println(archive.Create(ctx, key, b))
	f, err := archive.Open(ctx, key, 0, -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := io.ReadAll(f)
	fmt.Println(string(text), err, f.Close())
	// Output:
	// <nil>
	// storage: create notes/today.txt: already exists
	// password=<REDACTED> <nil> <nil>
}
