// Package ariadnetest has a [Server] that stands in for Ariadne: it validates
// every body, and fails the test for everything that Ariadne would refuse, cut
// or strip, or would display wrongly. It shares no code with the exporter.
package ariadnetest

import (
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Server answers POST /ingest, GET /events, /healthz and / as Ariadne does, on
// its own port. At the end of the test it fails the test for every body that
// Ariadne would refuse, cut or strip, and for everything that Ariadne's page
// would display wrongly: see [Server.Problems].
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

// Counts are the numbers of requests and events of a server.
type Counts struct {
	Posts  int // POST /ingest, answered or not
	Spans  int // accepted
	Traces int // trace events accepted
}

// NewServer starts a server that is closed and checked at the end of the test.
// Close every sender before that, by a defer or by a t.Cleanup that is
// registered later.
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

// Close closes the server and ends its open streams and hanging requests. It is
// called at the end of the test; an earlier call simulates a dead server.
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

// Discard makes the server forget events after validation, for tests that send
// very many. Received and Bodies then stay empty.
func (s *Server) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discard = true
}

// KnowSpan adds a span of the caller's own tracing, which may be the parent of
// other spans.
func (s *Server) KnowSpan(traceID, spanID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewer.foreign[[2]string{traceID, spanID}] = true
}

// Received returns the accepted events, in order and as Ariadne would show
// them: without unknown keys, with long strings cut.
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

// Spans returns the accepted spans with the given name, or all spans if name is empty.
func (s *Server) Spans(name string) []Event {
	return slices.DeleteFunc(s.Received(), func(e Event) bool {
		return e.Type != "span" || (name != "" && e.Name != name)
	})
}

// Counts returns the numbers so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Problems describes the faults of the events sent so far: every refusal, every cut or
// stripped value, and every event that the page would show wrongly. While events are on
// their way, Problems may report a missing parent that arrives later.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewer.verdict()
}

// WaitSpans returns the accepted spans when there are n. It fails the test if
// there are fewer after d.
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
