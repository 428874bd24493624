package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/agentcompact/compact/serve/mcpserver"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A client speaks over standard input and output; the server ends with its input.
func ExampleRun() {
	in, client := io.Pipe()
	go func() {
		_, _ = fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}`)
	}()
	open := func(context.Context) (storage.Archive, error) { return memory.New(), nil }
	out := &answers{done: client}
	err := mcpserver.Run(context.Background(), open, "v1.2.3", in, out)
	fmt.Println(strings.Contains(out.String(), `"v1.2.3"`), err)
	// Output: true <nil>
}

// answers is the output of the server. The client disconnects after the first answer.
type answers struct {
	strings.Builder
	done io.Closer
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.Builder.Write(p)
	if strings.Contains(a.String(), "\n") {
		err = a.done.Close()
	}
	return n, err
}

func (*answers) Close() error { return nil }
