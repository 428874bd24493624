// Command store shows a custom archive (package quota), which a configuration file
// names. The archive refuses to store more than a fixed number of bytes. A test checks
// it against all promises of storage.Archive.
//
//	go run ./examples/store
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/examples/store/quota"
	"github.com/agentcompact/compact/message"
)

func main() {
	log.SetFlags(0)
	dir, err := os.MkdirTemp("", "quota")
	if err == nil {
		err = errors.Join(run(context.Background(), os.Stdout, dir, 64<<10), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

const config = `
model: gpt-4
storage:
  adapter: quota
  quota: {path: %q, max_bytes: %d}
`

// run stores sessions until the quota is used up.
func run(ctx context.Context, w io.Writer, dir string, bytes int) (err error) {
	c, err := configs.Parse("agent.yaml", fmt.Appendf(nil, config, dir, bytes))
	if err != nil {
		return err
	}
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	for i := range 1000 {
		history := []message.Message{message.User("What is in this file?"), message.Assistant(strings.Repeat("A line of it. ", 200))}
		switch err := m.Archive(ctx, fmt.Sprintf("session-%d", i), history); {
		case errors.Is(err, quota.ErrFull):
			_, err := fmt.Fprintf(w, "%d sessions are stored, then: %v\n", i, quota.ErrFull)
			return err
		case err != nil:
			return err
		}
	}
	return nil
}
