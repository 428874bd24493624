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
	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// The times of 200 sessions at once, each with a conversation that grows by a round a
// call and is compacted in a window of 32,000 at some call. Ledgers and archive are on
// disk. A model thinks for two seconds before it streams. The sessions of "apart" differ
// in length, so their compactions are spread over time; the sessions of "storm" are all
// compacted within the same two seconds. For calls through the proxy and the same calls
// without it, the output has the 50th and 99th percentile of two times: from the call
// until the model has its whole body (ready), over all calls, over those that compact
// nothing (plain), and over those that compact (compacting); and from the model's first
// byte until the client has it (first-byte). Further columns have the growth of the heap
// in MB, and the processor time of a call in ms, client and model included.
// COMPACT_SESSIONS and COMPACT_CALLS change the numbers. If S3 servers are available,
// the sessions of "apart" are also archived in a bucket ("apart-s3").
//
//	go test ./serve -run '^$' -bench SessionsAtOnce -benchtime 1x
//	.ci/s3 with go test ./serve -run '^$' -bench SessionsAtOnce/apart-s3 -benchtime 1x
func BenchmarkSessionsAtOnce(b *testing.B) {
	up := httptest.NewServer(thinking(2 * time.Second))
	b.Cleanup(up.Close)
	loads := map[string]load{
		"apart": {open: onDisk, least: 50, spread: 40},
		"storm": {open: onDisk, least: 78, spread: 1},
	}
	if os.Getenv("COMPACT_S3_VERSITYGW") != "" {
		loads["apart-s3"] = load{open: inBucket, least: 50, spread: 40}
	}
	for name, l := range loads {
		l.sessions, l.calls = number("COMPACT_SESSIONS", 200), number("COMPACT_CALLS", 15)
		b.Run(name, func(b *testing.B) {
			compacted := map[place]bool{} // the calls, which are the same without the proxy
			for _, through := range []bool{true, false} {
				b.Run(map[bool]string{false: "without", true: "through"}[through], func(b *testing.B) { l.measure(b, up.URL, through, compacted) })
			}
		})
	}
}

// load is the requested load: a number of sessions with a number of calls each, the
// spread of their lengths in rounds, and their archive.
type load struct {
	sessions, calls, least, spread int
	open                           func(*testing.B) (storage.Archive, error)
}

func onDisk(b *testing.B) (storage.Archive, error) { return fs.Open(b.TempDir()) }

func inBucket(b *testing.B) (storage.Archive, error) {
	server := s3test.Versitygw(b)
	return s3.Open(b.Context(), server.Config(server.Bucket(b, false)))
}

// place is a call of a session.
type place struct{ session, call int }

// times holds the times of one call.
type times struct {
	place
	ready, first  time.Duration
	sent, arrived int // bytes
}

func (l load) measure(b *testing.B, url string, through bool, compacted map[place]bool) {
	if through {
		archive, err := l.open(b)
		if err != nil {
			b.Fatal(err)
		}
		url = proxyTo(b, url, compact.Config{Archive: archive, MaxContextTokens: 32_000})
	}
	before := heap()
	for range b.N {
		began := cputime.Used()
		all := l.make(b, url)
		b.ReportMetric(float64((cputime.Used()-began).Microseconds())/1000/float64(len(all)), "cpu-ms/call")
		if through {
			sinks(all, compacted)
			b.ReportMetric(float64(len(compacted)), "compactions")
		}
		report(b, "ready", all, func(t times) (time.Duration, bool) { return t.ready, true })
		report(b, "cold", all, func(t times) (time.Duration, bool) { return t.ready, t.call == 0 && !compacted[t.place] })
		report(b, "plain", all, func(t times) (time.Duration, bool) { return t.ready, !compacted[t.place] })
		report(b, "compacting", all, func(t times) (time.Duration, bool) { return t.ready, compacted[t.place] })
		report(b, "first-byte", all, func(t times) (time.Duration, bool) { return t.first, true })
	}
	b.ReportMetric((heap()-before)/1e6, "heap-MB")
}

