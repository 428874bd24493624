package compact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/seal"
)

// ArchiveKeyVariable is the environment variable that holds the keys of the archive
// if [Config.ArchiveKey] is empty.
const ArchiveKeyVariable = "COMPACT_ARCHIVE_KEY"

// keyring holds the keys that seal fingerprints. If no key is configured, it holds
// a random one until the archive's own key is known.
type keyring struct {
	*seal.Ring
	fresh   seal.Key // key for an archive without one
	folder  string
	bucket  bool        // the archive has no key of its own: the key is configured, or this machine's
	settled atomic.Bool // the ring's key is the archive's, or the archive's key can't be saved

	busy ctxlock.Mutex // held while the archive is read

	mu   sync.Mutex // guards said
	said []string   // pending warnings
}

// keys returns the configured key ring, and reads nothing.
func (c Config) keys() (*keyring, error) {
	given, err := c.archiveKeys()
	if err != nil {
		return nil, err
	}
	k := &keyring{fresh: seal.NewKey(), bucket: c.Archive == nil && c.Storage.Adapter == "s3"}
	k.folder, err = keyFolder(c.Archive)
	if len(given) == 0 {
		given = []seal.Key{k.fresh}
		k.settled.Store(c.Archive == nil && (c.Observe || c.Storage.Adapter == "memory"))
	} else {
		k.settled.Store(true)
	}
	if err != nil && !k.settled.Load() {
		k.giveUp(err)
	}
	k.Ring = seal.NewRing(k.folder, given...)
	return k, nil
}

// keyFolder returns the folder of an archive's key. The key of an archive in
// memory is not stored, because its file would outlive it.
func keyFolder(a storage.Archive) (string, error) {
	if _, volatile := a.(interface{ Volatile() }); volatile {
		return seal.InMemory, nil
	}
	return seal.Folder()
}

// archiveKeys returns the configured keys, the newest first.
func (c Config) archiveKeys() ([]seal.Key, error) {
	text := string(c.ArchiveKey)
	if text == "" {
		text = os.Getenv(ArchiveKeyVariable)
	}
	keys, err := seal.ParseKeys(text)
	if err != nil {
		return nil, &ConfigError{Path: "archive_key", Reason: "needs 64 hex digits, or base64 of 32 bytes, for each key, with commas in between: the environment variable " +
			ArchiveKeyVariable + ", or in Go Config.ArchiveKey"}
	}
	return keys, nil
}

// checkKeys returns an error for an invalid key.
func (c Config) checkKeys() error {
	_, err := c.archiveKeys()
	return err
}

// look finds the archive's key on this machine. It writes nothing.
func (k *keyring) look(ctx context.Context, a storage.Archive) error {
	return k.settle(ctx, func() (seal.Held, error) {
		if k.bucket {
			return k.machines(false)
		}
		h, err := seal.Look(ctx, a, k.folder)
		if errors.Is(err, storage.ErrNoIdentity) {
			return k.machines(false)
		}
		return h, err
	})
}

// make does the same as look, and creates a key if the archive has none. It reports
// whether the ring's key changed.
func (k *keyring) make(ctx context.Context, a storage.Archive) (changed bool, err error) {
	was := k.Current().ID()
	err = k.settle(ctx, func() (seal.Held, error) {
		if k.bucket {
			return k.machines(true)
		}
		h, err := seal.Look(ctx, a, k.folder)
		if errors.Is(err, storage.ErrNoIdentity) { // the archive's list of keys can't be read
			return k.machines(true)
		}
		if err != nil || len(h.Keys) > 0 {
			return h, err
		}
		h, err = seal.Make(ctx, a, k.folder, k.fresh)
		if errors.Is(err, seal.ErrFolder) {
			k.giveUp(err)
			return seal.Held{}, nil
		}
		return h, err
	})
	return k.Current().ID() != was, err
}

// machines returns the key of this machine. It is used for buckets, which must not
// delay agents behind a spool and have no key of their own, and by a process without
// an identity, which can't read the keys of an encrypted archive.
func (k *keyring) machines(make bool) (h seal.Held, err error) {
	key, ok, err := seal.MachineKey(k.folder, k.fresh, make)
	if errors.Is(err, seal.ErrFolder) {
		k.giveUp(err)
		return h, nil
	}
	if ok {
		h.Keys = []seal.Key{key}
	}
	return h, err
}

func (k *keyring) settle(ctx context.Context, ask func() (seal.Held, error)) error {
	if k.settled.Load() {
		return nil
	}
	if err := k.busy.Lock(ctx); err != nil {
		return err
	}
	defer k.busy.Unlock()
	if k.settled.Load() {
		return nil
	}
	h, err := ask()
	if err != nil || len(h.Keys) == 0 {
		return err
	}
	k.Use(h.Keys[0], h.Keys[1:]...)
	k.settled.Store(true)
	return nil
}

// giveUp continues with a key that is lost when the process exits.
func (k *keyring) giveUp(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, fmt.Sprintf("the key of the archive can't be saved (%v): other processes can't recognize the edits of this one; set %s", why, ArchiveKeyVariable))
	k.settled.Store(true)
}

// takeSaid returns the pending warnings, and clears them.
func (k *keyring) takeSaid() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	said := k.said
	k.said = nil
	return said
}

// KeysOf returns the keys for an archive, from the configuration and from this
// machine. It writes nothing.
func KeysOf(ctx context.Context, c Config, a storage.Archive) (*seal.Ring, error) {
	k, err := c.keys()
	if err == nil {
		err = k.look(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	return k.Ring, nil
}

// ErrConfiguredKey means that the archive keys are configured, as they must be for
// a bucket, so [Rekey] cannot add one. Add the new key to the configuration
// instead.
var ErrConfiguredKey = errors.New("compact: the archive's key is configured")

// Rekey gives an archive a new key, in the user's configuration folder, and returns
// its id. Stored data stays sealed with the keys it was written with, and no view
// changes. A manager uses the new key after it is created again.
func Rekey(ctx context.Context, c Config, a storage.Archive) (id string, err error) {
	given, err := c.archiveKeys()
	if err != nil {
		return "", err
	}
	if len(given) > 0 || c.Archive == nil && c.Storage.Adapter == "s3" {
		return "", ErrConfiguredKey
	}
	folder, err := keyFolder(a)
	if err != nil {
		return "", err
	}
	k := seal.NewKey()
	_, err = seal.Add(ctx, a, folder, k)
	return k.ID(), err
}
