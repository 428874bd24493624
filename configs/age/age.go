// Package age links encrypted archives into a program that loads configurations:
// storage.encrypt. Import it for its effect:
//
//	import _ "github.com/agentcompact/compact/configs/age"
package age

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
)

func init() {
	driver.Age = &driver.Encryption{
		Check:   func(c compact.EncryptConfig) error { _, err := recipients(c); return err },
		Over:    over,
		Decrypt: decrypt, Unwrap: unwrap, Try: try, Did: did, Advise: advise,
	}
}

const recipientsPath, recipientsFilePath = "storage.encrypt.recipients", "storage.encrypt.recipients_file"

// recipients checks and returns all recipients.
func recipients(c compact.EncryptConfig) ([]string, error) {
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

// keys returns the keys that encrypt and decrypt an archive.
func keys(c compact.EncryptConfig) (*crypt.Keys, error) {
	all, err := recipients(c)
	if err != nil {
		return nil, err
	}
	identities, err := crypt.IdentityText()
	if err != nil {
		return nil, err
	}
	return crypt.NewKeys(all, identities)
}

func over(c compact.EncryptConfig) (func(storage.Archive) driver.Checked, error) {
	k, err := keys(c)
	if err != nil {
		return nil, err
	}
	return func(a storage.Archive) driver.Checked { return crypt.New(a, k) }, nil
}

func decrypt(a storage.Archive) (driver.Checked, error) {
	identities, err := crypt.IdentityText()
	if err != nil {
		return nil, err
	}
	k, err := crypt.ReadingKeys(identities)
	if err != nil {
		return nil, err
	}
	if !k.CanRead() {
		return nil, fmt.Errorf("the archive is %w: set %s, or %s", storage.ErrNoIdentity, crypt.IdentityVariable, crypt.IdentityFileVariable)
	}
	return crypt.New(a, k), nil
}

func unwrap(a storage.Archive) (inner storage.Archive, over func(storage.Archive) storage.Archive, ok bool) {
	x, ok := a.(*crypt.Archive)
	if !ok {
		return a, nil, false
	}
	return x.Inner(), func(a storage.Archive) storage.Archive { return x.Over(a) }, true
}

func try(ctx context.Context, c compact.EncryptConfig) error {
	k, err := keys(c)
	if err != nil {
		return err
	}
	return k.Try(ctx)
}

func did() string {
	if text, err := crypt.IdentityText(); err == nil && text == "" {
		return "a file was encrypted; without " + crypt.IdentityVariable + " only the data of this process can be read"
	}
	return "a file was encrypted, and decrypted with the identity"
}

func advise(err error) string {
	switch {
	case errors.Is(err, storage.ErrNoIdentity):
		return "put the identity of a recipient into " + crypt.IdentityVariable + "; a process that only writes needs none"
	case errors.Is(err, crypt.ErrPlain):
		return ""
	}
	return "correct storage.encrypt, or " + crypt.IdentityVariable
}
