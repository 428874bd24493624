package configs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/spool"
)

const s3Adapter = "s3"

// OpenArchive opens the archive that a configuration names. It is for readers of
// archives; a manager opens its own. It does not access S3 yet. If the folder of
// the spool exists, the spool is opened too: its waiting files are readable, and
// are sent when it is flushed.
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
	return crypt.New(a, nil).Close(ctx) // Close of the wrapper closes any archive
}

func openPlain(c compact.StorageConfig) (storage.Archive, error) {
	switch c.Adapter {
	case "fs":
		return fs.Open(c.Path)
	case "memory":
		return memory.New(), nil
	case s3Adapter:
		a, err := s3.New(s3Config(c))
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

// openForAgents opens archives for a manager that package compact does not link: S3,
// encrypted archives and registered stores.
func openForAgents(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	if c.Encrypt.On() {
		if _, err := encryptionKeys(c.Encrypt); err != nil { // before any access
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
	a, err := s3.New(s3Config(c))
	if err != nil {
		return nil, renamed(err)
	}
	if c.Spool == "" {
		return a, a.Try(ctx)
	}
	try, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := a.Try(try); err != nil && (!errors.Is(err, s3.ErrUnreachable) || ctx.Err() != nil) {
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
	if keys, err := encryptionKeys(c.Encrypt); err == nil { // else the front reports it
		o.Over = func(a storage.Archive) storage.Archive { return crypt.New(a, keys) }
	}
	return o
}

func s3Config(c compact.StorageConfig) s3.Config {
	return s3.Config{
		Bucket: c.Bucket, Prefix: strings.Trim(c.Prefix, "/"), Region: c.Region, Endpoint: c.Endpoint, PathStyle: c.PathStyle,
		KMSKeyID: c.KMSKeyID, Lock: s3.Lock{Mode: s3.LockMode(c.ObjectLock.Mode), Days: c.ObjectLock.Days}, Timeout: c.Timeout,
	}
}

// bucket reports mistakes in the settings of S3.
func (l *loader) bucket(c compact.StorageConfig) {
	if c.Adapter != s3Adapter {
		return
	}
	for _, err := range words.Leaves(renamed(s3Config(c).Check())) {
		var e *compact.ConfigError
		if errors.As(err, &e) && !l.reported(e.Path) {
			l.refused(e)
		}
	}
}

// renamed renames the settings in errors of package s3 to their names in
// files. It omits the values, because an endpoint can hold a password.
func renamed(err error) error {
	var errs []error
	for _, err := range words.Leaves(err) {
		if at := new(s3.ConfigError); errors.As(err, &at) {
			err = &compact.ConfigError{Path: "storage." + at.Field, Reason: strings.ReplaceAll(at.Reason, "object_lock.", "storage.object_lock."), Err: at}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
