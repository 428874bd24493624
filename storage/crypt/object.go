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
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

const (
	// headerSize is the size of every object's header in bytes.
	headerSize = 1024
	nonceSize  = 16
	chunkSize  = 64 << 10
	chunkTag   = 16 // bytes that encryption adds to a chunk

	intro     = "age-encryption.org/v1\n"
	footSize  = len("--- ") + 43 + 1
	knownSize = len("-> X25519 ") + 43 + 1 + 43 + 1 // size of a recipient's stanza
	// filler is the type of the stanza that pads a header. The format requires
	// readers to ignore unknown stanzas.
	filler = "agentcompact"
)

// objectSize returns the size of an object with n bytes of content.
func objectSize(n int64) int64 {
	chunks := max(1, (n+chunkSize-1)/chunkSize)
	return headerSize + nonceSize + n + chunks*chunkTag
}

// contentSize returns the size of the content in an object; 0 for an impossible
// size.
func contentSize(object int64) int64 {
	body := object - headerSize - nonceSize
	chunks := (body + chunkSize + chunkTag - 1) / (chunkSize + chunkTag)
	return max(0, body-chunks*chunkTag)
}

// fill is a recipient whose stanza pads a header to headerSize.
type fill struct {
	to  []*age.X25519Recipient
	key []byte // key of the object
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

// recipientsIn returns the short ids of the recipients in a header.
func recipientsIn(header []byte) []string {
	_, rest, _ := bytes.Cut(header, []byte("-> "+filler+" "))
	named, _, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(named) > headerSize {
		return nil
	}
	return strings.Split(string(named), ".")
}

// encrypted returns the object for b.
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
	blob, _ := unchecked.Blob(out.String()).(storage.Blob) // never fails
	return blob, nil
}

// writer fails after its context is done.
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

// unread returns the reason why an object with this header can't be decrypted: it
// was changed ([storage.ErrChanged]), or no identity fits
// ([storage.ErrNoIdentity]).
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
