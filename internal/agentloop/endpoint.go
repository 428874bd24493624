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

// An Endpoint is the model of one agent, with the transport before it.
type Endpoint struct {
	URL    string       // of the server, without a path
	Client *http.Client // for the SDK

	server *provider.Server
	drops  bool

	mu        sync.Mutex
	inner     http.RoundTripper
	last      []byte       // last request that the SDK sent
	read      int          // number of files read
	steps     int          // steps that the model has left in this turn
	serial    int          // number of the last call
	since     int          // steps since the model recalled
	recalls   int          // calls of the recall tool
	seen      int          // requests of the SDK that contain such a call
	changed   map[int]bool // requests that differ from the start, because of a compaction or another model
	anew      bool         // no request was made since the restart
	forgot    int          // first requests after a restart in which no earlier edit was applied again
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

// through makes the endpoint use a manager, like a program that has just started.
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
