// Command exporter shows a custom exporter (package pager), which a configuration file
// switches on. The exporter writes to a pager each event that a person should look at:
// errors (compact.error) and events of high severity. A test checks the exporter
// against all promises of trace.Exporter.
//
//	go run ./examples/exporter
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/examples/exporter/pager" // trace.pager
	"github.com/agentcompact/compact/message"
)

func main() {
	log.SetFlags(0)
	dir, err := os.MkdirTemp("", "pager")
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(dir, "pager")
	err = run(context.Background(), file)
	told, rerr := os.ReadFile(file)
	fmt.Print(string(told))
	if err := errors.Join(err, rerr, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

const config = `
model: gpt-4
storage: {adapter: memory}
redaction: {enabled: false}
trace: {pager: {file: %q}}
`

// run makes a call without redaction, which emits an event of high severity.
func run(ctx context.Context, file string) (err error) {
	c, err := configs.Parse("agent.yaml", fmt.Appendf(nil, config, file))
	if err != nil {
		return err
	}
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }() // waits for the exporters
	_, err = m.Preflight(ctx, "support-17", []message.Message{message.User("hello")})
	return err
}
