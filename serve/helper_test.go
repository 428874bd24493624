package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace/metrics"
)

// A form is one kind of request of a wire.
type form struct {
	wire   provider.Wire
	path   string
	fields string // fields of the body besides the conversation
	stream bool
}

func (f form) String() string { return fmt.Sprintf("%s stream=%v", f.wire, f.stream) }

// forms lists all forms, with and without a provider's name in front.
func forms() []form {
	return []form{
		{provider.Chat, "/openai/v1/chat/completions", `"model":"gpt-4o"`, false},
		{provider.Chat, "/v1/chat/completions", `"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true}`, true},
		{provider.Responses, "/openai/v1/responses", `"model":"gpt-5","store":false`, false},
		{provider.Responses, "/v1/responses", `"model":"gpt-5","store":false,"stream":true`, true},
		{provider.Anthropic, "/anthropic/v1/messages?beta=true", `"model":"claude-sonnet-4-5","max_tokens":100`, false},
		{provider.Anthropic, "/v1/messages", `"model":"claude-sonnet-4-5","max_tokens":100,"stream":true`, true},
		{provider.Gemini, "/gemini/v1beta/models/gemini-2.5-pro:generateContent", `"generationConfig":{}`, false},
		{provider.Gemini, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `"generationConfig":{}`, true},
	}
}

// shapes are a question and a round of a call and its result on each wire; the
// verbs are a number, twice, and the result's text.
var shapes = map[provider.Wire]struct{ list, ask, round string }{
	provider.Chat: {"messages", `{"role":"system","content":"Fix bugs."},{"role":"user","content":%q}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{\"n\":%[1]d}"}}]},{"role":"tool","tool_call_id":"c%[1]d","content":%[2]q}`},
	provider.Responses: {"input", `{"role":"user","content":%q}`,
		`{"type":"function_call","call_id":"c%[1]d","name":"read","arguments":"{\"n\":%[1]d}"},{"type":"function_call_output","call_id":"c%[1]d","output":%[2]q}`},
	provider.Anthropic: {"messages", `{"role":"user","content":%q}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{"n":%[1]d}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":%[2]q}]}`},
	provider.Gemini: {"contents", `{"role":"user","parts":[{"text":%q}]}`,
		`{"role":"model","parts":[{"functionCall":{"name":"read","args":{"n":%[1]d}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":%[2]q}}}]}`},
}

// body returns a request with a given number of rounds, each of a given number of words.
func (f form) body(ask string, rounds, words int) string {
	s := shapes[f.wire]
	var b strings.Builder
	fmt.Fprintf(&b, `{%s, "unknown":123456789012345678901,"%s":[`+s.ask, f.fields, s.list, ask)
	plain := strings.TrimSpace(strings.Repeat("word ", words))
	round := "," + strings.ReplaceAll(s.round, "%[2]q", `"file %[1]d: %[2]s"`) // no character to escape
	for i := range rounds {
		fmt.Fprintf(&b, round, i, plain)
	}
	return b.String() + "]}"
}

// rig is a client, a proxy and a provider, all real.
type rig struct {
	t       *testing.T
	m       *compact.CompactManager
	archive *memory.Archive
	server  *provider.Server
	h       *serve.Handler
	url     string // of the proxy
	client  *http.Client
	log     *journal
	stop    context.CancelFunc
	stopped chan error
}

// journal is a log that is read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

const window = 16_000

// newRig puts a proxy in front of the four providers.
func newRig(t *testing.T, c compact.Config, s serve.Config) *rig {
	t.Helper()
	server := provider.NewServer()
	up := httptest.NewServer(server)
	t.Cleanup(up.Close)
	r := newRigTo(t, up.URL, c, s)
	r.server = server
	return r
}

// newRigTo puts a proxy in front of a server.
func newRigTo(t *testing.T, upstream string, c compact.Config, s serve.Config) *rig {
	t.Helper()
	r := &rig{t: t, archive: memory.New(), log: &journal{}, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}, stopped: make(chan error, 1)}
	t.Cleanup(r.client.CloseIdleConnections)
	if c.MaxContextTokens == 0 {
		c.MaxContextTokens = window
	}
	if c.Archive == nil && !c.Observe {
		c.Archive = r.archive
	}
	s.Metrics = metrics.New(nil)
	c.Exporters = append(c.Exporters, s.Metrics.Exporter())
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.m = m
	if s.Upstreams == nil {
		s.Upstreams = map[string]string{"openai": upstream, "anthropic": upstream, "gemini": upstream}
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if r.h, err = serve.New(m, s); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.stopped <- r.h.Serve(ctx, l, time.Minute) }()
	t.Cleanup(func() {
		cancel()
		r.client.CloseIdleConnections()
		if err := <-r.stopped; err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) request(method, path, body string, header ...string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body == "" {
		req.Body = nil
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// do sends a request and reads the answer.
func (r *rig) do(req *http.Request) (resp *http.Response, answer string) {
	r.t.Helper()
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp, string(b)
}

// post makes a model call in the session "s".
func (r *rig) post(f form, body string) (resp *http.Response, answer string) {
	r.t.Helper()
	return r.do(r.request("POST", f.path, body, "X-Compact-Session", "s"))
}

// steps returns the number of compactions in the archive.
func (r *rig) steps() int {
	r.t.Helper()
	n := 0
	for info, err := range r.archive.List(context.Background(), storage.Key{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(info.Key.String(), "/ledger-") {
			n++
		}
	}
	return n
}

// metric returns the value of a line of /metrics.
func (r *rig) metric(line string) string {
	r.t.Helper()
	text := r.metrics()
	for l := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), line+" "); ok {
			return v
		}
	}
	return ""
}

// total adds up a metric over its labels.
func (r *rig) total(name string) (sum float64) {
	r.t.Helper()
	for l := range strings.Lines(r.metrics()) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), name); ok && (rest[0] == '{' || rest[0] == ' ') {
			v, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
			if err != nil {
				r.t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}

// metrics returns the text of /metrics after all events are counted.
func (r *rig) metrics() string {
	r.t.Helper()
	_ = r.m.Flush(context.Background()) // the test ignores archives that can't be written
	_, text := r.do(r.request("GET", "/metrics", ""))
	return text
}

// waitFor fails if something does not happen for far too long.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met within a minute")
		}
	}
}
