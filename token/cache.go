package token

import (
	"math/bits"
	"sync/atomic"

	"github.com/agentcompact/compact/message"
)

// A cacheKey identifies a message. A fingerprint covers only its content; shape
// covers everything else that affects the cost: sizes of images, white space in
// arguments, encryption.
type cacheKey struct {
	fp    message.Fingerprint
	shape uint64
}

// A cache stores costs in a table of fixed size, without locks. A slot is
// replaced as a whole, so that readers never see half of an entry.
type cache struct {
	slots []atomic.Pointer[cached]
	turn  atomic.Uint32
}

type cached struct {
	key   cacheKey
	price priced
}

// ways is the number of neighboring slots in which a key may be stored.
const ways = 4

func newCache(entries int) *cache {
	size := max(ways, 1<<bits.Len(uint(entries-1)))
	return &cache{slots: make([]atomic.Pointer[cached], size)}
}

// group returns the slots for a key. Fingerprints are evenly distributed, so some
// of their bits serve as a hash.
func (c *cache) group(k *cacheKey) []atomic.Pointer[cached] {
	h := uint64(k.fp[0]) | uint64(k.fp[1])<<8 | uint64(k.fp[2])<<16 | uint64(k.fp[3])<<24
	at := int(h) & (len(c.slots) - 1) &^ (ways - 1)
	return c.slots[at : at+ways]
}

func (c *cache) lookup(k cacheKey) (priced, bool) {
	group := c.group(&k)
	for i := range group {
		if e := group[i].Load(); e != nil && e.key == k {
			return e.price, true
		}
	}
	return priced{}, false
}

func (c *cache) store(k cacheKey, p priced) {
	group := c.group(&k)
	e := &cached{k, p}
	for i := range group {
		if group[i].CompareAndSwap(nil, e) {
			return
		}
	}
	group[c.turn.Add(1)%ways].Store(e)
}

// shape hashes everything that affects the cost of a message besides its
// fingerprint. Of fields that can be long, it reads only the length.
func shape(m *message.Message) uint64 {
	h := uint64(len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		h = mix64(h, uint64(p.Kind)<<56|uint64(len(p.Text)))
		h = mix64(h, uint64(len(p.Args)))
		if p.Sealed {
			h++
		}
		if p.Media != nil {
			h = mix64(h, uint64(len(p.Media.URL)))
			h = mix64(h, uint64(p.Media.Bytes))
			h = mix64(h, uint64(p.Media.Width)<<32|uint64(p.Media.Height))
			for i := range len(p.Media.Detail) { // the length is not enough: auto and high have the same
				h = mix64(h, uint64(p.Media.Detail[i]))
			}
		}
	}
	return h
}

func mix64(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	return hi ^ lo
}
