package crypt

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// Archive encrypts what it hands on to another one. Make it with [New].
type Archive struct {
	inner storage.Archive
	keys  *Keys

	opened opened

	mu    sync.Mutex
	tails map[storage.Key]piece // the last piece that is known of a log
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

// New puts encryption in front of an archive, which must hold nothing else
// ([Look]). It does no I/O.
func New(inner storage.Archive, keys *Keys) *Archive {
	return &Archive{inner: inner, keys: keys, tails: map[storage.Key]piece{}}
}

// Inner returns the archive that holds what is encrypted.
func (a *Archive) Inner() storage.Archive { return a.inner }

// Encrypted says that what can be read here is kept from others.
func (a *Archive) Encrypted() bool { return true }

// Over returns the same encryption in front of another archive.
func (a *Archive) Over(inner storage.Archive) *Archive { return New(inner, a.keys) }

// Close closes the archive below, where that can be closed.
func (a *Archive) Close(ctx context.Context) error {
	switch c := a.inner.(type) {
	case interface{ Close(context.Context) error }:
		return c.Close(ctx)
	case io.Closer:
		return c.Close()
	}
	return nil
}

// State is what an archive holds.
type State int

// The states of an archive.
const (
	Empty State = iota
	Plain
	Encrypted
)

// indexFolder is where a plain index of the archive may stand, which is no part of it.
const indexFolder = "_index"

// Look finds out whether an archive is an encrypted one, by the first file in it.
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

// Errors of an archive that is not what it is taken for.
var (
	ErrPlain     = errors.New("the archive holds files that are not encrypted: take a new one for storage.encrypt, and bring the old ones over with compactctl archive copy")
	ErrEncrypted = errors.New("the archive is encrypted: set storage.encrypt.recipients, and " + IdentityVariable + " (or " + IdentityFileVariable + ") to read it")
)

// Check returns [ErrPlain] where an archive below is not encrypted, and
// [storage.ErrNoIdentity] where there are identities and none of them belongs to a
// recipient or opens what is there.
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
			return nil // what else is wrong is told by who reads
		}
	}
	return nil
}

// known reports whether an identity belongs to a recipient that is written for.
func (k *Keys) known() bool {
	var ids []string
	for _, r := range k.recipients {
		ids = append(ids, idOf(r))
	}
	return k.has(ids)
}

// rewrap names the key that was asked for in an error of the archive below.
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

// Location implements [storage.Locator]: where the archive below has a file. A log is
// a folder there, called as the log is.
func (a *Archive) Location(k storage.Key) string {
	l, ok := a.inner.(storage.Locator)
	if !ok {
		return k.String()
	}
	return l.Location(k)
}

// Kept implements [storage.Keeper], where the archive below does.
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

// Remove implements [storage.Remover], where the archive below does. Of a log the
// first piece goes first, so that its last line says to the end that it is being
// erased.
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

// each does something to every object that a key is made of.
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

// Tidy implements [storage.Tidier], where the archive below does.
func (a *Archive) Tidy(ctx context.Context) (left []string, err error) {
	if t, ok := a.inner.(storage.Tidier); ok {
		return t.Tidy(ctx)
	}
	return nil, storage.Wrap("tidy", storage.Key{}, ctx.Err())
}

// Sweep implements [storage.Sweeper], where the archive below does.
func (a *Archive) Sweep(ctx context.Context, session storage.Key) (left []string, err error) {
	if s, ok := a.inner.(storage.Sweeper); ok {
		return s.Sweep(ctx, session)
	}
	return nil, rewrap("sweep", session, ctx.Err())
}
