package search_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/search"
	"github.com/agentcompact/compact/storage/memory"
)

// An index is built from an archive, and finds words in it.
func Example() {
	ctx, archive := context.Background(), memory.New()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", Archive: archive, ArchiveKey: compact.Secret(strings.Repeat("ab", 32))})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = m.Archive(ctx, "deploy", []message.Message{message.User("Why did the deployment fail?"), message.Assistant("The disk was full.")})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Close(ctx); err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "index")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	x, err := search.Open(ctx, archive, folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = x.Close() }()
	if _, err := x.Update(ctx, nil); err != nil {
		fmt.Println(err)
		return
	}
	found, err := x.Search(ctx, search.Query{Words: "disk"})
	fmt.Println(len(found.Matches), "of", found.Sessions, err)
	// Output: 1 of 1 <nil>
}
