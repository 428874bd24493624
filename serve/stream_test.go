package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// upstreamServer returns a separate server.
func upstreamServer(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	up := httptest.NewServer(f)
	t.Cleanup(up.Close)
	return up
}

// within fails if nothing arrives within a long time.
func within[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s did not come", what)
	}
	return v
}

// Each event reaches the client before the upstream sends the next event, on every
// wire, with and without a compaction.
func TestStreamsFlowEventByEvent(t *testing.T) {
	for _, observe := range []bool{false, true} {
		for _, f := range forms() {
			next := make(chan struct{})
			up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				for i := range 5 {
					fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
					w.(http.Flusher).Flush()
					<-next
				}
			})
			r := newRigTo(t, up, compact.Config{Observe: observe}, serve.Config{Observe: observe, NoRecall: true})
			for _, rounds := range []int{2, 60} {
				resp, err := r.client.Do(r.request("POST", f.path, f.body("Fix it.", rounds, 300)))
				if err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewReader(resp.Body)
				for i := range 5 {
					got, err := lines.ReadString('\n')
					if want := fmt.Sprintf("data: {\"n\":%d}\n", i); got != want || err != nil {
						t.Fatalf("%v: %q, %v", f, got, err)
					}
					_, _ = lines.ReadString('\n')
					next <- struct{}{}
				}
				if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
					t.Errorf("%v: %v", f, err)
				}
				_ = resp.Body.Close()
			}
		}
	}
}

func TestAnswersHeaderPrecedesItsBody(t *testing.T) {
	go1 := make(chan struct{})
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-go1
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	resp, err := r.client.Do(r.request("GET", "/openai/v1/x", ""))
	if err != nil {
		t.Fatal(err)
	}
	close(go1)
	_ = resp.Body.Close()
}

// An upstream answers while the client still sends, and both read the other's
// data at once.
func TestAnswersBeginBeforeTheRequestHasEnded(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		first := make([]byte, 5)
		_, _ = io.ReadFull(r.Body, first)
		_, _ = w.Write(first)
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, r.Body)
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	for _, length := range []int64{-1, 10} {
		body, w := io.Pipe()
		req := r.request("POST", "/openai/v1/x", "")
		req.Body, req.ContentLength = body, length
		go func() { _, _ = io.WriteString(w, "first") }()
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 5)
		if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "first" || !resp.Close {
			t.Fatalf("length %d: %q, %v, the connection ends: %v", length, first, err, resp.Close)
		}
		go func() { _, _ = io.WriteString(w, " last"); _ = w.Close() }()
		if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != " last" {
			t.Errorf("length %d: %q, %v", length, rest, err)
		}
		_ = resp.Body.Close()
	}
}

// secondReader is an upstream that reads once more at the end of a request's body, after the
// client has received the first bytes of the answer.
type secondReader struct {
	answered chan struct{}
	got      error
}

func (a *secondReader) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	answer, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, "first")
		<-a.answered
		_, a.got = req.Body.Read(make([]byte, 1))
		_ = w.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: answer, ContentLength: -1, Request: req}, nil
}

func TestSecondReadAfterARequestReturnsEOF(t *testing.T) {
	a := &secondReader{answered: make(chan struct{})}
	r := newRigTo(t, "http://up.test", compact.Config{}, serve.Config{Base: a})
	resp, err := r.client.Do(r.request("POST", "/openai/v1/x", strings.Repeat("x", 200_000)))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(resp.Body, make([]byte, 5))
	close(a.answered)
	_, _ = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !errors.Is(a.got, io.EOF) {
		t.Errorf("second read: %v, want EOF", a.got)
	}
}

func TestDisconnectedClientEndsTheUpstreamCall(t *testing.T) {
	for _, early := range []bool{false, true} {
		began, gone := make(chan struct{}, 1), make(chan error, 1)
		up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if !early {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {}\n\ndata: {}\n\n")
				w.(http.Flusher).Flush()
			}
			began <- struct{}{}
			<-r.Context().Done()
			gone <- r.Context().Err()
		})
		r := newRigTo(t, up, compact.Config{}, serve.Config{})
		f := forms()[1]
		ctx, cancel := context.WithCancel(context.Background())
		answered := make(chan error, 1)
		go func() {
			resp, err := r.client.Do(r.request("POST", f.path, f.body("Fix it.", 60, 300)).WithContext(ctx))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			answered <- err
		}()
		within(t, began, "the request")
		cancel()
		if err := within(t, answered, "the end of the request"); !errors.Is(err, context.Canceled) {
			t.Errorf("early %v: %v", early, err)
		}
		if err := within(t, gone, "the end of the upstream's call"); !errors.Is(err, context.Canceled) {
			t.Errorf("early %v: %v", early, err)
		}
	}
}

// Data from before an upstream's disconnection reaches the client, and the
// client sees the disconnection.
func TestPartialAnswerIsReturnedAsPartial(t *testing.T) {
	for _, f := range forms() {
		for name, head := range map[string]string{
			"length": "Content-Length: 1000\r\nContent-Type: application/json\r\n\r\n{\"half\":", "chunked": "Transfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n8\r\ndata: {}\r\n",
		} {
			up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+head)
				_ = c.Close()
			})
			r := newRigTo(t, up, compact.Config{}, serve.Config{})
			resp, err := r.client.Do(r.request("POST", f.path, f.body("Fix it.", 60, 300)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			want := map[string]string{"length": `{"half":`, "chunked": "data: {}"}[name]
			if !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != want {
				t.Errorf("%v, %s: %q, %v", f, name, got, err)
			}
		}
	}
}

