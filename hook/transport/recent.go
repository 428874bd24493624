package transport

import "sync"

// recent is a bounded map that keeps the keys used last. It is safe for
// concurrent use.
type recent[K comparable, V any] struct {
	limit int

	mu       sync.Mutex
	now, old map[K]V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, now: map[K]V{}}
}

// get returns the value of a key, or zero.
func (r *recent[K, V]) get(k K) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known(k)
}

// update replaces the value of a key by the result of f, and returns it.
func (r *recent[K, V]) update(k K, f func(had V) V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := f(r.known(k))
	r.set(k, v)
	return v
}

// first adds a key, and reports whether it was new.
func (r *recent[K, V]) first(k K) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, now := r.now[k]
	_, old := r.old[k]
	r.set(k, r.known(k))
	return !now && !old
}

// has reports whether a key is known.
func (r *recent[K, V]) has(k K) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, now := r.now[k]
	_, old := r.old[k]
	if old && !now {
		r.set(k, r.old[k])
	}
	return now || old
}

// some reports whether there is any key.
func (r *recent[K, V]) some() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.now)+len(r.old) > 0
}

// known implements get; the caller holds mu.
func (r *recent[K, V]) known(k K) V {
	if v, ok := r.now[k]; ok {
		return v
	}
	v, ok := r.old[k]
	if ok {
		r.set(k, v)
	}
	return v
}

// set stores a value as the last used value; the caller holds mu.
func (r *recent[K, V]) set(k K, v V) {
	if _, ok := r.now[k]; !ok && len(r.now) >= r.limit {
		r.now, r.old = map[K]V{}, r.now
	}
	r.now[k] = v
}
