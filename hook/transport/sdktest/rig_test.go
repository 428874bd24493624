package sdktest

import (
	"context"
	"fmt"
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

// A call is a tool call of the model, as an SDK returns it.
type call struct{ id, name, args string }

// A mode determines the next request of an agent: the model, and whether the answer is
// streamed.
type mode struct {
	model  string
	stream bool
}

func (m *mode) set(to mode) { *m = to }

// An agent is an SDK with the program's history in the types of the SDK.
type agent interface {
	set(to mode)
	// user adds a user message.
	user(text string)
	// say adds the results of the last calls, if there are any, and calls the model.
	say(ctx context.Context, results []string) (calls []call, text string, err error)
	// fork returns an agent that continues from the same history at another place.
	fork(at place) agent
}

// A place is a server with the connection of an SDK to the server.
type place struct {
	url    string
	client *http.Client
	mid    middleware // in place of client, for SDKs that take one; nil: the client
}

// An sdk makes an agent for one wire.
type sdk struct {
	name   string
	open   func(at place) agent
	models [2]string // the agent changes to the second model in the middle of a loop
}

var sdks = []sdk{
	{"go-openai", openGoOpenAI, [2]string{"gpt-4o", "gpt-4.1"}},
	{"openai-go chat", openChat, [2]string{"gpt-4o", "gpt-4.1"}},
	{"openai-go responses", openResponses, [2]string{"gpt-5", "gpt-5-mini"}},
	{"anthropic-sdk-go", openAnthropic, [2]string{"claude-sonnet-4-5", "claude-opus-4-5"}},
	{"genai", openGenAI, [2]string{"gemini-2.5-pro", "gemini-2.5-flash"}},
}

// rig is a manager and the providers.
type rig struct {
	t       *testing.T
	m       *compact.CompactManager
	archive *memory.Archive
	server  *provider.Server
	url     string
	client  *http.Client

	more []transport.Option
	mid  *middleware // nil: a transport with options, made when an SDK is opened
	then func(n int) // before the program's call n; may be nil

	mu    sync.Mutex
	calls int // answered calls of the model
}

const (
	rounds = 40
	words  = 600 // words of a tool result
	window = 16_000
)

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, archive: memory.New(), server: provider.NewServer()}
	m, err := compact.New(context.Background(), compact.Config{MaxContextTokens: window, Archive: r.archive})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.m = m
	r.server.Reply = r.reply
	h := httptest.NewServer(r.server)
	t.Cleanup(h.Close)
	r.url = h.URL
	r.client = &http.Client{Transport: transport.New(m, r.options()...)}
	return r
}

// open opens an SDK with the rig for a program that reads files.
func (r *rig) open(s sdk, stream bool) agent {
	a := s.open(place{r.url, r.client, r.middleware()})
	a.set(mode{s.models[0], stream})
	a.user("Read them all.")
	return a
}

// middleware is the function that SDKs call for each attempt.
type middleware func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)

// middleware returns the middleware for an SDK. If the rig has its own transport, a
// test can replace it later.
func (r *rig) middleware() middleware {
	if r.mid == nil {
		return transport.Middleware(r.m, r.options()...)
	}
	return func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return (*r.mid)(req, next)
	}
}

// The options are strict, so that failures are visible.
func (r *rig) options() []transport.Option {
	return append([]transport.Option{transport.Strict()}, r.more...)
}

// reply requests one more file until there are enough.
func (r *rig) reply(q provider.Request) provider.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.calls > rounds {
		return provider.Answer{Text: "done"}
	}
	return provider.Answer{
		Reasoning: fmt.Sprintf("File %d is next.", r.calls), Cached: 10,
		Calls: []provider.Call{{ID: fmt.Sprintf("call_%d", r.calls), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, r.calls)}},
	}
}

// work lets an agent work until it is done.
func (r *rig) work(ctx context.Context, a agent) (text string) {
	r.t.Helper()
	var results []string
	for n := 1; n <= rounds+1; n++ {
		if r.then != nil {
			r.then(n)
		}
		calls, said, err := a.say(ctx, results)
		if err != nil {
			r.t.Fatalf("call %d: %v", n, err)
		}
		text, results = said, nil
		if len(calls) == 0 {
			return text
		}
		for _, c := range calls {
			if c.name != "read" {
				r.t.Fatalf("call %d: the model called %q, want %q", n, c.name, "read")
			}
			results = append(results, fmt.Sprintf("file %d: %s", n, strings.Repeat("word ", words)))
		}
	}
	return text
}

// refused returns the requests that were not answered with 200.
func (r *rig) refused() (out []int) {
	for _, q := range r.server.Requests() {
		if q.Status != http.StatusOK {
			out = append(out, q.Status)
		}
	}
	return out
}

// steps returns the number of compactions in the archive.
func (r *rig) steps() (n int) {
	r.t.Helper()
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
