package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A form is one kind of request of a wire.
type form struct {
	wire   provider.Wire
	path   string
	fields string // fields of the body besides the conversation
	stream bool
}

func (f form) String() string { return fmt.Sprintf("%s stream=%v", f.wire, f.stream) }

// forms lists all forms, streams included.
func forms() []form {
	return []form{
		{provider.Chat, "/v1/chat/completions", `"model":"gpt-4o"`, false},
		{provider.Chat, "/openai/deployments/d/chat/completions?api-version=1", `"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true}`, true},
		{provider.Responses, "/v1/responses", `"model":"gpt-5","store":false,"include":["reasoning.encrypted_content"]`, false},
		{provider.Responses, "/v1/responses", `"model":"gpt-5","store":false,"include":["reasoning.encrypted_content"],"stream":true`, true},
		{provider.Anthropic, "/v1/messages?beta=true", `"model":"claude-sonnet-4-5","max_tokens":100`, false},
		{provider.Anthropic, "/v1/messages", `"model":"claude-sonnet-4-5","max_tokens":100,"stream":true`, true},
		{provider.Gemini, "/v1beta/models/gemini-2.5-pro:generateContent", `"generationConfig":{}`, false},
		{provider.Gemini, "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `"generationConfig":{}`, true},
		{provider.Gemini, "/v1beta/models/gemini-2.5-pro:streamGenerateContent", `"generationConfig":{}`, true},
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

// body returns a request with a number of rounds, each of a number of words.
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

// rig is a client with a transport, in front of the four providers.
type rig struct {
	t       *testing.T
	m       *compact.CompactManager
	archive *memory.Archive
	server  *provider.Server
	url     string
	client  *http.Client

	mu      sync.Mutex
	results []*compact.Result
	errs    []error
}

const window = 16_000

func newRig(t *testing.T, c compact.Config, opts ...transport.Option) *rig {
	t.Helper()
	return newRigAt(t, provider.NewServer(), c, opts...)
}

// newRigAt returns a rig in front of a given server, which other rigs may use, too.
func newRigAt(t *testing.T, server *provider.Server, c compact.Config, opts ...transport.Option) *rig {
	t.Helper()
	r := &rig{t: t, archive: memory.New(), server: server}
	if c.MaxContextTokens == 0 {
		c.MaxContextTokens = window
	}
	if c.Archive == nil {
		c.Archive = r.archive
	}
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.m = m
	h := httptest.NewServer(r.server)
	t.Cleanup(h.Close)
	r.url = h.URL
	r.client = &http.Client{Transport: transport.New(m, append([]transport.Option{
		transport.Base(h.Client().Transport),
		transport.OnResult(func(_ context.Context, res *compact.Result) {
			kept := *res
			r.mu.Lock()
			r.results = append(r.results, &kept)
			r.mu.Unlock()
			*res = compact.Result{} // the program's copy
		}),
		transport.OnError(func(_ context.Context, err error) { r.mu.Lock(); r.errs = append(r.errs, err); r.mu.Unlock() }),
	}, opts...)...)}
	return r
}

func (r *rig) request(ctx context.Context, path, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// do sends a request and reads the answer.
func (r *rig) do(req *http.Request) (status int, answer string) {
	r.t.Helper()
	return r.read(r.client.Do(req))
}

func (r *rig) read(resp *http.Response, err error) (status int, answer string) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// post makes a model call in the session "s".
func (r *rig) post(f form, body string) (status int, answer string) {
	r.t.Helper()
	return r.do(r.request(transport.WithSession(context.Background(), "s"), f.path, body))
}

// got returns the bodies that the server got.
func (r *rig) got() (bodies []string) {
	for _, q := range r.server.Requests() {
		bodies = append(bodies, string(q.Body))
	}
	return bodies
}

// sent returns the body of request i.
func (r *rig) sent(i int) string { return string(r.server.Requests()[i].Body) }

// last returns the newest result.
func (r *rig) last() *compact.Result {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.results) == 0 {
		r.t.Fatalf("no request was compared with the budget; errors: %v", r.errs)
	}
	return r.results[len(r.results)-1]
}

// quiet fails the test if an error was logged.
func (r *rig) quiet() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.errs {
		r.t.Error(err)
	}
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

// closer records whether a body was closed.
type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func unclosed(body string) *closer { return &closer{Reader: bytes.NewReader([]byte(body))} }
