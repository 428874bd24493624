package serve

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// patientExchange is a request and its answer with a client that may be slow, but not
// forever: each read and each write has its own deadline. The deadline is
// removed after each, because HTTP/2 ends a stream whose deadline passes
// between reads and writes, and an upstream may take any time.
type patientExchange struct {
	http.ResponseWriter
	rc     *http.ResponseController
	stall  time.Duration
	until  time.Time // deadline for the whole request
	status int
	in     *slowBody // nil = there is no body
	serial bool      // HTTP/1: the connection serves one request after another
}

func newPatient(w http.ResponseWriter, r *http.Request, c Config) *patientExchange {
	p := &patientExchange{ResponseWriter: w, rc: http.NewResponseController(w), stall: c.Stall, until: time.Now().Add(c.BodyTimeout), serial: r.ProtoMajor == 1}
	// An upstream may answer before it has the whole request. Without full
	// duplex, the server would then consume the rest of the request while it is
	// still being sent, and the answer would break off.
	_ = p.rc.EnableFullDuplex()
	p.rest() // removes a deadline that an earlier request on this connection left
	return p
}

// Unwrap lets [http.ResponseController] find the answer's own methods.
func (p *patientExchange) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Flush sends the written bytes.
func (p *patientExchange) Flush() { _ = p.FlushError() }

// FlushError sends the written bytes.
func (p *patientExchange) FlushError() error {
	p.hurry()
	defer p.rest()
	return p.rc.Flush()
}

func (p *patientExchange) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		p.begin(status)
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *patientExchange) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.begin(http.StatusOK)
	}
	p.hurry()
	defer p.rest()
	return p.ResponseWriter.Write(b)
}

// begin begins the answer. The unread rest of a request must never be parsed as the
// next request, so the connection is then closed.
func (p *patientExchange) begin(status int) {
	p.status = status
	if p.serial && p.in != nil && !p.in.ended() {
		p.Header().Set("Connection", "close")
	}
}

func (p *patientExchange) hurry() { _ = p.rc.SetWriteDeadline(time.Now().Add(p.stall)) }

func (p *patientExchange) rest() { _ = p.rc.SetWriteDeadline(time.Time{}) }

// end limits the time in which the server reads the unread rest of a request, and
// writes the rest of the answer.
func (p *patientExchange) end() {
	if p.in != nil {
		p.in.end()
	}
	p.hurry()
}

// bound sets the same limits for a request that is answered at once: the server reads
// the rest of the request before it sends the answer.
func (c Config) bound(w http.ResponseWriter, r *http.Request) {
	rc, at := http.NewResponseController(w), time.Now().Add(min(c.Stall, c.BodyTimeout))
	if r.Body != nil && r.Body != http.NoBody {
		_ = rc.SetReadDeadline(at)
	}
	_ = rc.SetWriteDeadline(at.Add(c.Stall)) // after the rest of the request
}

// left returns the time that the client has for its next bytes.
func (p *patientExchange) left() time.Duration { return min(p.stall, time.Until(p.until)) }

// body returns the body of the request.
func (p *patientExchange) body(b io.ReadCloser) io.ReadCloser {
	if b == nil || b == http.NoBody {
		return b
	}
	p.in = &slowBody{ReadCloser: b, p: p}
	return p.in
}

// slowBody is a body whose reads have deadlines.
type slowBody struct {
	io.ReadCloser
	p *patientExchange

	reading sync.Mutex // held during a read

	mu   sync.Mutex // the body may be read after the end of the request
	done bool       // the end of the body was read
	over bool       // the answer is complete
}

func (s *slowBody) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.ended() {
		return 0, io.EOF // the same result as before, even if the server has closed the body since
	}
	s.deadline(time.Now().Add(s.p.left()))
	n, err := s.ReadCloser.Read(b)
	s.deadline(time.Time{})
	if errors.Is(err, io.EOF) {
		s.whole()
	}
	return n, err
}

// deadline sets the time by which the client must send the next bytes; the zero value
// = any time.
func (s *slowBody) deadline(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done && !s.over {
		_ = s.p.rc.SetReadDeadline(at)
	}
}

// end interrupts a pending read. The server would do so itself, and then wait for the
// rest without a deadline.
func (s *slowBody) end() {
	s.last(time.Unix(1, 0))
	s.reading.Lock()
	defer s.reading.Unlock()
	s.last(time.Now().Add(s.p.left()))
}

// last sets a deadline that no later read changes.
func (s *slowBody) last(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; !s.done {
		_ = s.p.rc.SetReadDeadline(at)
	}
}

func (s *slowBody) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// whole ends the deadlines: after a whole request, the server waits for the client to
// disconnect, which may take any time.
func (s *slowBody) whole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}
