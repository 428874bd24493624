package message

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Fingerprint identifies content: 128 bits of SHA-256 over the role and the
// decoded parts (text, tool name, arguments, media), never over ids, signatures,
// cache marks or times. It is the same for the same content in every process and
// for every wire, and can't be forged.
type Fingerprint [16]byte

// String returns 32 lower-case hex digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Ref returns the first 12 hex digits: the {ref} of placeholders.
func (f Fingerprint) Ref() string { return hex.EncodeToString(f[:6]) }

// MarshalText writes the hex form.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the hex form.
func (f *Fingerprint) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(f) {
		return errors.New("message: a fingerprint has 32 hex digits")
	}
	_, err := hex.Decode(f[:], b)
	return err
}

// memo caches values that were computed from strings of a message, together with these
// strings. Strings can't change, so the same pointers mean the same content.
type memo struct{ v atomic.Pointer[memoized] }

type memoized struct {
	role  Role
	name  string
	parts []Part
	fp    Fingerprint
}

// Fingerprint returns the fingerprint of the message. It is computed once for a
// message from a codec or a constructor and then cached.
func (m Message) Fingerprint() Fingerprint {
	if m.memo == nil {
		return m.fingerprint()
	}
	if v := m.memo.v.Load(); v != nil && v.holds(m) {
		return v.fp
	}
	v := &memoized{role: m.Role, name: m.Name, parts: append([]Part(nil), m.Parts...), fp: m.fingerprint()}
	m.memo.v.Store(v)
	return v.fp
}

func (v *memoized) holds(m Message) bool {
	if v.role != m.Role || v.name != m.Name || len(v.parts) != len(m.Parts) {
		return false
	}
	for i := range v.parts {
		if !same(&v.parts[i], &m.Parts[i]) {
			return false
		}
	}
	return true
}

// same reports whether a and b have equal strings and share Media and Args.
func same(a, b *Part) bool {
	return a.Kind == b.Kind && sameString(a.Text, b.Text) && sameString(a.Name, b.Name) && sameString(a.CallID, b.CallID) && a.Media == b.Media &&
		len(a.Args) == len(b.Args) && (len(a.Args) == 0 || &a.Args[0] == &b.Args[0])
}

func sameString(a, b string) bool {
	return len(a) == len(b) && (unsafe.StringData(a) == unsafe.StringData(b) || a == b)
}

func (m Message) fingerprint() Fingerprint {
	h := hasher{buf: make([]byte, 0, 256)}
	h.string(string(m.Role))
	h.string(m.Name)
	var told map[string]bool // calls whose results have a text; computed on demand
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindToolResult && p.Text == "" {
			if told == nil {
				told = m.told()
			}
			if told[p.CallID] {
				continue
			}
		}
		h.part(&m.Parts[i])
	}
	return h.sum()
}

// told returns the ids of calls whose results have a text. A codec adds an empty text to a result
// without one, so that the result answers its call. If the result has another text, such as the
// text in place of a picture, the empty text has no meaning.
func (m *Message) told() map[string]bool {
	told := map[string]bool{}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindToolResult && p.Text != "" {
			told[p.CallID] = true
		}
	}
	return told
}

// Fingerprint identifies the content of one part; the {ref} of a placeholder is
// derived from it.
func (p Part) Fingerprint() Fingerprint {
	h := hasher{buf: make([]byte, 0, 256)}
	h.part(&p)
	return h.sum()
}

// hasher writes length-prefixed fields, so that no two lists of fields write
// the same bytes.
type hasher struct {
	buf  []byte    // bytes that are not hashed yet
	long hash.Hash // hash of the bytes before buf; nil = none
}

var hashes = sync.Pool{New: func() any { return sha256.New() }}

// longText is the length in bytes from which a text is hashed in place, without a
// copy.
const longText = 1024

// flush hashes the buffer. A hash never fails.
func (h *hasher) flush() {
	if h.long == nil {
		h.long = hashes.Get().(hash.Hash)
		h.long.Reset()
	}
	h.long.Write(h.buf)
	h.buf = h.buf[:0]
}

func (h *hasher) part(p *Part) {
	h.buf = append(h.buf, byte(p.Kind))
	h.string(p.Text)
	switch p.Kind {
	case KindToolCall:
		h.string(p.Name)
		h.json(p.Args)
	case KindOther:
		h.json(p.Args)
	case KindImage, KindAudio, KindFile:
		if p.Media != nil {
			h.string(p.Media.URL)
			h.string(p.Media.Name)
			h.string(p.Media.MIME)
		}
		h.json(p.Args) // for parts whose content is in their JSON
	}
}

func (h *hasher) string(s string) {
	h.buf = binary.AppendUvarint(h.buf, uint64(len(s)))
	if len(s) < longText {
		h.buf = append(h.buf, s...)
		return
	}
	h.flush()
	h.long.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// json hashes arguments without the white space between tokens, which SDKs
// change when they parse and write them again.
func (h *hasher) json(b []byte) {
	n := 0
	inString, escaped := false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			continue
		}
		n++
		if h.buf = append(h.buf, c); len(h.buf) >= longText {
			h.flush()
		}
	}
	h.buf = binary.AppendUvarint(h.buf, uint64(n))
}

func (h *hasher) sum() Fingerprint {
	if h.long == nil {
		s := sha256.Sum256(h.buf)
		return Fingerprint(s[:16])
	}
	h.flush()
	f := Fingerprint(h.long.Sum(h.buf)[:16])
	hashes.Put(h.long)
	return f
}
