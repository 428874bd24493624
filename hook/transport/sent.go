package transport

import (
	lists "container/list"
	"sync"

	"github.com/agentcompact/compact/message"
)

// sentRequest is a request that the provider accepted.
type sentRequest struct {
	body []byte
	view []message.Fingerprint // fingerprints of its messages
	to   destination
}

// destination is the host and wire of a request. A prompt cache is valid only
// there.
type destination struct{ scheme, host, wire string }

func (x *exchange) destination() destination {
	return destination{x.req.URL.Scheme, x.req.URL.Host, x.format.Name()}
}

func (s *sentRequest) size() int { return len(s.body) + len(s.view)*len(message.Fingerprint{}) }

// maxSent limits the bytes of remembered requests. It removes the least recently used
// requests first, and always keeps one.
const maxSent = 128 << 20

// sentRequests holds the last request of each lane. It is safe for concurrent
// use.
type sentRequests struct {
	most int

	mu    sync.Mutex
	bytes int
	order *lists.List // of *sentOf, the newest first
	by    map[lane]*lists.Element
}

// sentOf is the last request of a lane.
type sentOf struct {
	lane lane
	*sentRequest
}

func newSentRequests(most int) *sentRequests {
	return &sentRequests{most: most, order: lists.New(), by: map[lane]*lists.Element{}}
}

// get returns the last request of a lane, nil if there is none. The receiver
// may be nil.
func (s *sentRequests) get(l lane) *sentRequest {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.by[l]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*sentOf).sentRequest
}

func (s *sentRequests) put(l lane, r *sentRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.by[l]; e != nil {
		s.remove(e)
	}
	s.by[l] = s.order.PushFront(&sentOf{l, r})
	for s.bytes += r.size(); s.bytes > s.most && s.order.Len() > 1; {
		s.remove(s.order.Back())
	}
}

// drop removes a request from its lane if it is the lane's last request.
func (s *sentRequests) drop(l lane, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.by[l]; e != nil && len(body) > 0 {
		if had := e.Value.(*sentOf).body; len(had) == len(body) && &had[0] == &body[0] {
			s.remove(e)
		}
	}
}

// remove removes an element; the caller holds mu.
func (s *sentRequests) remove(e *lists.Element) {
	of := s.order.Remove(e).(*sentOf)
	s.bytes -= of.size()
	delete(s.by, of.lane)
}
