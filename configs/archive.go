package configs

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/spool"
)

const s3Adapter = "s3"

// OpenArchive opens the archive that a configuration names. It is for those
// who read archives; a manager opens its own. Of S3 nothing is asked yet. A
// spool is opened where its folder is there: what waits in it is read too, and
// sent when it is flushed.
//
// One that is encrypted is decrypted with the identities of the environment, and
// encrypted for the recipients of the configuration, which must name some then.
func OpenArchive(c compact.StorageConfig) (storage.Archive, error) {
	return opened(c, openPlain, encrypted)
}

// opened opens an archive and puts in front of it what has to be there.
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
	return crypt.New(a, nil).Close(ctx) // which knows how
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
		o := spoolOptions(c)
		o.Passive = true
		return spool.Open(c.Spool, a, &o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	return openRegistered(ctx, c)
}

// OpenArchiveReadOnly is OpenArchive for those who write nothing: what it opens
// may be on a medium that can't be written, and refuses to be. What is there says
// whether it is to be decrypted, whatever the configuration says.
func OpenArchiveReadOnly(c compact.StorageConfig) (storage.Archive, error) {
	if c.Timeout == 0 || c.Timeout > readTimeout {
		c.Timeout = readTimeout
	}
	return opened(c, func(c compact.StorageConfig) (storage.Archive, error) {
		if c.Adapter == "fs" {
			return fs.OpenReadOnly(c.Path)
		}
		return openPlain(c)
	}, decrypted)
}

// readTimeout is the most that a read may take, besides what its bytes take,
// whatever is configured for agents: somebody waits, and can ask again.
const readTimeout = 15 * time.Second

// tryTimeout is how long a bucket is tried that has a spool in front of it.
const tryTimeout = 10 * time.Second

// openForAgents opens for a manager what that does not link: S3, and what is
// encrypted.
func openForAgents(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	if c.Encrypt.On() {
		if _, err := encryptionKeys(c.Encrypt); err != nil { // before anything is asked
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
	if err != nil {
		return nil, errors.Join(err, closed(ctx, a))
	}
	return x, ctx.Err()
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

// openBucket opens S3 and tries what the bucket enforces. With a spool a server that
// cannot be reached is no error: the bucket is tried before the first object is sent.
func openBucket(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	a, err := s3.New(s3Config(c))
	if err != nil {
		return nil, inOurWords(err)
	}
	if c.Spool == "" {
		return a, a.Try(ctx)
	}
	try, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := a.Try(try); err != nil && (!errors.Is(err, s3.ErrUnreachable) || ctx.Err() != nil) {
		return nil, err
	}
	o := spoolOptions(c)
	o.Blind = true
	return spool.Open(c.Spool, a, &o)
}

func spoolOptions(c compact.StorageConfig) spool.Options { return spool.Options{Keep: c.SpoolKeep} }

func s3Config(c compact.StorageConfig) s3.Config {
	return s3.Config{
		Bucket: c.Bucket, Prefix: strings.Trim(c.Prefix, "/"), Region: c.Region, Endpoint: c.Endpoint, PathStyle: c.PathStyle,
		KMSKeyID: c.KMSKeyID, Lock: s3.Lock{Mode: s3.LockMode(c.ObjectLock.Mode), Days: c.ObjectLock.Days}, Timeout: c.Timeout,
	}
}

// bucket reports what is wrong with the settings of S3.
func (l *loader) bucket(c compact.StorageConfig) {
	if c.Adapter != s3Adapter {
		return
	}
	for _, err := range split(inOurWords(s3Config(c).Check())) {
		var e *compact.ConfigError
		if errors.As(err, &e) && !l.reported(e.Path) {
			l.refused(e)
		}
	}
}

// inOurWords names the settings that package s3 speaks of as files do. The value
// is not shown: an endpoint can hold a password.
func inOurWords(err error) error {
	var errs []error
	for _, err := range split(err) {
		if at := new(s3.ConfigError); errors.As(err, &at) {
			err = &compact.ConfigError{Path: "storage." + at.Field, Reason: strings.ReplaceAll(at.Reason, "object_lock.", "storage.object_lock."), Err: at}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
