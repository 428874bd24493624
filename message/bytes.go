package message

// Bytes returns the size of m in bytes as it is sent: the size of its raw form or,
// for a message that was made in Go, an estimate.
func (m *Message) Bytes() int {
	if m.wire != nil {
		return len(m.wire.raw)
	}
	const frame = 64 // overhead of a message or a part
	n := frame
	for i := range m.Parts {
		p := &m.Parts[i]
		n += frame + len(p.Text) + len(p.Args)
		if p.Media != nil {
			n += max(p.Media.Bytes, len(p.Media.URL))
		}
	}
	return n
}
