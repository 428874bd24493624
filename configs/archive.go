package configs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
)

const s3Adapter, adapterPath = "s3", "storage.adapter"

// OpenArchive opens the archive that a configuration names. It is for readers of
// archives; a manager opens its own. It reads from S3 only whether the archive is
// encrypted; an unreachable server is not an error. If the folder of the spool
// exists, the spool is opened too: its waiting files are readable, and are sent
// when it is flushed.
//
// An encrypted archive is decrypted with the identities in the environment, and
// encrypted for the recipients of the configuration, which must then name some.
func OpenArchive(c compact.StorageConfig) (storage.Archive, error) {
	return opened(c, openPlain, encrypted)
}

// opened opens an archive and wraps it with front.
func opened(c compact.StorageConfig, open func(compact.StorageConfig) (storage.Archive, error),
	front func(context.Context, compact.StorageConfig, storage.Archive) (storage.Archive, error)) (storage.Archive, error) {
	a, err := open(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	x, err := front(ctx, c, a)
	if err != nil {
		return nil, errors.Join(err, closed(ctx, a))
	}
	return x, nil
}

func closed(ctx context.Context, a storage.Archive) error {
	switch c := a.(type) {
	case interface{ Close(context.Context) error }:
		return c.Close(ctx)
	case io.Closer:
		return c.Close()
	}
	return nil
}

func openPlain(c compact.StorageConfig) (storage.Archive, error) {
	switch c.Adapter {
	case "fs":
		return fs.Open(c.Path)
	case "memory":
		return memory.New(), nil
	case s3Adapter:
		a, err := newBucket(c)
		if err != nil || c.Spool == "" {
			return a, err
		}
		if _, err := os.Stat(c.Spool); errors.Is(err, os.ErrNotExist) {
			return a, nil
		}
		o := spoolOptions(c, false)
		return spool.Open(c.Spool, a, &o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	return openRegistered(ctx, c)
}

// OpenArchiveReadOnly is like OpenArchive for callers that only read. The archive may
// be on a read-only medium, and it refuses writes. Whether it is decrypted depends on
// its content, not on the configuration.
func OpenArchiveReadOnly(c compact.StorageConfig) (storage.Archive, error) {
	return opened(forPeople(c), func(c compact.StorageConfig) (storage.Archive, error) {
		if c.Adapter == "fs" {
			return fs.OpenReadOnly(c.Path)
		}
		return openPlain(c)
	}, decrypted)
}

// forPeople limits the configured time for a read.
func forPeople(c compact.StorageConfig) compact.StorageConfig {
	if c.Timeout == 0 || c.Timeout > readTimeout {
		c.Timeout = readTimeout
	}
	return c
}

// readTimeout is the longest time for a read, not counting the transfer of its bytes.
// It does not depend on the configuration for agents, because a person waits for the
// result and can try again.
const readTimeout = 15 * time.Second

// tryTimeout is the maximum time for testing a bucket that has a spool in front of
// it.
const tryTimeout = 10 * time.Second

// openForAgents opens, for a manager, the archives that package compact does not
// link: S3, encrypted archives and registered stores.
func openForAgents(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	if c.Encrypt.On() {
		if _, err := over(c.Encrypt); err != nil { // before any access
			return nil, err
		}
	}
	a, err := openUnder(ctx, c)
	if err != nil {
		return nil, err
	}
	try, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	x, err := encrypted(try, c, a)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, errors.Join(err, closed(ctx, a))
	}
	return x, nil
}

func openUnder(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	switch c.Adapter {
	case "fs":
		return fs.Open(c.Path)
	case s3Adapter:
		return openBucket(ctx, c)
	}
	return openRegistered(ctx, c)
}

// openBucket opens S3 and tests whether the bucket enforces its settings. With a
// spool, an unreachable server is not an error: the bucket is tried again before the
// first object is sent.
func openBucket(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	a, err := newBucket(c)
	if err != nil {
		return nil, err
	}
	if c.Spool == "" {
		return a, a.Try(ctx)
	}
	try, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := a.Try(try); err != nil && (!driver.S3.Unreachable(err) || ctx.Err() != nil) {
		return nil, err
	}
	o := spoolOptions(c, true)
	return spool.Open(c.Spool, a, &o)
}

// spoolOptions returns the options of the spool for a manager of agents, or for a reader,
// which sends nothing by itself.
func spoolOptions(c compact.StorageConfig, agents bool) spool.Options {
	o := spool.Options{Keep: c.SpoolKeep, Blind: agents, Passive: !agents}
	if !c.Encrypt.On() {
		return o
	}
	if wrap, err := over(c.Encrypt); err == nil { // else the front reports it
		o.Over = func(a storage.Archive) storage.Archive { return wrap(a) }
	}
	return o
}

// newBucket creates the archive in S3 without a request.
func newBucket(c compact.StorageConfig) (driver.Tried, error) {
	if driver.S3 == nil {
		return nil, &compact.ConfigError{Path: adapterPath, Value: s3Adapter, Reason: notLinked("s3")}
	}
	return driver.S3.New(c)
}

// bucket reports mistakes in the settings of S3.
func (l *loader) bucket(c compact.StorageConfig) {
	switch {
	case c.Adapter != s3Adapter:
		return
	case driver.S3 == nil:
		l.wrong(adapterPath, adapterPath, s3Adapter, notLinked("s3"))
		return
	}
	for _, err := range words.Leaves(driver.S3.Check(c)) {
		var e *compact.ConfigError
		if errors.As(err, &e) && !l.reported(e.Path) {
			l.refused(e)
		}
	}
}
