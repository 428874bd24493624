package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// upstream returns a separate server.
func upstream(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	return upstreamServer(t, f).URL
}

// sums are checksums of bodies, by the number of their request.
type sums struct {
	mu  sync.Mutex
	all map[string][sha256.Size]byte
}

func (s *sums) put(id string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[id] = sha256.Sum256(body)
}

// Several clients at once send thousands of requests on all wires, and other requests.
// The upstream receives the bytes that the clients sent, and the clients receive the
// bytes that the upstream sent.
func TestObservedRequestsAndAnswersAreTheSameBytes(t *testing.T) {
	n := 2000
	switch {
	case os.Getenv("COMPACT_SOAK") != "":
		n = 10_000
	case testing.Short():
		n = 400
	}
	arrived, answered := &sums{all: map[string][sha256.Size]byte{}}, &sums{all: map[string][sha256.Size]byte{}}
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		id := r.Header.Get("X-Id")
		arrived.put(id, append(body, r.Method+r.RequestURI+r.Header.Get("Content-Type")+r.Header.Get("Content-Encoding")...))
		answer := fmt.Appendf(nil, "data: {\"n\":%q, \"usage\":{\"input_tokens\": 9}}\r\n\r\ndata: [DONE]", id)
		answered.put(id, answer)
		w.Header().Set("Content-Type", "text/event-stream")
		for len(answer) > 0 {
			k := min(len(answer), 40)
			_, _ = w.Write(answer[:k])
			answer = answer[k:]
			if f, ok := w.(http.Flusher); ok && len(answer)%2 == 0 {
				f.Flush()
			}
		}
	})
	events := &tracetest.Recorder{}
	r := newRigTo(t, up, compact.Config{Observe: true, MaxContextTokens: 2000, Model: "gpt-4o", Exporters: []trace.Exporter{events}}, serve.Config{Observe: true})
	var work sync.WaitGroup
	for k := range 8 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(18, uint64(k)))
			for i := k; i < n; i += 8 {
				id := fmt.Sprint(i)
				path, kind, coding, body := observed(random, i)
				req := r.request("POST", path, "", "X-Id", id, "X-Compact-Session", fmt.Sprint("s", i%50), "Content-Type", kind)
				req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				if i%3 == 0 {
					req.ContentLength = -1
				}
				if coding != "" {
					req.Header.Set("Content-Encoding", coding)
				}
				_, answer := r.do(req)
				arrived.mu.Lock()
				same := arrived.all[id] == sha256.Sum256(append(body, "POST"+strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(path, "/openai"), "/anthropic"), "/gemini")+kind+coding...))
				arrived.mu.Unlock()
				answered.mu.Lock()
				back := answered.all[id] == sha256.Sum256([]byte(answer))
				answered.mu.Unlock()
				if !same || !back {
					t.Errorf("request %d, %s %q: arrived the same %v, answered the same %v", i, path, coding, same, back)
				}
			}
		})
	}
	work.Wait()
	if len(arrived.all) != n {
		t.Errorf("%d requests arrived of %d", len(arrived.all), n)
	}
	projected := func() int {
		if err := r.m.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		return len(events.Named(trace.NameObserved))
	}
	for deadline := time.Now().Add(time.Minute); projected() == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if projected() == 0 || r.total("compact_projected_tokens_total") >= r.total("compact_observed_tokens_total") || r.total("compact_sent_tokens_total") > 0 {
		t.Errorf("%d events have a projection; %v tokens of %v", projected(), r.total("compact_projected_tokens_total"), r.total("compact_observed_tokens_total"))
	}
	for info, err := range r.archive.List(context.Background(), storage.Key{}) {
		t.Errorf("the archive has %v, %v", info.Key, err)
	}
}

// observed makes a model call of one of the wires, which can be compressed or broken, or
// another request.
func observed(random *rand.Rand, i int) (path, kind, coding string, body []byte) {
	all := forms()
	f := all[i%len(all)]
	path, kind = f.path, "application/json"
	body = []byte(f.body("Fix it.", random.IntN(12), random.IntN(60)))
	switch i / len(all) % 8 {
	case 1:
		body = bytes.ReplaceAll(body, []byte(`":`), []byte("\" :\r\n\t "))
	case 2:
		body = bytes.Replace(body, []byte("{"), []byte(`{"meta":{"protected":true},"tools":[],`), 1)
	case 3:
		body = body[:random.IntN(len(body)-1)+1]
	case 4:
		var b bytes.Buffer
		var z io.WriteCloser = gzip.NewWriter(&b)
		if coding = "gzip"; random.IntN(2) == 0 {
			z, _ = zstd.NewWriter(&b)
			coding = "zstd"
		}
		_, _ = z.Write(body)
		_ = z.Close()
		body = b.Bytes()
	case 5:
		path, kind = "/openai/v1/files", "application/octet-stream"
	case 6:
		for j := range body {
			body[j] ^= byte(random.IntN(2) * random.IntN(256))
		}
	case 7:
		path = "/anthropic/v1/messages/count_tokens"
	}
	return path, kind, coding, body
}

// heldCounter is a counter of tokens that waits, once it is armed.
type heldCounter struct {
	token.Counter
	armed   atomic.Bool
	release chan struct{}
	once    sync.Once
}

func (h *heldCounter) Count(text string) int {
	if h.armed.Load() {
		<-h.release
		h.once.Do(func() { time.Sleep(30 * time.Millisecond) }) // Serve would be done meanwhile
	}
	return h.Counter.Count(text)
}

// Serve ends after the last observation, because the manager is closed next.
func TestServeWaitsForObservations(t *testing.T) {
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	slow := &heldCounter{Counter: counter, release: make(chan struct{})}
	r := newRig(t, compact.Config{Counter: slow}, serve.Config{Observe: true})
	f := forms()[0]
	slow.armed.Store(true)
	if resp, answer := r.post(f, f.body("Fix it.", 3, 30)); resp.StatusCode != http.StatusOK {
		t.Fatal(answer)
	}
	r.stop()
	close(slow.release)
	err = <-r.stopped
	if calls := r.h.Stats().Calls; err != nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
	r.stopped <- nil
}
