package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// maxBodies limits the number of bodies whose split a cache keeps.
const maxBodies = 16

// bodies holds the bodies that were split most recently. The next request of a
// conversation usually continues the last one, and only the addition has to be
// scanned.
type bodies struct {
	mu   sync.Mutex
	list []*stringSplitter // the most recently used one is last
}

type stringSplitter struct {
	key  string
	data []byte // a copy of the body
	doc  jsonscan.Document
}

// Split is [jsonscan.Split]; if a body continues one of the last bodies, only the
// rest is read. The document is shared and must not be modified.
func (c *Cache) Split(data []byte, list string) (jsonscan.Document, error) {
	if c == nil || len(data) > c.limit/maxBodies {
		return jsonscan.Split(data, list)
	}
	s, same := c.bodies.take(data, list)
	var doc jsonscan.Document
	var err error
	if same > 0 {
		doc, err = jsonscan.Again(data, list, s.doc, same)
	} else {
		doc, err = jsonscan.Split(data, list)
	}
	if err != nil {
		return doc, err
	}
	s.data = append(s.data[:same], data[same:]...)
	s.key, s.doc = list, doc
	c.bodies.put(s)
	return doc, nil
}

// take removes and returns the body that data continues, or a new one, with the
// number of bytes that both share. A removed body is used by only one caller at a
// time.
func (b *bodies) take(data []byte, list string) (s *stringSplitter, same int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := -1
	for i, o := range b.list {
		if o.key != list || len(o.data) == 0 {
			continue
		}
		if n := common(o.data, data); n > len(o.data)/2 && n > same {
			at, same = i, n
		}
	}
	if at < 0 {
		return &stringSplitter{}, 0
	}
	s = b.list[at]
	b.list = append(b.list[:at], b.list[at+1:]...)
	return s, same
}

// put adds a body. If there are too many, it removes the one that was unused
// for longest.
func (b *bodies) put(s *stringSplitter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == maxBodies {
		b.list = append(b.list[:0], b.list[1:]...)
	}
	b.list = append(b.list, s)
}

// block is the number of bytes that are compared at once.
const block = 4096

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
