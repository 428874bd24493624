package message

// Bytes returns how large m is where it is sent, in bytes: its raw form, or, of a message
// that was made in Go, about what a wire will write for it.
func (m *Message) Bytes() int {
	if m.wire != nil {
		return len(m.wire.raw)
	}
	const frame = 64 // of a message or a part
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
