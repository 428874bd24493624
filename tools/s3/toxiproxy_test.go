package s3

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3/s3test"
	"github.com/agentcompact/compact/storage/spool"
)

// network is the connection between the archive and a server, and can fail.
type network struct {
	t     testing.TB
	proxy *toxiproxy.Proxy
}

func newNetwork(t testing.TB, upstream string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	zerolog.SetGlobalLevel(zerolog.Disabled) // its toxics have separate loggers
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.New(io.Discard))
	n := &network{t, toxiproxy.NewProxy(server, "s3", listen, strings.TrimPrefix(upstream, "http://"))}
	if err := n.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.proxy.Stop)
	return n
}

func (n *network) endpoint() string { return "http://" + n.proxy.Listen }

// fail replaces the faults of the network by toxics, as JSON.
func (n *network) fail(toxics ...string) {
	n.t.Helper()
	n.proxy.Toxics.ResetToxics(context.Background())
	for _, toxic := range toxics {
		if _, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			n.t.Fatal(err)
		}
	}
}

// refuse makes the network refuse connections, or accept them again.
func (n *network) refuse(yes bool) {
	n.t.Helper()
	if yes {
		n.proxy.Stop()
		return
	}
	if err := n.proxy.Start(); err != nil {
		n.t.Fatal(err)
	}
}

const (
	slow     = `{"type":"latency","stream":"downstream","attributes":{"latency":120,"jitter":80}}`
	thin     = `{"type":"bandwidth","stream":"upstream","attributes":{"rate":64}}`
	reset    = `{"type":"reset_peer","stream":"downstream","attributes":{"timeout":5},"toxicity":0.4}`
	resetUp  = `{"type":"reset_peer","stream":"upstream","attributes":{"timeout":5},"toxicity":0.3}`
	cutShort = `{"type":"limit_data","stream":"downstream","attributes":{"bytes":120},"toxicity":0.3}`
	silent   = `{"type":"timeout","stream":"downstream","attributes":{"timeout":200}}`
	deaf     = `{"type":"timeout","stream":"upstream","attributes":{"timeout":200}}`
)

// weathers are the conditions of the network, one after the other.
var weathers = []struct {
	name   string
	closed bool
	toxics []string
}{
	{name: "fine"}, {name: "slow", toxics: []string{slow}}, {name: "refusing", closed: true}, {name: "resetting answers", toxics: []string{reset}},
	{name: "down", toxics: []string{silent}}, {name: "resetting requests", toxics: []string{resetUp}}, {name: "cutting answers off", toxics: []string{cutShort}},
	{name: "losing requests", toxics: []string{deaf}}, {name: "thin", toxics: []string{thin}}, {name: "refusing again", closed: true},
}

