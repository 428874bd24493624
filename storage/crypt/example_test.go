package crypt_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// Stored data can only be read with the identity.
func Example() {
	ctx, below := context.Background(), memory.New()
	identity, recipient, err := crypt.NewIdentity()
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := crypt.NewKeys([]string{recipient}, identity)
	if err != nil {
		fmt.Println(err)
		return
	}
	archive := crypt.New(below, keys)
	key, err := storage.ParseKey("notes/today.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := archive.Create(ctx, key, storage.Redacted(redact.Lit("for few eyes"))); err != nil {
		fmt.Println(err)
		return
	}
	f, err := archive.Open(ctx, key, 0, -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := io.ReadAll(f)
	fmt.Println(string(text), err, f.Close())
	for info := range below.List(ctx, storage.Key{}) {
		fmt.Println("below:", strings.HasSuffix(info.Key.String(), ".age"))
	}
	// Output:
	// for few eyes <nil> <nil>
	// below: true
}
