package compact

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/seal"
)

// ArchiveKeyVariable is the environment variable that holds the keys of the
// archive where [Config.ArchiveKey] is empty.
const ArchiveKeyVariable = "COMPACT_ARCHIVE_KEY"

// keyring is the keys that fingerprints leave memory with. Until the archive says
// which of those on this machine is its own, it has one that nobody else has.
type keyring struct {
	*seal.Ring
	fresh   seal.Key // of an archive that has none
	folder  string
	bucket  bool        // the archive is not asked: its key is configured, or this machine's
	settled atomic.Bool // the ring's key is the archive's

	busy ctxlock.Mutex // held while the archive is asked

	mu   sync.Mutex // guards what follows
	said []string   // warnings that a call has still to give
}

// keys returns the ring that the configuration describes. Nothing is read yet.
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

// keyFolder returns where the key of an archive lies. That of one in memory ends
// with it: a file for each would stay behind in the user's configuration.
func keyFolder(a storage.Archive) (string, error) {
	if _, volatile := a.(interface{ Volatile() }); volatile {
		return seal.InMemory, nil
	}
	return seal.Folder()
}

// archiveKeys returns the keys that the configuration names, the newest first.
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

// checkKeys says that a key is none.
func (c Config) checkKeys() error {
	_, err := c.archiveKeys()
	return err
}

// look finds out which key on this machine is the archive's. It writes nothing.
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

// make is look that gives the archive a key where none of its own is here. It
// reports whether the ring has another key than before.
func (k *keyring) make(ctx context.Context, a storage.Archive) (changed bool, err error) {
	was := k.Current().ID()
	err = k.settle(ctx, func() (seal.Held, error) {
		if k.bucket {
			return k.machines(true)
		}
		h, err := seal.Look(ctx, a, k.folder)
		if errors.Is(err, storage.ErrNoIdentity) { // which keys are its own can't be read
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

// machines is the key of this machine. Agents must not wait for a bucket behind a
// spool, and one that machines share has no key of its own; nor can a process without
// an identity read which is that of an encrypted archive.
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

// giveUp goes on with a key that ends with the process.
func (k *keyring) giveUp(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, fmt.Sprintf("the key of the archive can't be kept (%v): another process won't know what this one compacted; set %s", why, ArchiveKeyVariable))
	k.settled.Store(true)
}

// takeSaid returns the warnings that nobody has given yet.
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

// Keyed returns a hash of a text with the archive's oldest key, as 16 hex digits.
// It is the same in every process with the key; without the key nobody can test a
// guess of the text against it. Use it for ids derived from a conversation.
func (m *CompactManager) Keyed(ctx context.Context, text string) string {
	_ = m.keys.look(ctx, m.archive) // what can't be read now is told by the call that needs it
	sum := m.keys.Root().Digest("id", []byte(text))
	return hex.EncodeToString(sum[:8])
}

// keyed sees to it that the ring has the key of the archive before anything is
// named. A call that may write gives an archive without one a key; that it can't be
// written is told when the call has something to store.
func (m *CompactManager) keyed(ctx context.Context, q request) error {
	if q.observe || m.keys.settled.Load() {
		return nil
	}
	if err := m.keys.look(ctx, m.archive); err != nil && !m.goesOn(ctx, err) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &ArchiveError{Op: "read", Err: err}
	}
	if !q.dry {
		_, _ = m.keys.make(ctx, m.archive)
	}
	return ctx.Err()
}

// haveKey is asked before anything is stored: another process must know what this
// call compacts.
func (c *call) haveKey(ctx context.Context) error {
	if c.q.observe || c.m.keys.settled.Load() || c.s.late.missing() != nil {
		return nil
	}
	changed, err := c.m.keys.make(ctx, c.m.archive)
	if err == nil && changed {
		err = errKeyCame
	}
	if err != nil {
		return c.archiveFailed(ctx, "key", err)
	}
	return nil
}

// errKeyCame: who names things by one key can't go on with another.
var errKeyCame = errors.New("another process has given the archive a key meanwhile; the next call has it")

// sealed is what stands for a fingerprint outside of memory.
func (s *session) sealed(fp message.Fingerprint) message.Fingerprint {
	return message.Fingerprint(s.ring().Current().Seal(fp))
}

// ref is what a part, or a message, is called outside of memory.
func (s *session) ref(fp message.Fingerprint) string { return s.ring().Current().Ref(fp) }

// ErrConfiguredKey: the archive keys are configured, as those of a bucket have to
// be, so [Rekey] cannot add one. Add it to the configuration.
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
