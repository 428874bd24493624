package crypt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/copied"
)

const (
	// headerSize is how long the header of every object is, in bytes.
	headerSize = 1024
	nonceSize  = 16
	chunkSize  = 64 << 10
	chunkTag   = 16 // what encryption adds to a chunk

	intro     = "age-encryption.org/v1\n"
	footSize  = len("--- ") + 43 + 1
	knownSize = len("-> X25519 ") + 43 + 1 + 43 + 1 // of a recipient's stanza
	// filler is the type of the stanza that fills a header up. The format tells
	// everybody to pass over what they don't know.
	filler = "agentcompact"
)

// objectSize is how long an object is whose content has n bytes.
func objectSize(n int64) int64 {
	chunks := max(1, (n+chunkSize-1)/chunkSize)
	return headerSize + nonceSize + n + chunks*chunkTag
}

// contentSize is the other way round; what can't be an object has none.
func contentSize(object int64) int64 {
	body := object - headerSize - nonceSize
	chunks := (body + chunkSize + chunkTag - 1) / (chunkSize + chunkTag)
	return max(0, body-chunks*chunkTag)
}

// fill is the recipient that nobody is: its stanza brings a header to headerSize.
type fill struct {
	to  []*age.X25519Recipient
	key []byte // of the object
}

// Wrap implements [age.Recipient].
func (f *fill) Wrap(key []byte) ([]*age.Stanza, error) {
	f.key = slices.Clone(key)
	ids := make([]string, len(f.to))
	for i, r := range f.to {
		ids[i] = idOf(r)
	}
	named := strings.Join(ids, ".")
	used := len(intro) + len(f.to)*knownSize + footSize + len("-> "+filler+" "+named+" \n\n")
	if used >= headerSize {
		return nil, fmt.Errorf("crypt: %d recipients don't fit into a header", len(f.to))
	}
	return []*age.Stanza{{Type: filler, Args: []string{named, strings.Repeat("-", headerSize-used)}}}, nil
}

// recipientsIn returns what a header calls its recipients.
func recipientsIn(header []byte) []string {
	_, rest, _ := bytes.Cut(header, []byte("-> "+filler+" "))
	named, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(named) > headerSize {
		return nil
	}
	return strings.Split(string(named), ".")
}

// encrypted returns b as an object.
func (a *Archive) encrypted(ctx context.Context, b storage.Blob) (storage.Blob, error) {
	k := a.keys
	if len(k.recipients) == 0 {
		return storage.Blob{}, errNoRecipient
	}
	to := k.to()
	filled := &fill{to: to}
	all := []age.Recipient{filled}
	for _, r := range to {
		all = append(all, r)
	}
	var out strings.Builder
	out.Grow(int(objectSize(b.Size())))
	w, err := age.Encrypt(&out, all...)
	if err != nil {
		return storage.Blob{}, fmt.Errorf("crypt: %w", err)
	}
	if _, err := b.WriteTo(&writer{ctx, w}); err != nil {
		return storage.Blob{}, err
	}
	if err := w.Close(); err != nil {
		return storage.Blob{}, fmt.Errorf("crypt: %w", err)
	}
	if int64(out.Len()) != objectSize(b.Size()) {
		return storage.Blob{}, fmt.Errorf("crypt: an object of %d bytes came out with %d, not %d", b.Size(), out.Len(), objectSize(b.Size()))
	}
	a.opened.add([]byte(out.String()[:headerSize]), filled.key)
	blob, _ := copied.Blob(out.String()).(storage.Blob) // it is one
	return blob, nil
}

// writer is a writer that ends with its context.
type writer struct {
	ctx context.Context
	w   io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// unread says why an object can't be decrypted whose header is this: it was changed
// ([storage.ErrChanged]), or it is not for us ([storage.ErrNoIdentity]).
func (k *Keys) unread(header []byte, err error) error {
	no := new(age.NoIdentityMatchError)
	ids := recipientsIn(header)
	switch {
	case len(k.with()) == 0, errors.As(err, &no) && len(ids) > 0 && !k.has(ids) && !k.CanRead():
		return fmt.Errorf("%w: set %s, or %s", storage.ErrNoIdentity, IdentityVariable, IdentityFileVariable)
	case errors.As(err, &no) && len(ids) > 0 && !k.has(ids):
		return fmt.Errorf("%w: no identity of %s (or %s) opens it; it is encrypted for others", storage.ErrNoIdentity, IdentityVariable, IdentityFileVariable)
	}
	return &storage.ChangedError{Detail: fmt.Sprintf("it can't be decrypted: %v", err)}
}
