package serve_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage/fs"
)

// The times of 200 sessions at once, each with a conversation that grows by a round
// a call and is compacted in a window of 32,000 at some call or at none, as they
// come: their lengths differ. Ledgers and archive are on disk. A
// model thinks for two seconds before it streams. Printed are, of calls through the
// proxy and of the same calls without it, the 50th and the 99th of a hundred: of the
// time from the call until its body is at the model whole (ready), and of that from
// the model's first byte until the client has it (first-byte); and what the heap
// grew by, in MB. COMPACT_SESSIONS and COMPACT_CALLS change the numbers.
//
//	go test ./serve -run '^$' -bench SessionsAtOnce -benchtime 1x
func BenchmarkSessionsAtOnce(b *testing.B) {
	sessions, calls := number("COMPACT_SESSIONS", 200), number("COMPACT_CALLS", 15)
	up := httptest.NewServer(thinking(2 * time.Second))
	b.Cleanup(up.Close)
	archive, err := fs.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, through := range []bool{false, true} {
		b.Run(map[bool]string{false: "without", true: "through"}[through], func(b *testing.B) {
			url := up.URL
			if through {
				url = proxyTo(b, up.URL, compact.Config{Archive: archive, MaxContextTokens: 32_000})
			}
			before := heap()
			for range b.N {
				ready, first := together(b, url, sessions, calls)
				for name, of := range map[string][]time.Duration{"ready": ready, "first-byte": first} {
					slices.Sort(of)
					b.ReportMetric(float64(of[len(of)/2].Microseconds())/1000, name+"-p50-ms")
					b.ReportMetric(float64(of[len(of)*99/100].Microseconds())/1000, name+"-p99-ms")
				}
			}
			b.ReportMetric((heap()-before)/1e6, "heap-MB")
		})
	}
}

func number(name string, otherwise int) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return cmp.Or(n, otherwise)
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// thinking is a model that says when the whole of a request was there, and when it
// wrote its first byte.
func thinking(d time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived := time.Now()
		time.Sleep(d)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"%d-%d\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\n", arrived.UnixNano(), time.Now().UnixNano())
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
}

func proxyTo(b *testing.B, upstream string, c compact.Config) string {
	b.Helper()
	m, err := compact.New(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	h, err := serve.New(m, serve.Config{Upstreams: map[string]string{"openai": upstream}, NoRecall: true})
	if err != nil {
		b.Fatal(err)
	}
	proxy := httptest.NewServer(h)
	b.Cleanup(func() {
		proxy.Close()
		b.Logf("%+v", h.Stats())
		if err := m.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return proxy.URL + "/openai"
}

// together makes the calls of all sessions, which begin one after the other within
// the time that a call takes.
func together(b *testing.B, url string, sessions, calls int) (ready, first []time.Duration) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: sessions}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() {
			time.Sleep(time.Duration(s) * 2 * time.Second / time.Duration(sessions))
			for n := range calls {
				r, f, err := timed(client, url, fmt.Sprintf("session-%d", s), forms()[1].body(fmt.Sprintf("Fix bug %d.", s), 50+s%40+n, 300))
				mu.Lock()
				if err != nil {
					b.Error(err)
				}
				ready, first = append(ready, r), append(first, f)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return ready, first
}

// timed makes a call.
func timed(client *http.Client, url, session, body string) (ready, first time.Duration, err error) {
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Compact-Session", session)
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	line, err := in.ReadBytes('\n')
	got := time.Now()
	if err != nil {
		return 0, 0, err
	}
	_, _ = io.Copy(io.Discard, in)
	var arrived, wrote int64
	if _, err := fmt.Sscanf(string(bytes.TrimPrefix(line, []byte(`data: {"id":"`))), "%d-%d", &arrived, &wrote); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", line, err)
	}
	return time.Unix(0, arrived).Sub(began), got.Sub(time.Unix(0, wrote)), nil
}
