package transport

import (
	lists "container/list"
	"sync"

	"github.com/agentcompact/compact/message"
)

// sentRequest is a request that was sent.
type sentRequest struct {
	body []byte
	view []message.Fingerprint // of the messages that it holds
	to   destination
}

// destination is where a request goes, and in which form: its cache is nowhere
// else.
type destination struct{ scheme, host, wire string }

func (x *exchange) destination() destination {
	return destination{x.req.URL.Scheme, x.req.URL.Host, x.format.Name()}
}

func (s *sentRequest) size() int { return len(s.body) + len(s.view)*len(message.Fingerprint{}) }

// maxSent is how many bytes of requests are remembered: those of agents that
// were silent for long go first. One request is always remembered.
const maxSent = 128 << 20

// sentRequests are the last requests of each agent. It is safe for concurrent
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

// get returns the last request of a lane; nil = none is known. A nil
// *sentRequests knows none.
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

// drop forgets a request where it is the last one of its lane.
func (s *sentRequests) drop(l lane, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.by[l]; e != nil && len(body) > 0 {
		if had := e.Value.(*sentOf).body; len(had) == len(body) && &had[0] == &body[0] {
			s.remove(e)
		}
	}
}

// remove forgets an element; mu is held.
func (s *sentRequests) remove(e *lists.Element) {
	of := s.order.Remove(e).(*sentOf)
	s.bytes -= of.size()
	delete(s.by, of.lane)
}
