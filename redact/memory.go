package redact

import (
	"hash/maphash"
	"slices"
	"sync"
)

// memory knows secrets that were found before without keeping them: of each
// form that one may stand in, the length and a hash under a key of its own. It
// is safe for concurrent use.
type memory struct {
	seed maphash.Seed
	mul  uint64 // of the filter, odd

	mu            sync.RWMutex
	recent, older *generation // what is known; older goes when recent is full
}

// maxRemembered bounds the secrets in each of the two generations.
const maxRemembered = 512

type generation struct {
	secrets map[uint64]bool
	forms   map[uint64][]trace // by the hash of the first eight bytes
	bits    [1 << 10]uint64    // a filter on them
}

// trace is what is left of one form of a secret.
type trace struct {
	size  int
	hash  uint64
	rule  *rule
	stand string // the placeholder
	word  bool
	spill int
}

func newMemory() *memory {
	m := &memory{seed: maphash.MakeSeed()}
	m.mul = maphash.String(m.seed, "filter") | 1
	return m
}

// learn remembers the secrets that are worth looking for elsewhere.
func (m *memory) learn(r *Redactor, found []span) {
	for _, f := range found {
		if !spreads(f.secret) {
			continue
		}
		h := maphash.String(m.seed, f.secret)
		m.mu.RLock()
		known := m.recent != nil && m.recent.secrets[h]
		m.mu.RUnlock()
		if !known {
			m.add(h, f, r.placeholder(f))
		}
	}
}

func (m *memory) add(h uint64, f span, stand string) {
	var forms needles
	forms.addForms(f)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil || len(m.recent.secrets) >= maxRemembered {
		m.older, m.recent = m.recent, &generation{secrets: map[uint64]bool{}, forms: map[uint64][]trace{}}
	}
	g := m.recent
	g.secrets[h] = true
	for _, d := range forms.list {
		first := maphash.String(m.seed, d.form[:minNeedle])
		g.forms[first] = append(g.forms[first], trace{
			size: len(d.form), hash: maphash.String(m.seed, d.form), rule: f.rule, stand: stand, word: d.word, spill: d.spill,
		})
		slices.SortFunc(g.forms[first], func(a, b trace) int { return b.size - a.size })
		bit := m.bit(eight(d.form, 0))
		g.bits[bit/64] |= 1 << (bit % 64)
	}
}

// bit is where the filter keeps eight bytes.
func (m *memory) bit(k uint64) uint64 { return k * m.mul >> 48 }

func (m *memory) empty() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recent == nil
}

// find returns where the secrets are in s, in order.
func (m *memory) find(s string) []span {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.recent == nil {
		return nil
	}
	var found []span
	for i := 0; i+minNeedle <= len(s); i++ {
		bit := m.bit(eight(s, i))
		if m.recent.bits[bit/64]>>(bit%64)&1 == 0 && (m.older == nil || m.older.bits[bit/64]>>(bit%64)&1 == 0) {
			continue
		}
		if f, ok := m.at(s, i); ok {
			found = append(found, f)
			i = f.end - 1
		}
	}
	return found
}

// at returns the longest known form that is in s at i.
func (m *memory) at(s string, i int) (span, bool) {
	first := maphash.String(m.seed, s[i:i+minNeedle])
	for _, g := range [...]*generation{m.recent, m.older} {
		if g == nil {
			continue
		}
		for k := range g.forms[first] {
			t := &g.forms[first][k]
			if i+t.size > len(s) || maphash.String(m.seed, s[i:i+t.size]) != t.hash {
				continue
			}
			if d := (needle{form: s[i : i+t.size], word: t.word, spill: t.spill, rule: t.rule}); d.at(s, i) {
				f := d.widen(s, i)
				f.stand = t.stand
				return f, true
			}
		}
	}
	return span{}, false
}
