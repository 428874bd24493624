package message

import (
	"bytes"
	"slices"
)

// Copy returns a deep copy, which shares no memory with m.
func (m Message) Copy() Message {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Args = bytes.Clone(p.Args)
		if p.Media != nil {
			media := *p.Media
			p.Media = &media
		}
	}
	if m.wire != nil {
		w := *m.wire
		w.raw = bytes.Clone(w.raw)
		m.wire = &w
	}
	if m.memo != nil {
		known := m.memo.v.Load()
		m.memo = new(memo)
		m.memo.v.Store(known)
	}
	return m
}
