package crypt

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// Archive encrypts the files of another archive. Create it with [New].
type Archive struct {
	inner storage.Archive
	keys  *Keys

	opened opened

	mu    sync.Mutex
	tails map[storage.Key]piece // last known piece of each log
}

var (
	_ storage.Archive = (*Archive)(nil)
	_ storage.Remover = (*Archive)(nil)
	_ storage.Keeper  = (*Archive)(nil)
	_ storage.Sweeper = (*Archive)(nil)
	_ storage.Locator = (*Archive)(nil)

	_ storage.BulkRemover = (*Archive)(nil)
	_ storage.BulkKeeper  = (*Archive)(nil)
	_ storage.KindOpener  = (*Archive)(nil)
)

// New returns an encrypting archive in front of inner, which must be empty or
// encrypted ([Look]). It does no I/O.
func New(inner storage.Archive, keys *Keys) *Archive {
	return &Archive{inner: inner, keys: keys, tails: map[storage.Key]piece{}}
}

// Inner returns the archive with the encrypted files.
func (a *Archive) Inner() storage.Archive { return a.inner }

// Encrypted returns true: files can be read only with an identity.
func (a *Archive) Encrypted() bool { return true }

// Over returns an encrypting archive with the same keys in front of another
// archive.
func (a *Archive) Over(inner storage.Archive) *Archive { return New(inner, a.keys) }

// Close closes the inner archive if it can be closed.
func (a *Archive) Close(ctx context.Context) error {
	switch c := a.inner.(type) {
	case interface{ Close(context.Context) error }:
		return c.Close(ctx)
	case io.Closer:
		return c.Close()
	}
	return nil
}

// State says whether an archive is encrypted.
type State int

// The states of an archive.
const (
	Empty State = iota
	Plain
	Encrypted
)

// indexFolder is the folder of an unencrypted search index, which is not part of the
// archive.
const indexFolder = "_index"

// Look determines the state of an archive from its first file outside of an index.
func Look(ctx context.Context, a storage.Archive) (State, error) {
	for info, err := range a.List(ctx, storage.Key{}) {
		switch {
		case err != nil:
			return Empty, err
		case info.Foreign != "", info.Key.Dir() == indexFolder:
			continue
		}
		if _, _, _, ok := parse(info.Key); ok {
			return Encrypted, nil
		}
		return Plain, nil
	}
	return Empty, nil
}

// Errors for an archive in another state than expected.
var (
	ErrPlain     = errors.New("the archive holds files that are not encrypted: use a new archive for storage.encrypt, and copy the old files into it with compactctl archive copy")
	ErrEncrypted = errors.New("the archive is encrypted: set storage.encrypt.recipients, and " + IdentityVariable + " (or " + IdentityFileVariable + ") to read it")
)

// Check returns [ErrPlain] if the inner archive has files that are not encrypted. It
// returns [storage.ErrNoIdentity] if there are identities, but none of them belongs to a
// recipient or can open the first file.
func (a *Archive) Check(ctx context.Context) error {
	state, err := Look(ctx, a.inner)
	switch {
	case err != nil:
		return err
	case state == Plain:
		return ErrPlain
	case state == Empty || !a.keys.CanRead() || a.keys.known():
		return nil
	}
	for info, err := range a.inner.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		if k, _, _, ok := parse(info.Key); info.Foreign == "" && ok {
			r, err := a.openObject(ctx, info.Key, 0, -1)
			if err == nil {
				err = r.Close()
			}
			if errors.Is(err, storage.ErrNoIdentity) {
				return rewrap("open", k, err)
			}
			return nil // other errors are reported when the file is read
		}
	}
	return nil
}

// known reports whether an identity belongs to one of the recipients.
func (k *Keys) known() bool {
	var ids []string
	for _, r := range k.recipients {
		ids = append(ids, idOf(r))
	}
	return k.has(ids)
}

// rewrap replaces the key in an error of the inner archive by the key that the caller
// passed.
func rewrap(op string, k storage.Key, err error) error {
	if err == nil {
		return nil
	}
	if e := new(storage.Error); errors.As(err, &e) {
		err = e.Err
	}
	return &storage.Error{Op: op, Key: k, Err: err}
}

// Create implements [storage.Archive].
func (a *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := storage.Begin(ctx, "create", k); err != nil {
		return err
	}
	inner, err := fileKey(k)
	if err != nil {
		return rewrap("create", k, err)
	}
	object, err := a.encrypted(ctx, b)
	if err == nil {
		err = a.inner.Create(ctx, inner, object)
	}
	return rewrap("create", k, err)
}

// Location implements [storage.Locator] with the location in the inner archive. There
// a log is a folder with the name of the log.
func (a *Archive) Location(k storage.Key) string {
	l, ok := a.inner.(storage.Locator)
	if !ok {
		return k.String()
	}
	return l.Location(k)
}

// Kept implements [storage.Keeper] if the inner archive does.
func (a *Archive) Kept(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "look for a lock", k); err != nil {
		return err
	}
	keeper, ok := a.inner.(storage.Keeper)
	if !ok {
		return nil
	}
	return a.each(ctx, "look for a lock", k, keeper.Kept)
}

// Remove implements [storage.Remover] if the inner archive does. The pieces of a
// log are removed from the first to the last, so that its last line, which records
// the erasure, remains until the end.
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "remove", k); err != nil {
		return err
	}
	remover, ok := a.inner.(storage.Remover)
	if !ok {
		return rewrap("remove", k, storage.ErrUnsupported)
	}
	defer a.forgetTail(k)
	return a.each(ctx, "remove", k, remover.Remove)
}

// each calls the function do for every object of a key.
func (a *Archive) each(ctx context.Context, op string, k storage.Key, do func(context.Context, storage.Key) error) error {
	file, err := fileKey(k)
	if err == nil {
		err = do(ctx, file)
	}
	if err != nil {
		return rewrap(op, k, err)
	}
	all, err := a.pieces(ctx, k)
	if err != nil {
		return rewrap(op, k, err)
	}
	for _, p := range all {
		if err := do(ctx, p.key); err != nil {
			return rewrap(op, k, err)
		}
	}
	return nil
}

// Tidy implements [storage.Tidier] if the inner archive does.
func (a *Archive) Tidy(ctx context.Context) (left []string, err error) {
	if t, ok := a.inner.(storage.Tidier); ok {
		return t.Tidy(ctx)
	}
	return nil, storage.Wrap("tidy", storage.Key{}, ctx.Err())
}

// Sweep implements [storage.Sweeper] if the inner archive does.
func (a *Archive) Sweep(ctx context.Context, session storage.Key) (left []string, err error) {
	if s, ok := a.inner.(storage.Sweeper); ok {
		return s.Sweep(ctx, session)
	}
	return nil, rewrap("sweep", session, ctx.Err())
}
