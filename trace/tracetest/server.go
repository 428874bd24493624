// Package tracetest helps to test what emits and exports trace events: a
// [Server] that stands in for Ariadne and judges every body it is sent, a
// [Recorder] that keeps events in memory, and [Run], which holds an
// exporter to its contract.
package tracetest

import (
	"context"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Server answers POST /ingest, GET /events, /healthz and / as Ariadne does, on
// a port of its own. At the end of the test it fails it for every body that
// Ariadne would have refused, cut or stripped, and for everything that its page
// would have shown wrongly: see [Server.Problems].
//
// All methods may be called concurrently.
type Server struct {
	URL string // base URL, without /ingest

	tb     testing.TB
	http   *httptest.Server
	once   sync.Once
	closed chan struct{}

	mu       sync.Mutex
	mode     Mode
	bodies   [][]byte
	received []Event
	counts   Counts
	changed  chan struct{} // closed and replaced when something arrives
	viewer   viewer
	streams  map[chan Event]filter
	discard  bool
	lenient  bool
}

// Counts are what a server saw.
type Counts struct {
	Posts  int // POST /ingest, answered or not
	Spans  int // accepted
	Traces int // trace events accepted
}

// NewServer starts a server that is closed, and judged, at the end of the test.
// Whatever sends to it has to be closed before, as a defer or a t.Cleanup that
// is registered later does.
func NewServer(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{
		tb: tb, closed: make(chan struct{}), changed: make(chan struct{}),
		viewer: newViewer(), streams: make(map[chan Event]filter),
	}
	s.http = httptest.NewServer(s.handler())
	s.URL = s.http.URL
	tb.Cleanup(s.finish)
	return s
}

func (s *Server) finish() {
	tb := s.tb
	tb.Helper()
	s.Close()
	problems := s.Problems()
	if s.isLenient() {
		return
	}
	const most = 20
	for i, p := range problems {
		if i == most {
			tb.Errorf("and %d more problems", len(problems)-most)
			break
		}
		tb.Errorf("Ariadne: %s", p)
	}
}

// Close ends the server and what hangs in it. It is called at the end of the
// test anyway; earlier, it makes the server a dead one.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.http.Close()
	})
}

// Lenient keeps problems from failing the test. They can still be read with
// Problems.
func (s *Server) Lenient() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lenient = true
}

func (s *Server) isLenient() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lenient
}

// Discard makes the server forget events once it has judged them, for tests
// that send very many. Received and Bodies then stay empty.
func (s *Server) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discard = true
}

// KnowSpan tells the server of a span that the caller's own tracing has made,
// so that it may be somebody's parent.
func (s *Server) KnowSpan(traceID, spanID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewer.foreign[[2]string{traceID, spanID}] = true
}

// Received returns the events that were accepted, in their order and as Ariadne
// would show them: unknown keys gone, long strings cut.
func (s *Server) Received() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Bodies returns every body that was posted, accepted or not, byte for byte.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Spans returns the accepted spans of a name; of all names if it is empty.
func (s *Server) Spans(name string) []Event {
	return slices.DeleteFunc(s.Received(), func(e Event) bool {
		return e.Type != "span" || (name != "" && e.Name != name)
	})
}

// Counts returns how much arrived so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Problems returns what is wrong with what was sent so far, in words: every
// refusal, everything cut or stripped, and what the page would show wrongly.
// While events are on their way there may be parents that are yet to come.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewer.verdict()
}

// WaitSpans returns the accepted spans as soon as there are n, and fails the
// test if there are fewer after d.
func (s *Server) WaitSpans(n int, d time.Duration) []Event {
	s.tb.Helper()
	deadline := time.After(d)
	for {
		s.mu.Lock()
		have, changed := s.counts.Spans, s.changed
		s.mu.Unlock()
		if have >= n {
			return s.Spans("")
		}
		select {
		case <-changed:
		case <-deadline:
			s.tb.Fatalf("%d spans after %v, want %d", have, d, n)
		}
	}
}

// DeadURL returns the base URL of a port on which nobody listens.
func DeadURL(tb testing.TB) string {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the address is all that is wanted
	return "http://" + l.Addr().String()
}
