package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

// Blob is data for an archive: redacted text, or data that package
// storage/record wrote itself. It is immutable and safe for concurrent use, and
// shares the memory of its texts. The zero Blob is empty.
type Blob struct {
	parts []string
	size  int64
}

func init() { unchecked.Blob = func(parts ...string) any { return made(parts...) } }

// Redacted returns a Blob of the concatenated texts.
func Redacted(texts ...redact.Text) Blob {
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = t.String()
	}
	return made(parts...)
}

// made returns a Blob of the concatenated parts.
func made(parts ...string) Blob {
	b := Blob{parts: parts}
	for _, p := range parts {
		b.size += int64(len(p))
	}
	return b
}

// Size returns the number of bytes.
func (b Blob) Size() int64 { return b.size }

// SHA256 returns the hash of the bytes in lower-case hex.
func (b Blob) SHA256() string {
	h := sha256.New()
	_, _ = b.write(h, hashChunk) // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// blobChunk is the size of WriteTo's writes: large enough that short lines
// don't cost a system call each.
const blobChunk = 256 << 10

// hashChunk is the size of the pieces that a hash reads. A write to a hash makes no
// system call, and small pieces stay in the cache of the processor.
const hashChunk = 8 << 10

// WriteTo writes all bytes to w, in large pieces.
func (b Blob) WriteTo(w io.Writer) (int64, error) { return b.write(w, blobChunk) }

// write writes all bytes to w, in pieces of at most chunk bytes.
func (b Blob) write(w io.Writer, chunk int64) (int64, error) {
	var total int64
	buf := make([]byte, 0, min(b.size, chunk))
	flush := func() error {
		n, err := w.Write(buf)
		total += int64(n)
		buf = buf[:0]
		return err
	}
	for _, p := range b.parts {
		for p != "" {
			n := min(len(p), cap(buf)-len(buf))
			buf = append(buf, p[:n]...)
			p = p[n:]
			if len(buf) == cap(buf) {
				if err := flush(); err != nil {
					return total, err
				}
			}
		}
	}
	if len(buf) > 0 {
		return total, flush()
	}
	return total, nil
}

// Reader returns a new reader of the bytes, from the first byte.
func (b Blob) Reader() io.ReadSeeker { return &blobReader{b: b} }

type blobReader struct {
	b    Blob
	off  int64 // offset of the next byte
	part int   // index of the part with off
	pos  int   // position of off in that part
}

func (r *blobReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.part < len(r.b.parts) {
		m := copy(p[n:], r.b.parts[r.part][r.pos:])
		n, r.pos = n+m, r.pos+m
		if r.pos == len(r.b.parts[r.part]) {
			r.part, r.pos = r.part+1, 0
		}
	}
	r.off += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *blobReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.off
	case io.SeekEnd:
		offset += r.b.size
	}
	if offset < 0 {
		return r.off, &Error{Op: "seek", Err: io.ErrUnexpectedEOF}
	}
	r.off, r.part, r.pos = offset, 0, 0
	for left := offset; r.part < len(r.b.parts); r.part++ {
		n := int64(len(r.b.parts[r.part]))
		if left < n {
			r.pos = int(left)
			break
		}
		left -= n
	}
	return offset, nil
}
