package configs

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/spool"
)

const encryptPath = "storage.encrypt"

// over returns the function that encrypts an archive. An error is a
// [*compact.ConfigError] if the configuration is wrong.
func over(c compact.EncryptConfig) (func(storage.Archive) driver.Checked, error) {
	if driver.Age == nil {
		return nil, &compact.ConfigError{Path: encryptPath, Reason: notLinked("age")}
	}
	return driver.Age.Over(c)
}

// encryption reports mistakes in the recipients.
func (l *loader) encryption(c compact.StorageConfig) {
	switch {
	case !c.Encrypt.On():
		return
	case driver.Age == nil:
		l.wrong(recipientsPath(c.Encrypt), encryptPath, nil, notLinked("age"))
		return
	}
	var e *compact.ConfigError
	if errors.As(driver.Age.Check(c.Encrypt), &e) && !l.reported(e.Path) {
		l.refused(e)
	}
}

// recipientsPath returns the setting that switches encryption on.
func recipientsPath(c compact.EncryptConfig) string {
	if len(c.Recipients) > 0 {
		return encryptPath + ".recipients"
	}
	return encryptPath + ".recipients_file"
}

// errEncrypted is the error for an encrypted archive without settings to encrypt more.
var errEncrypted = errors.New("the archive is encrypted: set storage.encrypt.recipients, and " + identityVariable + " (or " + identityFileVariable + ") to read it")

// encrypted wraps an open archive with encryption if the configuration says so.
// The existing content must match. An unreachable archive is not checked.
func encrypted(ctx context.Context, c compact.StorageConfig, a storage.Archive) (storage.Archive, error) {
	if c.Adapter == "memory" {
		return a, nil
	}
	if !c.Encrypt.On() {
		is, err := storage.Encrypted(ctx, a)
		if is {
			err = errEncrypted
		}
		return a, reached(err)
	}
	wrap, err := over(c.Encrypt)
	if err != nil {
		return nil, err
	}
	x := wrap(a)
	return x, reached(x.Check(ctx))
}

// reached returns nil for an unreachable server, because later reads and writes
// report that.
func reached(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || driver.S3 != nil && driver.S3.Unreachable(err) {
		return nil
	}
	return err
}

// decrypted is like encrypted, for readers: the existing content decides whether
// it is decrypted.
func decrypted(ctx context.Context, _ compact.StorageConfig, a storage.Archive) (storage.Archive, error) {
	is, err := storage.Encrypted(ctx, a)
	switch {
	case err != nil:
		return a, reached(err)
	case !is:
		return a, nil
	case driver.Age == nil:
		return nil, errors.New("the archive is encrypted: " + notLinked("age"))
	}
	x, err := driver.Age.Decrypt(a)
	if err != nil {
		return nil, err
	}
	return x, x.Check(ctx)
}

// SpoolOf returns the spool of an archive that this package opened. over wraps a
// part of the spool like the archive itself is wrapped, for example with
// encryption. ok is false if there is no spool.
func SpoolOf(a storage.Archive) (s *spool.Spool, over func(storage.Archive) storage.Archive, ok bool) {
	over = func(a storage.Archive) storage.Archive { return a }
	if driver.Age != nil {
		if inner, wrap, is := driver.Age.Unwrap(a); is {
			a, over = inner, wrap
		}
	}
	s, ok = a.(*spool.Spool)
	return s, over, ok
}

// encryptionTry checks that encryption works, and that the result can be read if
// there is an identity.
func encryptionTry(c compact.StorageConfig) attempt {
	if driver.Age == nil {
		return one("encryption", "age", "", adviseNothing, func(context.Context) error { return errors.New(notLinked("age")) })
	}
	return one("encryption", "age", driver.Age.Did(), driver.Age.Advise, func(ctx context.Context) error { return tryEncryption(ctx, c) })
}

func tryEncryption(ctx context.Context, c compact.StorageConfig) error {
	if err := driver.Age.Try(ctx, c.Encrypt); err != nil || c.Adapter != "fs" {
		return err
	}
	wrap, err := over(c.Encrypt)
	if err != nil {
		return err
	}
	a, err := fs.OpenReadOnly(c.Path)
	if err != nil { // the folder does not exist yet
		return nil
	}
	return errors.Join(wrap(a).Check(ctx), a.Close())
}
