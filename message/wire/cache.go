package wire

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/agentcompact/compact/message"
)

// A Cache keeps the messages of parsed bodies, by their bytes. An SDK sends the
// whole history before every model call, so nearly all of a body was parsed a
// moment ago. A cached message is not parsed, copied, counted or hashed again.
// The nil Cache keeps nothing. A Cache is safe for concurrent use.
type Cache struct {
	seed  maphash.Seed
	limit int

	mu       sync.Mutex
	now, old map[uint64]*cached // two generations: a message that is not used during one generation is dropped with the next
	size     int                // bytes of now

	bodies bodies
}

type cached struct {
	format string
	raw    []byte
	msgs   []message.Message
}

func (e *cached) is(format string, raw []byte) bool {
	return e.format == format && bytes.Equal(e.raw, raw)
}

// NewCache returns a cache of about limit bytes of JSON; 0 is 64 MiB. Data that
// is derived from the JSON may take several times as much memory. In addition,
// the cache keeps the last 16 bodies that [Cache.Split] received, which may
// take as many bytes again.
func NewCache(limit int) *Cache {
	if limit <= 0 {
		limit = 64 << 20
	}
	return &Cache{seed: maphash.MakeSeed(), limit: limit, now: map[uint64]*cached{}}
}

// Messages returns the result of parse, which is not called for bytes that the
// cache holds for the same format. parse gets a copy of raw that it may keep;
// with a nil Cache it gets raw itself. The messages are shared and must not be
// modified.
func (c *Cache) Messages(format string, raw []byte, parse func(raw []byte) ([]message.Message, error)) ([]message.Message, error) {
	if c == nil {
		return parse(raw)
	}
	key := maphash.Bytes(c.seed, raw)
	if e := c.load(key, format, raw); e != nil {
		return e.msgs, nil
	}
	e := &cached{format: format, raw: bytes.Clone(raw)}
	var err error
	if e.msgs, err = parse(e.raw); err != nil {
		return nil, err
	}
	c.store(key, e)
	return e.msgs, nil
}

func (c *Cache) load(key uint64, format string, raw []byte) *cached {
	c.mu.Lock()
	e := c.now[key]
	if e == nil {
		if e = c.old[key]; e != nil && e.is(format, raw) {
			c.put(key, e)
		}
	}
	c.mu.Unlock()
	if e == nil || !e.is(format, raw) {
		return nil
	}
	return e
}

func (c *Cache) store(key uint64, e *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, e)
}

// put adds an entry to the newer generation; the caller holds mu.
func (c *Cache) put(key uint64, e *cached) {
	if c.size+len(e.raw) > c.limit/2 {
		c.now, c.old, c.size = map[uint64]*cached{}, c.now, 0
	}
	c.now[key] = e
	c.size += len(e.raw)
}
