package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/storage/memory"
)

// reader is a base that reads the body, as a connection does, and answers.
type reader struct{ buf []byte }

func (r *reader) RoundTrip(req *http.Request) (*http.Response, error) {
	for {
		_, err := req.Body.Read(r.buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(`{"usage":{"prompt_tokens":250000}}`))),
	}, req.Body.Close()
}

// BenchmarkRoundTrip sends 1,000 messages in about 1 MB, which need no compaction, with
// and without a transport. Compare B/op with the size of the body.
func BenchmarkRoundTrip(b *testing.B) {
	for _, f := range []form{forms()[0], forms()[2], forms()[4], forms()[6]} {
		body := []byte(f.body("Fix it.", 499, 390))
		base := &reader{buf: make([]byte, 32<<10)}
		m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4.1", Archive: memory.New()})
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close(context.Background())
		for _, c := range []struct {
			name string
			rt   http.RoundTripper
		}{
			{"plain", base},
			{"transport", transport.New(m, transport.Base(base), transport.Models(func(string) string { return "gpt-4.1" }), transport.Strict())},
		} {
			b.Run(fmt.Sprintf("%s/%s", f.wire, c.name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				ctx := transport.WithSession(context.Background(), "s")
				for b.Loop() {
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.test"+f.path, bytes.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("Content-Type", "application/json")
					resp, err := c.rt.RoundTrip(req)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						b.Fatal(err)
					}
					_ = resp.Body.Close()
				}
			})
		}
	}
}

// The allocation of a warm call, which includes the allocation of the request itself, is
// an upper bound of the overhead.
func TestOverheadIsLessThanTwoCopiesOfTheBody(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: run it without -race")
	}
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4.1", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(context.Background())
	for _, f := range []form{forms()[0], forms()[2], forms()[4], forms()[6]} {
		body := f.body("Fix it.", 499, 390)
		rt := transport.New(m, transport.Base(&reader{buf: make([]byte, 32<<10)}), transport.Models(func(string) string { return "gpt-4.1" }), transport.Strict())
		ctx := transport.WithSession(context.Background(), f.String())
		send := func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.test"+f.path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		send()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const calls = 10
		for range calls {
			send()
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / calls; got >= uint64(2*len(body)) {
			t.Errorf("%v: a call allocates %d bytes, the body has %d", f, got, len(body))
		}
	}
}
