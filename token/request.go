package token

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/agentcompact/compact/message"
)

// RequestID returns an id for the content of a request: a hash over the
// fingerprints of its messages, in order, and its tool schemas.
func RequestID(msgs []message.Message, tools []byte) message.Fingerprint {
	h := sha256.New()
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(msgs)))
	h.Write(n[:])
	for i := range msgs {
		fp := msgs[i].Fingerprint()
		h.Write(fp[:])
	}
	h.Write(tools)
	return message.Fingerprint(h.Sum(nil)[:len(message.Fingerprint{})])
}

// A figure holds the counted cost of a request and, later, its billed token count.
type figure struct {
	mix    Mix
	billed int
	at     int // place in the order of its ring
}

// remembered is the number of requests in a ring. It covers the unanswered
// requests of all sessions of a model.
const remembered = 512

// A ring stores the figures of the latest requests.
type ring struct {
	figures map[message.Fingerprint]figure
	order   [remembered]message.Fingerprint
	next    int
}

func (r *ring) put(id message.Fingerprint, f figure) {
	if r.figures == nil {
		r.figures = make(map[message.Fingerprint]figure)
	}
	// A request that was sent again has two places; the older one does not remove it.
	if oldest := r.order[r.next]; r.figures[oldest].at == r.next {
		delete(r.figures, oldest)
	}
	f.at = r.next
	r.order[r.next], r.figures[id] = id, f
	r.next = (r.next + 1) % remembered
}

func (r *ring) get(id message.Fingerprint) (figure, bool) {
	f, ok := r.figures[id]
	return f, ok
}

func (r *ring) take(id message.Fingerprint) (figure, bool) {
	f, ok := r.figures[id]
	delete(r.figures, id)
	return f, ok
}
