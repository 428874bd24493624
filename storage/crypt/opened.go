package crypt

import (
	"crypto/sha256"
	"slices"
	"sync"

	"filippo.io/age"
)

// opened caches the file keys of objects by their headers, so that reading a log of
// many pieces does not need a key exchange for each.
type opened struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte][]byte
}

// maxOpened limits the number of cached keys. An object without one needs a key exchange.
const maxOpened = 8192

func (o *opened) add(header, fileKey []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys == nil || len(o.keys) >= maxOpened {
		o.keys = map[[sha256.Size]byte][]byte{}
	}
	o.keys[sha256.Sum256(header)] = slices.Clone(fileKey)
}

// identities returns the identities that open an object; header can be a prefix of
// the header.
func (o *opened) identities(k *Keys, header []byte) []age.Identity {
	o.mu.Lock()
	fileKey := o.keys[sha256.Sum256(header)]
	o.mu.Unlock()
	if fileKey != nil {
		return []age.Identity{age.NewInjectedFileKeyIdentity(fileKey)}
	}
	fileKey, err := age.DecryptHeader(header, k.with()...)
	if err != nil {
		return k.with() // decrypting with them reports the reason
	}
	o.add(header, fileKey)
	return []age.Identity{age.NewInjectedFileKeyIdentity(fileKey)}
}
