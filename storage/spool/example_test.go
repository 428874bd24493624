package spool_test

import (
	"context"
	"fmt"
	"os"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
)

// A stored file is on the disk at once. The spool sends it to the remote archive when
// it can.
func Example() {
	ctx, far := context.Background(), memory.New()
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := spool.Open(dir, far, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := storage.ParseKey("session/events.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Append(ctx, key, 0, storage.Redacted(redact.Lit("{}\n"))); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("flushed:", s.Flush(ctx))
	for info := range far.List(ctx, storage.Key{}) {
		fmt.Println(info.Key, info.Size)
	}
	fmt.Println("closed:", s.Close(ctx))
	// Output:
	// flushed: <nil>
	// session/events.jsonl 3
	// closed: <nil>
}
