package seal

import (
	"slices"
	"strings"
	"sync"
)

// A Ring holds the keys of a process for an archive. It is safe for concurrent
// use. The nil Ring has no keys.
type Ring struct {
	folder string // folder of further keys by id; "" = none

	mu      sync.Mutex
	current *Sealer
	root    *Sealer
	all     map[string]*Sealer // by id; nil = not available
}

// NewRing returns a ring of at least one key, the newest first. Other keys are looked
// up in a folder, unless folder is "".
func NewRing(folder string, keys ...Key) *Ring {
	r := &Ring{folder: folder, all: map[string]*Sealer{}}
	r.Use(keys[0], keys[1:]...)
	return r
}

// Use adds keys, the newest first: newest becomes the current key, and the last key
// becomes the root. Earlier keys of the ring can still open data.
func (r *Ring) Use(newest Key, older ...Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = r.add(newest)
	r.root = r.current
	for _, k := range older {
		r.root = r.add(k)
	}
}

func (r *Ring) add(k Key) *Sealer {
	s := New(k)
	r.all[s.id] = s
	return s
}

// Current returns the Sealer for new data.
func (r *Ring) Current() *Sealer {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// Root returns the Sealer of the oldest key of the last [Ring.Use]. Names use it,
// so that a new key does not change them.
func (r *Ring) Root() *Sealer {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.root
}

// ByID returns the Sealer of a key, and false if the key is not available. The id
// "" stands for unsealed data.
func (r *Ring) ByID(id string) (*Sealer, bool) {
	if id == "" {
		return nil, true
	}
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, asked := r.all[id]
	if !asked {
		if k, err := ReadKey(r.folder, id); err == nil {
			s = New(k)
		}
		r.all[id] = s
	}
	return s, s != nil
}

// All returns the Sealers of all available keys in the order of their ids. The first
// element is nil, which stands for unsealed data.
func (r *Ring) All() []*Sealer {
	all := []*Sealer{nil}
	if r == nil {
		return all
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if s != nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all[1:], func(a, b *Sealer) int { return strings.Compare(a.id, b.id) })
	return all
}
