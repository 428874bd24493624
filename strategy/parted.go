package strategy

import (
	"crypto/sha256"
	"sync"
)

// mostParted is the number of portions in one generation of [parted]: 200 kB.
const mostParted = 4096

// parted keeps the portions of texts that were cut. Every step of a session cuts the same
// messages of the user again, some of them several times. It holds no text, only hashes and
// offsets, and is safe for concurrent use.
type parted struct {
	mu       sync.Mutex
	now, old map[[sha256.Size]byte][]portion // a text that is not used during one generation is dropped with the next
	size     int                             // portions in now
}

// cutTexts are the portions that all summaries of the process share.
var cutTexts parted

// of returns the portions of a text, which must not be modified.
func (k *parted) of(s string) []portion {
	key := sha256.Sum256([]byte(s))
	k.mu.Lock()
	all, ok := k.now[key]
	if !ok {
		all, ok = k.old[key]
		if ok {
			k.add(key, all)
		}
	}
	k.mu.Unlock()
	if ok {
		return all
	}
	all = portionsOf(s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(key, all)
	return all
}

// add remembers the portions of a text, unless they would fill a generation alone.
func (k *parted) add(key [sha256.Size]byte, all []portion) {
	n := len(all) + 1
	if n > mostParted {
		return
	}
	if k.now == nil || k.size+n > mostParted {
		k.now, k.old, k.size = map[[sha256.Size]byte][]portion{}, k.now, 0
	}
	k.now[key] = all
	k.size += n
}
