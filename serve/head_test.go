package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// A header that does not end, a header that is too long, and an idle connection
// are closed, within the times in docs/SERVE.md.
func TestHeadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := compact.New(t.Context(), compact.Config{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := serve.New(m, serve.Config{})
		if err != nil {
			t.Fatal(err)
		}
		l := &unbuffered{conns: make(chan net.Conn)}
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- h.Serve(ctx, l, time.Minute) }()
		for said, most := range map[string]time.Duration{
			"": 20 * time.Second, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ": 20 * time.Second, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n": 2 * time.Minute,
		} {
			server, client := net.Pipe()
			of := &closeReporter{Conn: server, closed: make(chan struct{})}
			l.conns <- of
			go func() { _, _ = io.Copy(io.Discard, client) }()
			_, _ = io.WriteString(client, said)
			began := time.Now()
			select {
			case <-of.closed:
			case <-time.After(time.Hour):
			}
			if took := time.Since(began); took < most || took > most+time.Second {
				t.Errorf("%q: the connection ended after %v", said, took)
			}
			_ = client.Close()
		}
		server, client := net.Pipe()
		l.conns <- server
		go func() {
			_, _ = io.WriteString(client, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("x", 2<<20)+"\r\n\r\n")
		}()
		if resp, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 2 MiB: %v %v", resp, err)
		}
		_ = client.Close()
		cancel()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
