package ariadnetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// filter selects the events for a reader of /events.
type filter struct {
	traceID string
	kinds   []string
	since   time.Time
}

func (f filter) wants(e Event) bool {
	switch {
	case f.traceID != "" && e.TraceID != f.traceID:
		return false
	case e.Type == "trace":
		return true
	case len(f.kinds) > 0 && (e.Kind == "" || !slices.Contains(f.kinds, e.Kind)):
		return false
	}
	return e.StartedAt.IsZero() || f.since.IsZero() || !e.StartedAt.Before(f.since)
}

// stream serves /events: it sends the events that arrive from now on.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	f := filter{traceID: r.FormValue("traceId")}
	if kinds := r.FormValue("kinds"); kinds != "" {
		f.kinds = strings.Split(kinds, ",")
	}
	if since := r.FormValue("since"); since != "" {
		t, ok := parseDatetime(since)
		if !ok {
			reply(w, http.StatusBadRequest, map[string]string{"error": "Invalid since"})
			return
		}
		f.since = t
	}
	events := make(chan Event, 4096)
	s.subscribe(events, f)
	defer s.unsubscribe(events)
	w.Header().Set("Content-Type", "text/event-stream")
	send(w, map[string]string{"type": "connected", "timestamp": time.Now().UTC().Format(jsTime)})
	beat := time.NewTicker(20 * time.Second)
	defer beat.Stop()
	for {
		select {
		case e := <-events:
			send(w, e)
		case <-beat.C:
			_, _ = fmt.Fprint(w, ":heartbeat\n\n")
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}

func (s *Server) subscribe(c chan Event, f filter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[c] = f
}

func (s *Server) unsubscribe(c chan Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, c)
}

// broadcast sends an event to the streams; the caller holds the lock. A reader that
// lags by more than 4096 events misses some.
func (s *Server) broadcast(e Event) {
	for c, f := range s.streams {
		if !f.wants(e) {
			continue
		}
		select {
		case c <- e:
		default:
		}
	}
}

func send(w http.ResponseWriter, v any) {
	frame, err := json.Marshal(v)
	if err != nil {
		return // decoded from JSON, so it can be encoded
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", frame)
	_ = http.NewResponseController(w).Flush()
}
