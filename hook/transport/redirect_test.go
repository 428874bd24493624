package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// moved redirects the first request, as a gateway does for a model that moved. A client
// sends a request again to the new place with 307 and 308.
type moved struct {
	base   http.RoundTripper
	status int
	once   sync.Once
}

func (m *moved) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	m.once.Do(func() {
		_, _ = io.Copy(io.Discard, req.Body)
		resp = &http.Response{StatusCode: m.status, Header: http.Header{"Location": {req.URL.String()}}, Body: http.NoBody, Request: req}
	})
	if resp != nil {
		return resp, nil
	}
	return m.base.RoundTrip(req)
}

// A redirected request is one call in the sums: the redirect itself costs nothing.
func TestARedirectIsNotBilled(t *testing.T) {
	for _, observes := range []bool{false, true} {
		for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			t.Run(fmt.Sprintf("%d, observes %v", status, observes), func(t *testing.T) {
				var mu sync.Mutex
				calls := 0
				add := func(n int) { mu.Lock(); calls += n; mu.Unlock() }
				events := &tracetest.Recorder{}
				r := newRig(t, compact.Config{Observe: observes, Exporters: []trace.Exporter{events}},
					transport.Base(&moved{base: http.DefaultTransport, status: status}),
					transport.OnResult(func(context.Context, *compact.Result) { add(1) }),
					transport.OnUnbilled(func(context.Context, *compact.Result) { add(-1) }))
				f := forms()[0]
				if got, answer := r.post(f, f.body("Fix it.", 10, 200)); got != 200 {
					t.Fatalf("%d: %s, want 200", got, answer)
				}
				if err := r.client.Transport.(*transport.Transport).Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				if calls != 1 {
					t.Errorf("%d calls, want 1", calls)
				}
				if err := r.m.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				told := events.Named(trace.NameProviderError)
				switch {
				case observes:
				case len(told) != 1 || !strings.Contains(told[0].Data.String(), fmt.Sprint(status)) || !strings.HasPrefix(told[0].Trace.Name.String(), "REDIRECT "):
					t.Errorf("%v", told)
				case len(events.Named(trace.NameCallUsage)) != 1:
					t.Error("the redirect has a bill")
				}
			})
		}
	}
}
