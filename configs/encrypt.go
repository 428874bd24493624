package configs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/spool"
)

// encryptionKeys returns the keys that encrypt and decrypt an archive. An error
// is a [*compact.ConfigError] if the configuration is wrong.
func encryptionKeys(c compact.EncryptConfig) (*crypt.Keys, error) {
	recipients, err := recipientsOf(c)
	if err != nil {
		return nil, err
	}
	identities, err := crypt.IdentityText()
	if err != nil {
		return nil, err
	}
	return crypt.NewKeys(recipients, identities)
}

const recipientsPath, recipientsFilePath = "storage.encrypt.recipients", "storage.encrypt.recipients_file"

// recipientsOf checks and returns all recipients.
func recipientsOf(c compact.EncryptConfig) ([]string, error) {
	for i, r := range c.Recipients {
		if _, err := crypt.NewKeys([]string{r}, ""); err != nil {
			return nil, &compact.ConfigError{Path: fmt.Sprintf("%s[%d]", recipientsPath, i), Reason: err.Error(), Err: err}
		}
	}
	all := slices.Clone(c.Recipients)
	if c.RecipientsFile != "" {
		more, err := crypt.RecipientsIn(c.RecipientsFile)
		if err == nil {
			_, err = crypt.NewKeys(more, "")
		}
		if err != nil {
			return nil, &compact.ConfigError{Path: recipientsFilePath, Reason: err.Error(), Err: err}
		}
		all = append(all, more...)
	}
	if _, err := crypt.NewKeys(all, ""); err != nil {
		return nil, &compact.ConfigError{Path: recipientsPath, Reason: err.Error(), Err: err}
	}
	return all, nil
}

// encryption reports mistakes in the recipients.
func (l *loader) encryption(c compact.StorageConfig) {
	if !c.Encrypt.On() {
		return
	}
	var e *compact.ConfigError
	if _, err := recipientsOf(c.Encrypt); errors.As(err, &e) && !l.reported(e.Path) {
		l.refused(e)
	}
}

// encrypted wraps an open archive with encryption if the configuration says so.
// The existing content must match. An unreachable archive is not checked.
func encrypted(ctx context.Context, c compact.StorageConfig, a storage.Archive) (storage.Archive, error) {
	if c.Adapter == "memory" {
		return a, nil
	}
	if !c.Encrypt.On() {
		state, err := crypt.Look(ctx, a)
		if err == nil && state == crypt.Encrypted {
			err = crypt.ErrEncrypted
		}
		return a, reached(err)
	}
	keys, err := encryptionKeys(c.Encrypt)
	if err != nil {
		return nil, err
	}
	x := crypt.New(a, keys)
	return x, reached(x.Check(ctx))
}

// reached returns nil for an unreachable server, because later reads and writes
// report that.
func reached(err error) error {
	if errors.Is(err, s3.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// decrypted is like encrypted, for readers: the existing content decides whether
// it is decrypted.
func decrypted(ctx context.Context, c compact.StorageConfig, a storage.Archive) (storage.Archive, error) {
	state, err := crypt.Look(ctx, a)
	switch {
	case err != nil:
		return a, reached(err)
	case state != crypt.Encrypted:
		return a, nil
	}
	identities, err := crypt.IdentityText()
	if err != nil {
		return nil, err
	}
	keys, err := crypt.ReadingKeys(identities)
	if err != nil {
		return nil, err
	}
	if !keys.CanRead() {
		return nil, fmt.Errorf("the archive is %w: set %s, or %s", storage.ErrNoIdentity, crypt.IdentityVariable, crypt.IdentityFileVariable)
	}
	x := crypt.New(a, keys)
	return x, x.Check(ctx)
}

// SpoolOf returns the spool of an archive that this package opened. over wraps a
// part of the spool like the archive itself is wrapped, for example with
// encryption. ok is false if there is no spool.
func SpoolOf(a storage.Archive) (s *spool.Spool, over func(storage.Archive) storage.Archive, ok bool) {
	over = func(a storage.Archive) storage.Archive { return a }
	if x, is := a.(*crypt.Archive); is {
		a, over = x.Inner(), func(a storage.Archive) storage.Archive { return x.Over(a) }
	}
	s, ok = a.(*spool.Spool)
	return s, over, ok
}

// encryptionDid describes the probe of encryption.
func encryptionDid() string {
	if text, err := crypt.IdentityText(); err == nil && text == "" {
		return "a file was encrypted; without " + crypt.IdentityVariable + " only the data of this process can be read"
	}
	return "a file was encrypted, and decrypted with the identity"
}

// tryEncryption checks that encryption works, and that the result can be read if
// there is an identity.
func tryEncryption(ctx context.Context, c compact.StorageConfig) error {
	keys, err := encryptionKeys(c.Encrypt)
	if err != nil {
		return err
	}
	if err := keys.Try(ctx); err != nil || c.Adapter != "fs" {
		return err
	}
	a, err := fs.OpenReadOnly(c.Path)
	if err != nil { // the folder does not exist yet
		return nil
	}
	return errors.Join(crypt.New(a, keys).Check(ctx), a.Close())
}