// sinks finds the calls that sent a smaller request than the previous call, or, for the
// session's first call, a smaller request than it received.
func sinks(all []times, into map[place]bool) {
	arrived := map[place]int{}
	for _, t := range all {
		arrived[t.place] = t.arrived
		if t.call == 0 {
			arrived[place{t.session, -1}] = t.sent
		}
	}
	for _, t := range all {
		if t.arrived < arrived[place{t.session, t.call - 1}] {
			into[t.place] = true
		}
	}
}

// report prints the 50th and the 99th percentile of the calls that count.
func report(b *testing.B, name string, all []times, f func(times) (time.Duration, bool)) {
	var of []time.Duration
	for _, t := range all {
		if d, counts := f(t); counts {
			of = append(of, d)
		}
	}
	if len(of) == 0 {
		return
	}
	slices.Sort(of)
	b.ReportMetric(float64(of[len(of)/2].Microseconds())/1000, name+"-p50-ms")
	b.ReportMetric(float64(of[len(of)*99/100].Microseconds())/1000, name+"-p99-ms")
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

// thinking returns a model that records when it has read the whole request, when it writes
// its first byte, and the size of the request.
func thinking(d time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		arrived := time.Now()
		time.Sleep(d)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"%d-%d-%d\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\n", arrived.UnixNano(), time.Now().UnixNano(), n)
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

// make makes the calls of all sessions, which begin one after the other within
// the time that a call takes.
func (l load) make(b *testing.B, url string) (out []times) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: l.sessions}}
	defer client.CloseIdleConnections()
	talk := newTalk(l.least + l.spread + l.calls)
	var mu sync.Mutex
	var all sync.WaitGroup
	for s := range l.sessions {
		all.Go(func() {
			time.Sleep(time.Duration(s) * 2 * time.Second / time.Duration(l.sessions))
			for n := range l.calls {
				t, err := timed(client, url, fmt.Sprintf("session-%d", s), talk.body(s, l.least+s%l.spread+n))
				t.place = place{s, n}
				mu.Lock()
				if err != nil {
					b.Error(err)
				}
				out = append(out, t)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return out
}

// talk is a conversation whose bytes are made once for all sessions, so that the
// client costs little compared with the proxy.
type talk struct {
	head string
	text string
	ends []int // offsets at which rounds end
}

func newTalk(rounds int) *talk {
	f, t := forms()[1], &talk{}
	whole := f.body("ASK", rounds, 300)
	t.head, t.text, _ = strings.Cut(whole, "ASK")
	for n := range rounds {
		_, text, _ := strings.Cut(f.body("ASK", n, 300), "ASK")
		t.ends = append(t.ends, len(text)-len("]}"))
	}
	return t
}

func (t *talk) body(session, rounds int) *strings.Reader {
	return strings.NewReader(t.head + fmt.Sprintf("Fix bug %d.", session) + t.text[:t.ends[rounds]] + "]}")
}

// timed makes a call.
func timed(client *http.Client, url, session string, body *strings.Reader) (t times, err error) {
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", body)
	if err != nil {
		return t, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Compact-Session", session)
	t.sent = body.Len()
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return t, err
	}
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	line, err := in.ReadBytes('\n')
	got := time.Now()
	if err != nil {
		return t, err
	}
	_, _ = io.Copy(io.Discard, in)
	var arrived, wrote int64
	if _, err := fmt.Sscanf(string(bytes.TrimPrefix(line, []byte(`data: {"id":"`))), "%d-%d-%d", &arrived, &wrote, &t.arrived); err != nil {
		return t, fmt.Errorf("%s: %w", line, err)
	}
	t.ready, t.first = time.Unix(0, arrived).Sub(began), got.Sub(time.Unix(0, wrote))
	return t, nil
}
