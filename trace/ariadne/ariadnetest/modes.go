package ariadnetest

import (
	"io"
	"net"
	"net/http"
	"time"
)

// Mode is the behavior of a server.
type Mode int

// The modes. A server that is not Live validates nothing. It then no longer
// reports missing parents and trace events.
const (
	Live        Mode = iota // answers as Ariadne does
	Dead                    // resets the connection
	Slow                    // reads the body and never answers (for 30 s, or until the client is gone)
	Refusing                // 400 for every body
	Failing                 // 500 for every body
	TooLarge                // 413 for every body
	Garbage                 // answers in bytes that are not HTTP
	Stranger                // 200 with an HTML page, as from another program on the port
	Trickling               // 200, and then one byte per second
	Redirecting             // 307 to another address
)

// SetMode changes the behavior from the next request on.
func (s *Server) SetMode(m Mode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = m
	if m != Live {
		s.viewer.lossy = true
	}
}

func (s *Server) misbehave(mode Mode, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	s.mu.Lock()
	if !s.discard {
		s.bodies = append(s.bodies, body)
	}
	s.mu.Unlock()
	switch mode {
	case Slow:
		s.sleep(r, 30*time.Second)
	case Trickling:
		s.trickle(w, r)
	case Dead, Garbage:
		hijack(w, mode)
	default:
		answerWrong(w, mode)
	}
}

func answerWrong(w http.ResponseWriter, mode Mode) {
	switch mode {
	case Refusing:
		reply(w, http.StatusBadRequest, invalidInput().answer())
	case Failing:
		reply(w, http.StatusInternalServerError, (&fault{status: http.StatusInternalServerError, message: "broken"}).answer())
	case TooLarge:
		reply(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "Payload too large", "message": "too large"})
	case Stranger:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>It works!</body></html>")
	case Redirecting:
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// hijack takes the connection from the HTTP server, and resets it or writes
// garbage to it.
func hijack(w http.ResponseWriter, mode Mode) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok && mode == Dead {
		_ = tcp.SetLinger(0) // reset instead of a normal close
	} else {
		_, _ = conn.Write([]byte("\x00\x1b[31mSMTP 220 ready\r\n\xff\xfe\r\n\r\n"))
	}
	_ = conn.Close()
}

func (s *Server) trickle(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	for range 30 {
		_, _ = w.Write([]byte(" "))
		_ = http.NewResponseController(w).Flush()
		if !s.sleep(r, time.Second) {
			return
		}
	}
}

// sleep returns false if the client disconnected or the server was closed.
func (s *Server) sleep(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// String returns the mode's name, in lower case.
func (m Mode) String() string {
	return [...]string{"live", "dead", "slow", "refusing", "failing", "toolarge", "garbage", "stranger", "trickling", "redirecting"}[m]
}
