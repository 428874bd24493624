package storage

import (
	"context"
	"io"
	"iter"
	"time"
)

// Archive is a place that keeps files: each either created once and never
// changed, or only ever appended to. A key is one or the other; callers do
// not mix, and do not use a key both as a file and as a folder.
//
// All methods may be called at once, by several goroutines and by several
// processes that use the same place. They return an [*Error]. When the context
// is done before a method begins, it does nothing and its error wraps the
// context's. A call waits for another one, such as the holder of a lock or
// whoever connects first, no longer than its own context lasts; then its error
// wraps the context's. The zero Key is an error everywhere but in List. Package
// storagetest checks every sentence here.
type Archive interface {
	// Create stores b under k.
	//
	// After nil, k holds exactly the bytes of b, and does so after a crash
	// of the process, of the machine, and after a power loss. When k holds
	// something already, that stays as it is and the error is ErrExists; of
	// any number of Creates of one key at once exactly one returns nil. k
	// is seen by Open and List whole or not at all. After any other error k
	// holds the whole of b or nothing (which of the two the caller has to
	// ask, for a network can fail after the fact). Folders come into being
	// as they are needed. b may be empty, and is not kept.
	Create(ctx context.Context, k Key, b Blob) error

	// Append adds b to the end of k, when k holds exactly seq bytes. A key
	// that does not exist holds 0 bytes.
	//
	// After nil, k holds the bytes of b after its first seq, and keeps them as after
	// Create. When k holds another number of bytes, nothing is written and
	// the error is ErrSeq; of any number of Appends with one seq at once
	// exactly one returns nil. After any other error, or a crash, k holds
	// what it held before and possibly a beginning of b. What was there
	// before is never changed. b is not kept.
	Append(ctx context.Context, k Key, seq int64, b Blob) error

	// Open returns a reader of at most n bytes of k from off on; n < 0
	// means to the end. The caller closes it.
	//
	// A key that holds nothing is ErrNotExist. An off at or after the end
	// gives a reader of no bytes; a negative off is an error. A reader of a
	// key that is appended to meanwhile gives bytes of k in their order, at
	// least those that were there when Open returned.
	Open(ctx context.Context, k Key, off, n int64) (io.ReadCloser, error)

	// List yields every key that is prefix or lies below it ([Key.Has]),
	// in the byte order of keys, with the zero Key for all. Nothing
	// there is no error. What was acknowledged before List began is
	// yielded. An error is yielded last and once. Entries that somebody
	// else put there are yielded too ([Info.Foreign]), in any place.
	List(ctx context.Context, prefix Key) iter.Seq2[Info, error]
}

// Info is what List tells of a key.
type Info struct {
	Key      Key
	Size     int64     // bytes
	Modified time.Time // when it was last written to, as the place says; the zero time where it does not

	// Foreign is the path of an entry that no archive wrote: a name that
	// is no key, or something else than a plain file. Key is then the zero
	// Key. "" for everything else.
	Foreign string
}

// Remover is an Archive from which things can be removed. Only [Session.Erase]
// and [Prune] do so.
type Remover interface {
	// Remove takes k away. After nil, k holds nothing, and does so after a
	// power loss too. Nothing there is no error. Folders that become empty
	// go with it.
	Remove(ctx context.Context, k Key) error
}

// BulkRemover is a Remover that takes many keys away at less cost than one after the
// other.
type BulkRemover interface {
	Remover
	// RemoveAll is Remove for each of the keys, in any order. After an error some may
	// be gone. No keys is no error.
	RemoveAll(ctx context.Context, keys []Key) error
}

// BulkCreator is an Archive that creates several files at less cost than one by one.
type BulkCreator interface {
	// CreateAll is Create for each of the keys, at the same time: errs has in their order
	// what Create would have returned.
	CreateAll(ctx context.Context, keys []Key, blobs []Blob) (errs []error)
}

// Sweeper is an Archive that holds pieces of files outside of its keys for a while,
// such as temporary files that a crash left.
type Sweeper interface {
	// Sweep removes what may hold pieces of the session with this folder, whose
	// keys are removed already. It returns what it had to leave, in words: what
	// somebody writes to just now.
	Sweep(ctx context.Context, session Key) (left []string, err error)
}

// Tidier is an Archive that holds pieces of files of any session outside of its keys for
// a while, and can remove what no process writes to.
type Tidier interface {
	// Tidy removes them. It returns what it had to leave, in words.
	Tidy(ctx context.Context) (left []string, err error)
}

// Keeper is an Archive that can forbid for a time that a key goes, whoever
// asks: a retention, an Object Lock.
type Keeper interface {
	// Kept is nil when k can be removed now, and [ErrLocked] while it cannot,
	// best as a [*LockedError] that says until when. Nothing there is nil.
	Kept(ctx context.Context, k Key) error
}

// BulkKeeper is a Keeper that knows of many keys at less cost than one after the other.
type BulkKeeper interface {
	Keeper
	// KeptAny is Kept for the keys in their order: the error is that of the first
	// that can't be removed now.
	KeptAny(ctx context.Context, keys []Key) error
}

// Deferrer is an Archive that looks after each Append whether k was removed meanwhile,
// so that b would stand alone, and that can put this look off. Of several Appends in a
// row the last one can then look for all.
type Deferrer interface {
	// AppendUnseen is Append without the look. The next Append to k, or Settle, makes
	// it, and takes b away where k was removed before b came.
	AppendUnseen(ctx context.Context, k Key, seq int64, b Blob) error
	// Settle makes the look that was put off, if any: it is [ErrSeq] where k was
	// removed.
	Settle(ctx context.Context, k Key) error
}

// Locator is an Archive that can say where a key is.
type Locator interface {
	// Location returns where k is, or would be, in the form in which an
	// operator would write it: a path, or a URL; of the zero Key that of the
	// whole archive. It does no I/O, and no two keys are in one place.
	Location(k Key) string
}

// location returns k as text where a has nothing better.
func location(a Archive, k Key) string {
	if l, ok := a.(Locator); ok {
		return l.Location(k)
	}
	return k.String()
}
