// Package recent remembers recently used entries.
package recent

// A Map forgets the entries that were neither put nor found for a while, so it
// stays small in a long-running process. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	size          int
	recent, older map[K]V
}

// New returns a map that remembers at least the size entries used last, and at
// most twice as many. Size is at least 1.
func New[K comparable, V any](size int) *Map[K, V] {
	return &Map[K, V]{size: size, recent: map[K]V{}}
}

// Put remembers v under key.
func (m *Map[K, V]) Put(key K, v V) {
	if _, there := m.recent[key]; !there && len(m.recent) >= m.size {
		m.older, m.recent = m.recent, map[K]V{}
	}
	m.recent[key] = v
}

// Find returns the value of key, if the map still holds it. A found entry
// counts as used.
func (m *Map[K, V]) Find(key K) (V, bool) {
	if v, ok := m.recent[key]; ok {
		return v, true
	}
	v, ok := m.older[key]
	if ok {
		m.Put(key, v)
	}
	return v, ok
}
