package redact

import (
	"hash/maphash"
	"slices"
	"sync"
)

// memory recognizes secrets that were found earlier, without storing them. For
// each form in which a secret may be written, it stores the length and a hash
// with a random key. It is safe for concurrent use.
type memory struct {
	seed maphash.Seed
	mul  uint64 // multiplier of the filter, odd
	base uint64 // base of the rolling hash, odd

	mu            sync.RWMutex
	recent, older *generation // known secrets; when recent is full, it replaces older
}

// maxRemembered bounds the secrets in each of the two generations.
const maxRemembered = 512

type generation struct {
	secrets map[uint64]bool
	forms   map[uint64][]form // hash of the first eight bytes → lengths of the forms that begin with them, longest first
	traces  map[mark]trace
	bits    [1 << 10]uint64 // a filter on the first eight bytes
	used    byteSet         // bytes of the forms
}

// form is a length of known forms, with the power of the base for this length.
type form struct {
	size  int
	power uint64
}

// mark identifies a form before its keyed hash is compared.
type mark struct {
	size int
	sum  uint64
}

// trace is the stored data of one form of a secret.
type trace struct {
	hash  uint64
	rule  *rule
	stand string // the placeholder
	word  bool
	spill int
}

func newMemory() *memory {
	m := &memory{seed: maphash.MakeSeed()}
	m.mul = maphash.String(m.seed, "filter") | 1
	m.base = maphash.String(m.seed, "base") | 1
	return m
}

// learn stores the secrets that should be searched for elsewhere.
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
		m.older, m.recent = m.recent, &generation{secrets: map[uint64]bool{}, forms: map[uint64][]form{}, traces: map[mark]trace{}}
	}
	g := m.recent
	g.secrets[h] = true
	for i := range g.used {
		g.used[i] |= forms.used[i]
	}
	for _, d := range forms.list {
		sum, power := m.sum(d.form)
		g.traces[mark{len(d.form), sum}] = trace{hash: maphash.String(m.seed, d.form), rule: f.rule, stand: stand, word: d.word, spill: d.spill}
		g.addForm(maphash.String(m.seed, d.form[:minNeedle]), form{len(d.form), power})
		bit := m.bit(eight(d.form, 0))
		g.bits[bit/64] |= 1 << (bit % 64)
	}
}

// addForm adds a length to the lengths of the forms with the same first eight bytes.
func (g *generation) addForm(first uint64, f form) {
	i, found := slices.BinarySearchFunc(g.forms[first], f.size, func(a form, size int) int { return size - a.size })
	if !found {
		g.forms[first] = slices.Insert(g.forms[first], i, f)
	}
}

// sum returns the rolling hash of s, and the power of the base for its length.
func (m *memory) sum(s string) (sum, power uint64) {
	power = 1
	for i := range len(s) {
		sum = sum*m.base + uint64(s[i]) + 1
		power *= m.base
	}
	return sum, power
}

// sums returns the rolling hash of s[:i] for every i.
func (m *memory) sums(s string) []uint64 {
	all := make([]uint64, len(s)+1)
	for i := range len(s) {
		all[i+1] = all[i]*m.base + uint64(s[i]) + 1
	}
	return all
}

// bit returns the bit of the filter for eight bytes.
func (m *memory) bit(k uint64) uint64 { return k * m.mul >> 48 }

// used returns the bytes of all forms.
func (m *memory) used() byteSet {
	m.mu.RLock()
	defer m.mu.RUnlock()
	used := m.recent.used
	if m.older != nil {
		for i := range used {
			used[i] |= m.older.used[i]
		}
	}
	return used
}

func (m *memory) empty() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recent == nil
}

// find returns the secrets in s, in order. If a crafted text looks like the
// beginning of many secrets, the search ends after a limit and the rest of the
// text is treated as a secret.
func (m *memory) find(s string) []span {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.recent == nil {
		return nil
	}
	var found []span
	l := lookup{m: m, s: s, budget: 8*len(s) + 1<<18}
	for i := 0; i+minNeedle <= len(s); i++ {
		bit := m.bit(eight(s, i))
		if m.recent.bits[bit/64]>>(bit%64)&1 == 0 && (m.older == nil || m.older.bits[bit/64]>>(bit%64)&1 == 0) {
			continue
		}
		if f, ok := l.at(i); ok {
			found = append(found, f)
			i = f.end - 1
		}
		if l.budget < 0 {
			return append(found, span{start: i + 1, end: len(s), rule: unscannedRule})
		}
	}
	return found
}

// lookup is one search in one text.
type lookup struct {
	m      *memory
	s      string
	sums   []uint64 // computed if many forms are tried
	single int      // number of bytes hashed without sums
	budget int      // number of lengths to try and bytes to hash before the search gives up
}

// at returns the longest known form that is in the text at i.
func (l *lookup) at(i int) (span, bool) {
	first := maphash.String(l.m.seed, l.s[i:i+minNeedle])
	for _, g := range [...]*generation{l.m.recent, l.m.older} {
		if g == nil {
			continue
		}
		for _, f := range g.forms[first] {
			if l.budget--; i+f.size > len(l.s) {
				continue
			}
			if found, ok := l.try(g, i, f); ok {
				return found, true
			}
		}
	}
	return span{}, false
}

// sum returns the rolling hash of the bytes at i that a form has. The sums of the whole
// text are only computed if many forms are tried.
func (l *lookup) sum(i int, f form) uint64 {
	if l.sums == nil {
		if l.single += f.size; l.single < len(l.s)/4 {
			sum, _ := l.m.sum(l.s[i : i+f.size])
			return sum
		}
		l.sums = l.m.sums(l.s)
	}
	return l.sums[i+f.size] - l.sums[i]*f.power
}

// try reports whether a form of that length is in the text at i.
func (l *lookup) try(g *generation, i int, f form) (span, bool) {
	t, ok := g.traces[mark{f.size, l.sum(i, f)}]
	if !ok {
		return span{}, false
	}
	text := l.s[i : i+f.size]
	l.budget -= f.size
	d := needle{form: text, word: t.word, spill: t.spill, rule: t.rule}
	if maphash.String(l.m.seed, text) != t.hash || !d.at(l.s, i) {
		return span{}, false
	}
	found := d.widen(l.s, i)
	found.stand = t.stand
	return found, true
}
