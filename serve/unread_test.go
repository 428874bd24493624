package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// half sends a request that announces a body and does not send it.
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

// The handler does not read the body of a refused request, or of a request for one of
// its own paths. Such a request holds its connection no longer than other requests.
func TestRefusedSlowClientsAreDisconnected(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Token: "secret", Stall: 500 * time.Millisecond})
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

// earlyAnswerer answers while the body is still read.
type earlyAnswerer struct{}

func (earlyAnswerer) RoundTrip(req *http.Request) (*http.Response, error) {
	begins := make(chan struct{})
	go func() {
		close(begins)
		_, _ = req.Body.Read(make([]byte, 1))
	}()
	<-begins
	time.Sleep(10 * time.Millisecond) // the goroutine reads the body
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// An answer that ended before its request did releases the connection, although
// a reader was still active.
func TestEarlyAnswersReleaseSlowClients(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Base: earlyAnswerer{}, Stall: 100 * time.Millisecond})
	if text, err := io.ReadAll(r.half("/openai/v1/files")); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK\r\nConnection: close\r\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// unbuffered returns connections that accept no byte that is not read.
type unbuffered struct {
	conns chan net.Conn
	once  sync.Once
}

func (u *unbuffered) Accept() (net.Conn, error) {
	c, ok := <-u.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (u *unbuffered) Close() error { u.once.Do(func() { close(u.conns) }); return nil }

func (u *unbuffered) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// closeReporter is a connection that reports its closing.
type closeReporter struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *closeReporter) Close() error { c.once.Do(func() { close(c.closed) }); return c.Conn.Close() }

func (c *closeReporter) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2}
}

// An answer that is not read ends with its connection, including the handler's
// own answers and the last bytes.
func TestUnreadAnswersEnd(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") })
	r := newRigTo(t, up, compact.Config{}, serve.Config{Stall: 50 * time.Millisecond})
	l := &unbuffered{conns: make(chan net.Conn)}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- r.h.Serve(ctx, l, time.Minute) }()
	preflight := `{"format":"openai","session":"s","model":"gpt-4o","messages":[{"role":"user","content":"Fix it."}]}`
	for _, line := range []string{
		"GET /", "GET /live", "GET /metrics", "GET /openapi.json", "GET /healthz", "GET /nothing", "GET /openai/v1/x", "POST /v1/preflight", "GET /v1/preflight",
	} {
		server, client := net.Pipe()
		of := &closeReporter{Conn: server, closed: make(chan struct{})}
		l.conns <- of
		body := ""
		if strings.HasPrefix(line, "POST") {
			body = preflight
		}
		fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", line, len(body), body)
		select {
		case <-of.closed:
		case <-time.After(time.Minute):
			t.Errorf("%s: the answer waits for its reader", line)
		}
		_ = client.Close()
	}
	cancel()
	if err := within(t, stopped, "the end"); err != nil {
		t.Error(err)
	}
}
