package seal

import (
	"slices"
	"strings"
	"sync"
)

// A Ring is the keys that a process has for an archive. It is safe for concurrent
// use. The nil Ring has none: what it is asked to open stays closed.
type Ring struct {
	folder string // where keys lie that are asked for by their ids; "" = nowhere

	mu      sync.Mutex
	current *Sealer
	root    *Sealer
	all     map[string]*Sealer // by id; nil = it is not to be had
}

// NewRing returns a ring of keys, the newest first, of which there must be one.
// Others are looked for in a folder, unless that is "".
func NewRing(folder string, keys ...Key) *Ring {
	r := &Ring{folder: folder, all: map[string]*Sealer{}}
	r.Use(keys[0], keys[1:]...)
	return r
}

// Use puts keys in front of those that the ring has, the newest first.
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

// Current is what new things are sealed with.
func (r *Ring) Current() *Sealer {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// Root is the oldest key. Names are made with it, so that a newer key renames
// nothing.
func (r *Ring) Root() *Sealer {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.root
}

// ByID returns what opens things that were sealed with a key, and false where the
// key is not to be had. The id "" is that of things that were not sealed.
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

// All returns every key that the ring has by now in the order of their ids, behind
// nil, which is for things that were not sealed.
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
