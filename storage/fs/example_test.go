package fs_test

import (
	"context"
	"fmt"
	"os"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// In the archive of a folder, acknowledged data survives a power loss.
func ExampleOpen() {
	root, err := os.MkdirTemp("", "archive")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()
	archive, err := fs.Open(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	for info, err := range archive.List(context.Background(), storage.Key{}) {
		fmt.Println(info, err)
	}
	fmt.Println("closed:", archive.Close())
	// Output: closed: <nil>
}
