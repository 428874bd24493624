package serve

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// patient is an answer and a request whose client may be slow, but not for
// ever: each read and each write has a deadline of its own. It is taken back
// behind each: HTTP/2 ends a stream whose deadline passes while nothing is read
// or written, and an upstream may take its time.
type patient struct {
	http.ResponseWriter
	rc     *http.ResponseController
	stall  time.Duration
	until  time.Time // the request is read
	status int
	in     *slow // nil = there is no body
	kept   bool  // the connection is for one request at a time
}

func newPatient(w http.ResponseWriter, r *http.Request, c Config) *patient {
	p := &patient{ResponseWriter: w, rc: http.NewResponseController(w), stall: c.Stall, until: time.Now().Add(c.BodyTimeout), kept: r.ProtoMajor == 1}
	// An upstream may answer before it has the whole request. Else the server
	// would take the rest of the request, with its end, from under the sender,
	// which then breaks off the answer.
	_ = p.rc.EnableFullDuplex()
	p.rest() // the deadline of what was answered before, or of all that is the handler's own
	return p
}

// Unwrap lets [http.ResponseController] find the answer's own methods.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Flush sends what was written.
func (p *patient) Flush() { _ = p.FlushError() }

// FlushError sends what was written.
func (p *patient) FlushError() error {
	p.hurry()
	defer p.rest()
	return p.rc.Flush()
}

func (p *patient) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		p.begin(status)
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *patient) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.begin(http.StatusOK)
	}
	p.hurry()
	defer p.rest()
	return p.ResponseWriter.Write(b)
}

// begin is the beginning of the answer. What follows of a request that was not
// read to its end must never be taken for the next one.
func (p *patient) begin(status int) {
	p.status = status
	if p.kept && p.in != nil && !p.in.ended() {
		p.Header().Set("Connection", "close")
	}
}

func (p *patient) hurry() { _ = p.rc.SetWriteDeadline(time.Now().Add(p.stall)) }

func (p *patient) rest() { _ = p.rc.SetWriteDeadline(time.Time{}) }

// end bounds how long the server reads what is left of a request that nobody
// read, and writes what is left of the answer.
func (p *patient) end() {
	if p.in != nil {
		p.in.end()
	}
	p.hurry()
}

// bound does so for a request that is answered at once: the server reads what is
// left of it before the answer goes out.
func (c Config) bound(w http.ResponseWriter, r *http.Request) {
	rc, at := http.NewResponseController(w), time.Now().Add(min(c.Stall, c.BodyTimeout))
	if r.Body != nil && r.Body != http.NoBody {
		_ = rc.SetReadDeadline(at)
	}
	_ = rc.SetWriteDeadline(at.Add(c.Stall)) // behind what is left
}

// left is how long the client may take for what it sends next.
func (p *patient) left() time.Duration { return min(p.stall, time.Until(p.until)) }

// body returns the body of the request.
func (p *patient) body(b io.ReadCloser) io.ReadCloser {
	if b == nil || b == http.NoBody {
		return b
	}
	p.in = &slow{ReadCloser: b, p: p}
	return p.in
}

// slow is a body that is read in time, or not at all.
type slow struct {
	io.ReadCloser
	p *patient

	reading sync.Mutex // held while it is read

	mu   sync.Mutex // it may be read behind the end of the request
	done bool       // its end was read
	over bool       // the answer has come to its end
}

func (s *slow) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.ended() {
		return 0, io.EOF // again, though the server has closed it since
	}
	s.deadline(time.Now().Add(s.p.left()))
	n, err := s.ReadCloser.Read(b)
	s.deadline(time.Time{})
	if errors.Is(err, io.EOF) {
		s.whole()
	}
	return n, err
}

// deadline is when the client has to have sent something; the zero value = it
// may take any time.
func (s *slow) deadline(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done && !s.over {
		_ = s.p.rc.SetReadDeadline(at)
	}
}

// end lets go who still reads: the server would do so, too, and then wait for the
// rest without a deadline.
func (s *slow) end() {
	s.last(time.Unix(1, 0))
	s.reading.Lock()
	defer s.reading.Unlock()
	s.last(time.Now().Add(s.p.left()))
}

// last sets a deadline that no read changes.
func (s *slow) last(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; !s.done {
		_ = s.p.rc.SetReadDeadline(at)
	}
}

func (s *slow) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// whole ends the deadlines: behind a whole request the server waits for the
// client to go, which may take any time.
func (s *slow) whole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}