// weather changes the network until it is stopped; after that, the network has
// no faults.
func (n *network) weather(ctx context.Context, every time.Duration) {
	for i := 0; ; i++ {
		w := weathers[i%len(weathers)]
		n.fail(w.toxics...)
		if w.closed {
			n.refuse(true)
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
		if w.closed {
			n.refuse(false)
		}
		if ctx.Err() != nil {
			n.fail()
			return
		}
	}
}

// agent returns a manager as a configuration file makes it, with a spool.
func agent(t testing.TB, endpoint, bucket, dir string) *compact.CompactManager {
	t.Helper()
	cfg, err := configs.Parse("f.yaml", fmt.Appendf(nil, `
model: gpt-4
max_context_tokens: 4000
storage: {adapter: s3, bucket: %q, prefix: team/agents, endpoint: %q, path_style: true, spool: %q, timeout: 3s}
`, bucket, endpoint, dir))
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// compactions compacts each session a given number of times, and returns the
// number of compactions.
func compactions(t testing.TB, m *compact.CompactManager, sessions, steps int) int {
	t.Helper()
	done := 0
	for id := range sessions {
		history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
		for range steps {
			for range 6 {
				call := fmt.Sprintf("c%d", len(history))
				history = append(history, message.Assistant("", message.Call(call, "run", `{"cmd":"go test"}`)),
					message.ToolResult(call, strings.Repeat(fmt.Sprintf("line %d of the output\n", rand.IntN(1000)), 60)))
			}
			res, err := m.ManualCompact(t.Context(), fmt.Sprintf("session %d", id), history, "")
			if err != nil {
				t.Fatal(err)
			}
			if res.Step > 0 {
				done++
			}
		}
	}
	return done
}

// TestEachOfTwoHundredCompactionsArrivesOnce runs 200 compactions in a network
// with alternating faults, and then checks the data on the server.
func TestEachOfTwoHundredCompactionsArrivesOnce(t *testing.T) {
	s := s3test.Versitygw(t)
	bucket := s.Bucket(t, false)
	n := newNetwork(t, s.Endpoint)
	ctx, clear := context.WithCancel(t.Context())
	cleared := make(chan struct{})
	go func() {
		defer close(cleared)
		n.weather(ctx, 300*time.Millisecond)
	}()
	dir := t.TempDir()
	m := agent(t, n.endpoint(), bucket, dir)
	const sessions, steps = 10, 20
	started := time.Now()
	done := compactions(t, m, sessions, steps)
	running := time.Since(started)
	clear()
	<-cleared
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if done != sessions*steps {
		t.Errorf("%d compactions, want %d", done, sessions*steps)
	}
	arrived(t, s, bucket, sessions, steps)
	t.Logf("%d compactions in %s, all sent after %s", done, running.Round(time.Millisecond), time.Since(started).Round(time.Millisecond))
}

// arrived checks the data on the server, without the proxy.
func arrived(t testing.TB, s *s3test.Server, bucket string, sessions, steps int) {
	t.Helper()
	a := direct(t, s, bucket)
	total := 0
	for id := range sessions {
		r, err := record.Verify(t.Context(), a, fmt.Sprintf("session %d", id), record.VerifyOptions{Refs: recall.Refs})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("session %d: %s", id, p)
		}
		if r.Steps != steps || len(r.Abandoned()) > 0 {
			t.Errorf("session %d: %d steps arrived, want %d; abandoned: %q", id, r.Steps, steps, r.Abandoned())
		}
		total += r.Steps
	}
	t.Logf("%d of %d arrived, each once", total, sessions*steps)
}

// TestRealTenMinutesWithoutS3 is the test with the fake clock in package
// spool, with a real clock and a real server: COMPACT_SOAK=1, or
// COMPACT_OUTAGE for another time.
func TestRealTenMinutesWithoutS3Soak(t *testing.T) {
	outage := 3 * time.Second
	if os.Getenv("COMPACT_SOAK") != "" {
		outage = 10 * time.Minute
	}
	if v := os.Getenv("COMPACT_OUTAGE"); v != "" {
		var err error
		if outage, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	s := s3test.Versitygw(t)
	bucket := s.Bucket(t, false)
	n := newNetwork(t, s.Endpoint)
	dir := t.TempDir()
	m := agent(t, n.endpoint(), bucket, dir)
	n.refuse(true)
	const sessions, steps = 5, 4
	compactions(t, m, sessions, steps)
	time.Sleep(outage)
	n.refuse(false)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for waiting(t, n.endpoint(), bucket, dir) && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("two minutes later not all was sent in the background")
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	arrived(t, s, bucket, sessions, steps)
	t.Logf("an outage of %s", outage)
}

// waiting reads the spool like another process.
func waiting(t testing.TB, endpoint, bucket, dir string) bool {
	t.Helper()
	sp, err := spool.Open(dir, direct(t, &s3test.Server{Endpoint: endpoint}, bucket), &spool.Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sp.Waiting()
	if err != nil {
		t.Fatal(err)
	}
	return !w.None()
}

func direct(t testing.TB, s *s3test.Server, bucket string) storage.Archive {
	t.Helper()
	cfg, err := configs.Parse("f.yaml", fmt.Appendf(nil, "storage: {adapter: s3, bucket: %q, prefix: team/agents, endpoint: %q, path_style: true}\n", bucket, s.Endpoint))
	if err != nil {
		t.Fatal(err)
	}
	a, err := configs.OpenArchive(cfg.Storage)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestClosedManagerReportsUndeliveredEvents leaves S3 away until the end.
func TestClosedManagerReportsUndeliveredEvents(t *testing.T) {
	s := s3test.Versitygw(t)
	bucket := s.Bucket(t, false)
	n := newNetwork(t, s.Endpoint)
	dir := t.TempDir()
	n.refuse(true)
	m := agent(t, n.endpoint(), bucket, dir)
	compactions(t, m, 1, 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := m.Close(ctx)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Fatalf("Close returned %v", err)
	}
	t.Log(err)
	n.refuse(false)
	sp, err := spool.Open(dir, remoteOf(t, n, bucket), &spool.Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := sp.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	arrived(t, s, bucket, 1, 3)
}

func remoteOf(t testing.TB, n *network, bucket string) storage.Archive {
	return direct(t, &s3test.Server{Endpoint: n.endpoint()}, bucket)
}
