package storage

import (
	"context"
	"io"
	"iter"
	"time"
)

// An Archive stores files. A key is either a file, which is created once and never
// changed, or a log, which is only appended to. A caller never uses one key as both, and
// never uses the key of a file or a log as a folder.
//
// All methods may be called at once, by several goroutines and by several processes that
// use the same place. They return an [*Error]. If the context is done before a method
// begins, the method does nothing and its error wraps the context's. A call may have to
// wait for another one (the holder of a lock, or the first call that connects). It waits
// until its own context ends, and then returns an error that wraps the error of the
// context. The zero Key is an error everywhere but in List. Package storagetest tests
// every sentence here.
type Archive interface {
	// Create stores b under k.
	//
	// If it returns nil, k holds exactly the bytes of b, even after a crash of the process
	// or of the machine and after a power loss. If k exists, it stays unchanged and the
	// error is ErrExists; of any number of concurrent Creates of one key exactly one
	// returns nil. Open and List see k complete or not at all. After any other error k
	// holds all of b or nothing; the caller has to find out which, because a network can
	// fail after the write. Folders are created as needed. b may be empty, and is not
	// retained.
	Create(ctx context.Context, k Key, b Blob) error

	// Append adds b to the end of k if k holds exactly seq bytes. A missing key
	// holds 0 bytes.
	//
	// After nil, k holds b after its first seq bytes, as durably as after Create. If
	// k has another length, nothing is written and the error is ErrSeq; of any
	// number of concurrent Appends with one seq exactly one returns nil. After any
	// other error, or a crash, k holds its previous bytes and possibly a prefix of
	// b. Previous bytes never change. b is not retained.
	Append(ctx context.Context, k Key, seq int64, b Blob) error

	// Open returns a reader of at most n bytes of k from offset off; n < 0
	// reads to the end. The caller closes it.
	//
	// A missing key is ErrNotExist. An off at or after the end gives an empty
	// reader; a negative off is an error. While others append to k, the reader
	// returns bytes of k in order, at least those present when Open returned.
	Open(ctx context.Context, k Key, off, n int64) (io.ReadCloser, error)

	// List yields every key that is prefix or lies below it ([Key.Has]), in the byte order
	// of keys. The zero Key lists everything. An empty result is not an error. Every write
	// that was acknowledged before List began is visible. An error is yielded last and
	// once. Foreign entries are yielded as well ([Info.Foreign]), in any position.
	List(ctx context.Context, prefix Key) iter.Seq2[Info, error]
}

// Info describes a key in a listing.
type Info struct {
	Key      Key
	Size     int64     // bytes
	Modified time.Time // time of the last write by the backend; zero if unknown

	// Foreign is the path of an entry that no archive wrote: its name is not a
	// key, or it is not a plain file. Key is then zero. "" for all other
	// entries.
	Foreign string
}

// A Remover is an Archive that can remove keys. Package storage/record removes keys when
// it erases or prunes a session, and when it ends a scrub.
type Remover interface {
	// Remove removes k, durably when it returns nil. A missing k is not an error. Empty
	// folders are removed as well.
	Remove(ctx context.Context, k Key) error
}

// A BulkRemover is a Remover that removes many keys more cheaply in one call.
type BulkRemover interface {
	Remover
	// RemoveAll removes all keys, in any order. After an error some keys may be removed. An
	// empty list is not an error.
	RemoveAll(ctx context.Context, keys []Key) error
}

// An EndRemover is a BulkRemover that removes a folder with fewer listings. The folder
// has a log that records why its files are missing, and the end of this log is removed
// last.
type EndRemover interface {
	BulkRemover
	// RemoveAllBut removes all keys, in any order. It also removes log, which is not one of
	// the keys, except for the bytes of its last append. If the archive wraps one that is
	// not an EndRemover, RemoveAllBut returns [ErrUnsupported] and removes nothing.
	RemoveAllBut(ctx context.Context, keys []Key, log Key) error
	// RemoveEnd removes what RemoveAllBut has left of log. If anything else is left in the
	// folder of log, RemoveEnd removes nothing, and others is true.
	RemoveEnd(ctx context.Context, log Key) (others bool, err error)
}

// A RemovalLister is an EndRemover whose next RemoveAllBut can use a listing that was made
// before.
type RemovalLister interface {
	EndRemover
	// ListToRemove is List of a folder. The next RemoveAllBut of a log in this folder uses it
	// in place of a listing of its own, so it can leave what was written since.
	ListToRemove(ctx context.Context, folder Key) iter.Seq2[Info, error]
}

// A BulkCreator is an Archive that creates several files more cheaply in one
// call.
type BulkCreator interface {
	// CreateAll calls Create for all keys concurrently. errs has the result for each key,
	// in order.
	CreateAll(ctx context.Context, keys []Key, blobs []Blob) (errs []error)
}

// A Sweeper is an Archive that temporarily holds pieces of files outside of its
// keys, such as temporary files after a crash.
type Sweeper interface {
	// Sweep removes the pieces of the session with this folder, after its keys are
	// removed. It returns descriptions of the pieces that it kept because a process is
	// writing to them.
	Sweep(ctx context.Context, session Key) (left []string, err error)
}

// A Tidier is an Archive that temporarily holds pieces of files outside of its keys, and
// can remove the pieces that no process is writing to.
type Tidier interface {
	// Tidy removes these pieces. It returns descriptions of the pieces that it kept because
	// a process is writing to them.
	Tidy(ctx context.Context) (left []string, err error)
}

// A Keeper is an Archive that can forbid the removal of a key for a time, such
// as by a retention or an Object Lock.
type Keeper interface {
	// Kept returns nil if k can be removed now, or if k does not exist. Otherwise it returns
	// [ErrLocked], preferably as a [*LockedError] with the end of the lock.
	Kept(ctx context.Context, k Key) error
}

// A BulkKeeper is a Keeper that checks many keys more cheaply together.
type BulkKeeper interface {
	Keeper
	// KeptAny calls Kept for the keys in order, and returns the error of the
	// first that cannot be removed.
	KeptAny(ctx context.Context, keys []Key) error
}

// A FreeKeeper is a Keeper that can report cheaply that it keeps nothing.
type FreeKeeper interface {
	Keeper
	// Free reports whether every key can be removed now. It returns false if this is
	// unknown.
	Free(ctx context.Context) bool
}

// A Deferrer is an Archive whose Append checks, after the write, whether the log was
// removed in the meantime. (The log would then hold only the new bytes.) A Deferrer can
// defer this check, so that the last of several Appends makes it for all of them.
type Deferrer interface {
	// AppendUnseen is Append without the check. The next Append to k, or Settle,
	// makes the check, and removes b if k was removed before b was written.
	AppendUnseen(ctx context.Context, k Key, seq int64, b Blob) error
	// Settle makes a deferred check, if any. It returns [ErrSeq] if k was
	// removed.
	Settle(ctx context.Context, k Key) error
}

// A LazyAppender is an Archive that can append without waiting until the bytes are
// durable.
type LazyAppender interface {
	// AppendLazily is Append, except that the bytes, or a part of them, can be lost if the
	// machine stops before the next Append to k. All processes see the bytes immediately.
	AppendLazily(ctx context.Context, k Key, seq int64, b Blob) error
}

// A Locator is an Archive that knows the location of a key.
type Locator interface {
	// Location returns the path or URL of k, whether or not k exists; for the
	// zero Key, of the whole archive. It does no I/O, and no two keys share a
	// location.
	Location(k Key) string
}
