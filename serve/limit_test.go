package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

func TestTooManyRequestsGetRetryAfter(t *testing.T) {
	began, end := make(chan struct{}, 2), make(chan struct{})
	up := upstream(t, func(http.ResponseWriter, *http.Request) { began <- struct{}{}; <-end })
	r := newRigTo(t, up, compact.Config{}, serve.Config{MaxCalls: 2})
	done := make(chan string, 2)
	for range 2 {
		go func() {
			resp, err := r.client.Do(r.request("GET", "/openai/v1/x", ""))
			if err != nil {
				done <- err.Error()
				return
			}
			_ = resp.Body.Close()
			done <- resp.Status
		}()
	}
	within(t, began, "a request")
	within(t, began, "a request")
	resp, answer := r.do(r.request("POST", "/anthropic/v1/messages", "{}"))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || !strings.Contains(answer, `"overloaded_error"`) || r.metric("compact_requests_in_flight") != "2" {
		t.Errorf("%s %s", resp.Status, answer)
	}
	close(end)
	for range 2 {
		if got := within(t, done, "an answer"); got != "200 OK" {
			t.Error(got)
		}
	}
	if resp, _ := r.do(r.request("GET", "/openai/v1/x", "")); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
}

// A client that stops sending its request, or stops reading its answer, is
// disconnected, and its resources are released.
func TestSlowClientsAreDisconnected(t *testing.T) {
	gone := make(chan struct{}, 1)
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				break
			}
		}
		gone <- struct{}{}
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{Stall: 50 * time.Millisecond})
	for _, path := range []string{"/openai/v1/files", "/openai/v1/chat/completions"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		_ = c.Close()
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "GET /openai/v1/x HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, gone, "the end of an answer that nobody reads")
	_ = c.Close()
	for deadline := time.Now().Add(time.Minute); r.metric("compact_requests_in_flight") != "0"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a request never ended")
		}
	}
}

// A request that is sent very slowly, byte by byte, ends as well.
func TestSlowlySentRequestsEnd(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Stall: time.Minute, BodyTimeout: 100 * time.Millisecond})
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(c); err != nil {
		t.Error(err)
	}
}

// An upstream may be slower than a client may be: when it reads a request, begins its
// answer, or continues the answer. The client does not count as slow then.
func TestProxyWaitsForSlowUpstreams(t *testing.T) {
	const stall, pause = time.Second, 1200 * time.Millisecond // a busy machine forgets a process for a while
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/files" {
			time.Sleep(pause)
		}
		n, _ := io.Copy(io.Discard, r.Body)
		if r.URL.Path != "/v1/files" {
			time.Sleep(pause)
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
		_, _ = fmt.Fprintf(w, "%d bytes", n)
	})
	var h2 http.Protocols
	h2.SetUnencryptedHTTP2(true)
	for name, p := range map[string]*http.Protocols{"HTTP/1": nil, "HTTP/2": &h2} {
		// larger than the buffers of the connection
		for path, size := range map[string]int{"/openai/v1/x": 100, "/openai/v1/files": 16 << 20} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				c := serve.Config{Stall: stall, BodyTimeout: stall}
				if size > 100 {
					c.BodyTimeout = time.Minute
				}
				r := newRigTo(t, up, compact.Config{}, c)
				r.client.Transport = &http.Transport{Protocols: p}
				for range 2 { // on one connection
					if _, answer := r.do(r.request("POST", path, strings.Repeat("x", size))); answer != fmt.Sprintf("%d bytes", size) {
						t.Errorf("%q in place of %d bytes", answer, size)
					}
				}
			})
		}
	}
}

func TestEndWaitsForTheCallsThatAreUnderWay(t *testing.T) {
	began, end := make(chan struct{}, 1), make(chan struct{})
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		began <- struct{}{}
		<-end
		_, _ = io.WriteString(w, "data: 2\n\n")
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	resp, err := r.client.Do(r.request("GET", "/openai/v1/x", ""))
	if err != nil {
		t.Fatal(err)
	}
	within(t, began, "the request")
	if ready(r.h) != http.StatusOK {
		t.Error("the server is not ready")
	}
	r.stop()
	for deadline := time.Now().Add(time.Minute); ready(r.h) != http.StatusServiceUnavailable; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server reports ready although it is about to end")
		}
	}
	close(end)
	got, err := io.ReadAll(resp.Body)
	if string(got) != "data: 1\n\ndata: 2\n\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	_ = resp.Body.Close()
	if err := within(t, r.stopped, "the end"); err != nil {
		t.Error(err)
	}
	r.stopped <- nil
}

// With a notice, requests are accepted for that time, while the balancer is told
// that the server is about to end.
func TestANoticeIsGivenBeforeConnectionsAreRefused(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := serve.New(m, serve.Config{Upstreams: map[string]string{"openai": echo(t)}, Notice: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- h.Serve(ctx, l, time.Minute) }()
	began := time.Now()
	cancel()
	waitFor(t, func() bool { return ready(h) == http.StatusServiceUnavailable })
	resp, err := http.Get("http://" + l.Addr().String() + "/openai/v1/models")
	if err == nil {
		_ = resp.Body.Close()
	}
	if late := time.Since(began) > 300*time.Millisecond; !late && (err != nil || !resp.Close) {
		t.Errorf("a request that came meanwhile: %v, %v", resp, err)
	}
	if err := within(t, stopped, "the end"); err != nil || time.Since(began) < 300*time.Millisecond {
		t.Errorf("the server ended after %v: %v", time.Since(began), err)
	}
	if resp, err := http.Get("http://" + l.Addr().String() + "/openai/v1/models"); err == nil {
		_ = resp.Body.Close()
		t.Error("a request is taken after the end")
	}
}

func ready(h http.Handler) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	return w.Code
}

func TestEndlessCallsAreCutOff(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	m, err := compact.New(t.Context(), compact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := serve.New(m, serve.Config{Upstreams: map[string]string{"openai": up}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- h.Serve(ctx, l, 10*time.Millisecond) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "GET /openai/v1/x HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := within(t, stopped, "the end"); err == nil {
		t.Error("a call was cut off without a report")
	}
}
