package agentloop

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// An Endpoint is a model that one agent asks, and the transport on the way to it.
type Endpoint struct {
	URL    string       // of the server, without a path
	Client *http.Client // for the SDK

	server *provider.Server
	drops  bool

	mu        sync.Mutex
	inner     http.RoundTripper
	last      []byte       // that the SDK sent
	read      int          // files
	steps     int          // that the model has left in this turn
	serial    int          // of calls
	since     int          // steps since the model recalled
	recalls   int          // calls of the recall tool
	seen      int          // requests of the SDK in which such a call stands
	changed   map[int]bool // requests that a compaction, or another model, changed from the start
	anew      bool         // no request was made since the program started anew
	forgot    int          // such first requests in which nothing of before was applied again
	compacted int
	summed    int
}

func newEndpoint(t *testing.T, window int, drops bool) *Endpoint {
	e := &Endpoint{server: provider.NewServer(), drops: drops, changed: map[int]bool{}}
	e.server.Window, e.server.Count, e.server.Reply = window, count, e.reply
	h := httptest.NewServer(e.server)
	t.Cleanup(h.Close)
	e.URL, e.Client = h.URL, &http.Client{Transport: e}
	return e
}

// through lets the endpoint ask through a manager, as a program does that has
// just been started.
func (e *Endpoint) through(m *compact.CompactManager) {
	rt := transport.New(m, transport.Strict(), transport.Recall(), transport.OnResult(e.result))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inner = rt
	n := len(e.server.Requests())
	e.changed[n], e.anew = true, n > 0
}

func (e *Endpoint) result(_ context.Context, res *compact.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.anew && res.Replayed == 0 {
		e.forgot++
	}
	if e.anew = false; !res.Triggered {
		return
	}
	e.changed[len(e.server.Requests())] = true
	e.compacted++
	if res.ReductionStage == compact.ReductionSummarization {
		e.summed++
	}
}

var ours = regexp.MustCompile(`"name": ?"recall"`)

// RoundTrip implements http.RoundTripper. It receives each request as the SDK sends
// it.
func (e *Endpoint) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	_ = q.Body.Close()
	e.mu.Lock()
	inner := e.inner
	e.last = body
	if ours.Match(body) {
		e.seen++
	}
	e.mu.Unlock()
	q = q.Clone(q.Context())
	q.Body = io.NopCloser(bytes.NewReader(body))
	return inner.RoundTrip(q)
}
