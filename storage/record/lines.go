package record

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// rawLine is a piece of a file up to its line feed.
type rawLine struct {
	off   int64  // offset of its first byte in the file
	text  []byte // without the line feed; valid until the next line is read
	ended bool   // there was a line feed
}

// next returns the offset after the line.
func (l rawLine) next() int64 {
	if l.ended {
		return l.off + int64(len(l.text)) + 1
	}
	return l.off + int64(len(l.text))
}

// These limit the size of a line, and so the memory for reading one.
const (
	maxLineBytes    = 64 << 20  // of a log
	maxMessageBytes = 512 << 20 // of a transcript; a message can hold a large file
)

// eachLine calls fn for every line of a log; off is the offset of r in its file.
// The last line may lack its line feed. A line that is too long is ErrDamaged.
func eachLine(ctx context.Context, r io.Reader, off int64, fn func(rawLine) error) error {
	return eachLineUpTo(ctx, maxLineBytes, r, off, fn)
}

// eachMessage is eachLine for a file that can be a transcript.
func eachMessage(ctx context.Context, r io.Reader, fn func(rawLine) error) error {
	return eachLineUpTo(ctx, maxMessageBytes, r, 0, fn)
}

func eachLineUpTo(ctx context.Context, most int, r io.Reader, off int64, fn func(rawLine) error) error {
	br := bufio.NewReaderSize(&ctxReader{ctx, r}, 64<<10)
	for {
		text, err := readLine(br, most)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err == nil
		if ended {
			text = text[:len(text)-1]
		} else if len(text) == 0 {
			return nil
		}
		l := rawLine{off, text, ended}
		if err := fn(l); err != nil {
			return err
		}
		if !ended {
			return nil
		}
		off = l.next()
	}
}

// readLine is ReadSlice for lines that can be longer than the buffer.
func readLine(br *bufio.Reader, most int) ([]byte, error) {
	text, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, err
	}
	long := append([]byte(nil), text...)
	for errors.Is(err, bufio.ErrBufferFull) {
		text, err = br.ReadSlice('\n')
		if len(long)+len(text) > most {
			return nil, storage.ErrDamaged
		}
		if len(long)+len(text) > cap(long) {
			long = slices.Grow(long, min(2*cap(long), most)-len(long)) // append alone would copy a long line five times
		}
		long = append(long, text...)
	}
	return long, err
}

// eachLineOf calls eachLine for k from off. A missing key has no lines.
func eachLineOf(ctx context.Context, a storage.Archive, k storage.Key, off int64, fn func(rawLine) error) error {
	r, err := a.Open(ctx, k, off, -1)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = eachLine(ctx, r, off, fn)
	return storage.Wrap("read", k, errors.Join(err, r.Close()))
}

// eachLineOfLog is eachLineOf for a key that is known to be a log.
func eachLineOfLog(ctx context.Context, a storage.Archive, k storage.Key, off int64, fn func(rawLine) error) error {
	o, ok := a.(storage.KindOpener)
	if !ok {
		return eachLineOf(ctx, a, k, off, fn)
	}
	r, _, err := o.OpenLog(ctx, k, off, -1)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = eachLine(ctx, r, off, fn)
	return storage.Wrap("read", k, errors.Join(err, r.Close()))
}

// stat returns the Info of one key.
func stat(ctx context.Context, a storage.Archive, k storage.Key) (storage.Info, error) {
	for info, err := range a.List(ctx, k) {
		if err != nil {
			return storage.Info{}, err
		}
		if info.Key == k {
			return info, nil
		}
	}
	return storage.Info{}, &storage.Error{Op: "stat", Key: k, Err: storage.ErrNotExist}
}

// errStop ends an iteration over lines early.
var errStop = errors.New("stop")

// hashFile reads k and returns its SHA-256 and size.
func hashFile(ctx context.Context, a storage.Archive, k storage.Key) (sum string, size int64, err error) {
	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, &ctxReader{ctx, r})
	if err := errors.Join(err, r.Close()); err != nil {
		return "", 0, storage.Wrap("read", k, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// ctxReader fails after its context is done.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
