package ariadnetest

import (
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

// maxBody is the largest Content-Length that the server accepts.
const maxBody = 262_144

func (s *Server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cors(w, r)
		switch r.Method + " " + r.URL.Path {
		case "POST /ingest":
			s.ingest(w, r)
		case "GET /events":
			s.stream(w, r)
		case "GET /healthz":
			s.health(w)
		case "GET /":
			reply(w, http.StatusOK, map[string]any{
				"name": "Ariadne stand-in", "version": "0",
				"endpoints": []string{"POST /ingest", "GET /events", "GET /healthz"},
			})
		default:
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			s.missed(r)
			http.Error(w, "404 Not Found", http.StatusNotFound)
		}
	})
}

// missed records a request without an endpoint.
func (s *Server) missed(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewer.add("%s %s: there is no such endpoint", r.Method, r.URL.Path)
}

func (s *Server) ingest(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.counts.Posts++
	mode := s.mode
	s.mu.Unlock()
	if mode != Live {
		s.misbehave(mode, w, r)
		return
	}
	if r.ContentLength > maxBody {
		s.tooLarge(w, r.ContentLength)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	status, answer := s.accept(body, r.ContentLength)
	reply(w, status, answer)
}

// tooLarge refuses a body by its announced size, in bytes.
func (s *Server) tooLarge(w http.ResponseWriter, size int64) {
	s.problem("413: a body of %d bytes, %d at most", size, maxBody)
	reply(w, http.StatusRequestEntityTooLarge, map[string]string{
		"error":   "Payload too large",
		"message": fmt.Sprintf("Request size %d bytes exceeds maximum of %d bytes", size, maxBody),
	})
}

// accept validates a body and stores its events. It parses the body without the
// lock, so that bodies can be parsed concurrently.
func (s *Server) accept(body []byte, contentLength int64) (int, any) {
	events, fault := parseBody(body)
	whole := utf8.Valid(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.discard {
		s.bodies = append(s.bodies, body)
	}
	if contentLength < 0 {
		s.viewer.add("a chunked body: the server can't bound its size")
	}
	if !whole {
		s.viewer.add("a body that is not UTF-8: characters are lost")
	}
	if fault != nil {
		s.viewer.add("%d: %s: %.200s", fault.status, fault.reason(), body)
		return fault.status, fault.answer()
	}
	for i := range events {
		s.store(&events[i])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return http.StatusOK, map[string]any{"success": true, "count": len(events)}
}

func (s *Server) store(e *Event) {
	if e.Type == "span" {
		s.counts.Spans++
	} else {
		s.counts.Traces++
	}
	s.viewer.see(e)
	if s.discard && len(s.streams) == 0 {
		return
	}
	e.complete()
	if !s.discard {
		s.received = append(s.received, *e)
	}
	s.broadcast(*e)
}

func (s *Server) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewer.add(format, args...)
}

func (s *Server) health(w http.ResponseWriter) {
	const capacity = 10_000
	c := s.Counts()
	reply(w, http.StatusOK, map[string]any{
		"status": "ok", "timestamp": time.Now().UTC().Format(jsTime),
		"events": map[string]int{"count": min(c.Spans+c.Traces, capacity), "capacity": capacity},
	})
}
