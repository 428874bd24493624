package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// half sends a request whose body it promises and does not send.
func (r *rig) half(path string) net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", path)
	return c
}

// A request that is refused, or is for a path of the handler's own, holds its
// connection no longer than others, though nobody reads its body.
func TestSlowClientsThatAreRefusedAreLetGo(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Token: "secret", Stall: 50 * time.Millisecond})
	for path, want := range map[string]int{
		"/v1/chat/completions": http.StatusUnauthorized, "/v1/preflight": http.StatusUnauthorized, "/healthz": http.StatusMethodNotAllowed,
	} {
		in := bufio.NewReader(r.half(path))
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != want {
			t.Fatalf("%s: %v, %v", path, resp, err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Errorf("%s: the connection: %v", path, err)
		}
	}
}

// early answers while the body is still read.
type early struct{}

func (early) RoundTrip(req *http.Request) (*http.Response, error) {
	begins := make(chan struct{})
	go func() {
		close(begins)
		_, _ = req.Body.Read(make([]byte, 1))
	}()
	<-begins
	time.Sleep(10 * time.Millisecond) // it reads
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// An answer that came to its end before the request did lets the connection go,
// though somebody was still reading.
func TestEarlyAnswersLetSlowClientsGo(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Base: early{}, Stall: 100 * time.Millisecond})
	if text, err := io.ReadAll(r.half("/openai/v1/files")); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK\r\nConnection: close\r\n") {
		t.Errorf("%q, %v", text, err)
	}
}