func TestSilentUpstreamIsAnErrorInItsProvidersForm(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	reset := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
	})
	for _, up := range []string{"http://" + l.Addr().String(), reset} {
		r := newRigTo(t, "", compact.Config{}, serve.Config{Upstreams: map[string]string{"openai": up, "anthropic": up, "gemini": up, "other": up}})
		asked := map[string]string{
			"/anthropic/v1/models": `"type":"api_error"`, "/gemini/v1/models": `"status":"UNAVAILABLE"`, "/openai/v1/threads/t/messages": `"type":"server_error"`,
			"/other/v1/messages": `"type":"api_error"`, "/other/x": `"type":"server_error"`,
		}
		for i, want := range map[int]string{0: `"type":"server_error"`, 2: `"type":"server_error"`, 4: `"type":"api_error"`, 6: `"status":"UNAVAILABLE"`} {
			asked[forms()[i].path] = want
		}
		for path, want := range asked {
			resp, answer := r.do(r.request("POST", path, "{}"))
			if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("X-Compact-Error") != "upstream" || !strings.Contains(answer, want) {
				t.Errorf("%s: %s %s", path, resp.Status, answer)
			}
		}
		if n := r.metric(`compact_broken_total{why="upstream"}`); n != strconv.Itoa(len(asked)) {
			t.Errorf("%s broken answers counted, want %d", n, len(asked))
		}
	}
}

// The client gets every error of the provider.
func TestErrorsOfTheProviderAreReturned(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 413, 429, 500, 503, 529} {
		up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `<html>garbage`)
		})
		r := newRigTo(t, up, compact.Config{}, serve.Config{})
		for _, f := range forms() {
			if resp, answer := r.post(f, f.body("Fix it.", 2, 10)); resp.StatusCode != status || answer != "<html>garbage" || resp.Header.Get("Retry-After") != "7" || resp.Header.Get("X-Compact-Error") != "" {
				t.Errorf("%v, %d: %s %s", f, status, resp.Status, answer)
			}
		}
	}
}

// A client that sends Expect: 100-continue gets the upstream's decision, and
// sends no body to an upstream that refuses.
func TestUpstreamDecidesAboutContinue(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	for _, path := range []string{"/openai/v1/files", "/v1/chat/completions"} {
		for _, auth := range []string{"", "Authorization: Bearer k\r\n"} {
			c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+auth+"Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
			in := bufio.NewReader(c)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			for told := false; resp.StatusCode == http.StatusContinue; told = true {
				if !told {
					_, _ = io.WriteString(c, "{}")
				}
				if resp, err = http.ReadResponse(in, nil); err != nil {
					t.Fatal(err)
				}
			}
			body, _ := io.ReadAll(resp.Body)
			if want := map[bool]string{true: "401 ", false: "200 {}"}[auth == ""]; fmt.Sprint(resp.StatusCode, " ", string(body)) != want {
				t.Errorf("%s, %q: %s %q", path, auth, resp.Status, body)
			}
			_ = c.Close()
		}
	}
}

func TestTrailersGoBothWays(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Told")
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
		w.Header().Set("X-Told", r.Trailer.Get("X-Sum"))
		w.Header().Set(http.TrailerPrefix+"X-Untold", "u")
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	for _, f := range forms() {
		body := f.body("Fix it.", 60, 300)
		req := r.request("POST", f.path, body, "X-Compact-Session", "s")
		req.ContentLength, req.Trailer = -1, http.Header{"X-Sum": nil}
		req.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), callAtEnd(func() { req.Trailer.Set("X-Sum", "42") })))
		resp, answer := r.do(req)
		if answer != body || resp.Trailer.Get("X-Told") != "42" || resp.Trailer.Get("X-Untold") != "u" {
			t.Errorf("%v: %d bytes of %d, %v", f, len(answer), len(body), resp.Trailer)
		}
	}
}

// callAtEnd is an empty reader that does something.
type callAtEnd func()

func (f callAtEnd) Read([]byte) (int, error) { f(); return 0, io.EOF }

func TestHTTP2OnBothSides(t *testing.T) {
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Proto", r.Proto)
		_, _ = w.Write(body)
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	t.Cleanup(up.Close)
	r := newRigTo(t, up.URL, compact.Config{}, serve.Config{Base: up.Client().Transport})
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	r.client = &http.Client{Transport: &http.Transport{Protocols: &p}}
	defer r.client.CloseIdleConnections()
	for _, f := range forms() {
		short, long := f.body("Fix it.", 2, 30), f.body("Fix it.", 60, 300)
		if resp, answer := r.post(f, short); answer != short || resp.Proto != "HTTP/2.0" || resp.Header.Get("X-Proto") != "HTTP/2.0" {
			t.Errorf("%v: %d bytes, %s, %s", f, len(answer), resp.Proto, resp.Header.Get("X-Proto"))
		}
		if _, answer := r.do(r.request("POST", f.path, long, "X-Compact-Session", f.String())); len(answer) > len(long)/2 {
			t.Errorf("%v: %d bytes", f, len(answer))
		}
	}
}

func TestProtocolsAreSwitched(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		c, in, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, _ := in.ReadString('\n')
		_, _ = io.WriteString(c, "heard "+line)
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", resp, err)
	}
	_, _ = io.WriteString(c, "hello\n")
	if got, err := io.ReadAll(in); !bytes.Equal(got, []byte("heard hello\n")) {
		t.Errorf("%q, %v", got, err)
	}
}
