package crypt

import (
	"crypto/sha256"
	"slices"
	"sync"

	"filippo.io/age"
)

// opened remembers the keys of objects that were written or read, by their whole
// header, so that a log of many pieces costs its bytes and not an exchange of keys a
// piece.
type opened struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte][]byte
}

// maxOpened bounds the memory of opened; what is forgotten costs an exchange.
const maxOpened = 8192

func (o *opened) add(header, fileKey []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys == nil || len(o.keys) >= maxOpened {
		o.keys = map[[sha256.Size]byte][]byte{}
	}
	o.keys[sha256.Sum256(header)] = slices.Clone(fileKey)
}

// identities returns what opens an object with this header, which need not be all of
// it.
func (o *opened) identities(k *Keys, header []byte) []age.Identity {
	o.mu.Lock()
	fileKey := o.keys[sha256.Sum256(header)]
	o.mu.Unlock()
	if fileKey != nil {
		return []age.Identity{age.NewInjectedFileKeyIdentity(fileKey)}
	}
	fileKey, err := age.DecryptHeader(header, k.with()...)
	if err != nil {
		return k.with() // which says why, too
	}
	o.add(header, fileKey)
	return []age.Identity{age.NewInjectedFileKeyIdentity(fileKey)}
}
