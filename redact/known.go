package redact

import (
	"slices"
	"strings"
)

// Known finds known secrets in the forms in which programs write them: unchanged, in
// JSON, URLs and HTML, also nested in each other, and in base64 without line breaks.
// Escapes such as \x41 are not decoded. The zero value knows no secrets.
type Known struct {
	forms map[string][]needle // by their first four bytes
	bits  [1 << 8]uint64      // a filter on the first four bytes
	used  byteSet             // bytes of the forms
}

// MinKnown is the length of the shortest secret that a [Known] finds.
const MinKnown = 4

// deepest is the depth to which a Known searches. The first level is the line of an archive,
// which is JSON itself.
var deepest = depth{json: 6, url: 2}

// Add adds a secret. A secret of fewer than [MinKnown] bytes is never found.
func (k *Known) Add(secret string) {
	if len(secret) < MinKnown {
		return
	}
	if k.forms == nil {
		k.forms = map[string][]needle{}
	}
	k.add(needle{form: secret})
	k.add(needle{form: strings.ReplaceAll(secret, " ", "+")})
	for shift := range 3 {
		form := base64Form(secret, shift)
		k.add(needle{form: form, spill: 1})
		k.add(needle{form: urlSafe.Replace(form), spill: 1})
	}
}

func (k *Known) add(d needle) {
	first := d.form[:MinKnown]
	if slices.Contains(k.forms[first], d) {
		return
	}
	k.forms[first] = append(k.forms[first], d)
	h := hash4(first)
	k.bits[h/64] |= 1 << (h % 64)
	k.used.add(d.form)
}

// Find returns the positions of the secrets in s, which is JSON or a part of it, as
// offsets, in order and without overlaps. It treats an escape as a unit: the n of \n
// does not begin a secret. If a match of a decoded form begins within an escape, Find
// returns the match without that escape, because another secret may overlap. If a
// secret ends within an escape, Find returns its position with the whole escape.
func (k *Known) Find(s string) (places [][2]int) {
	cut := cutsOf(s)
	found := k.scan(s, cut)
	for _, f := range inside(s, k, &k.used, deepest) {
		for cut.has(f.start) {
			f.start++
		}
		for cut.has(f.end) {
			f.end++
		}
		if f.start < f.end {
			found = append(found, f)
		}
	}
	for _, f := range join(found) {
		places = append(places, [2]int{f.start, f.end})
	}
	return places
}

// cuts is the set of offsets that are within an escape.
type cuts []uint64

func (c cuts) has(i int) bool { return i/64 < len(c) && c[i/64]>>(i%64)&1 != 0 }

func cutsOf(s string) cuts {
	c := make(cuts, len(s)/64+1)
	for at := 0; ; {
		next := strings.IndexByte(s[at:], '\\')
		if next < 0 {
			return c
		}
		at += next
		end := at + max(1, escapeLength(s[at:]))
		for at++; at < end; at++ {
			c[at/64] |= 1 << (at % 64)
		}
	}
}

// find implements [finder].
func (k *Known) find(s string) []span { return k.scan(s, nil) }

// scan returns the places of the secrets in s, except those that begin or end at cut. It
// joins overlapping positions immediately, because there may be one at each byte.
func (k *Known) scan(s string, cut cuts) (found []span) {
	for i := 0; i+MinKnown <= len(s); i++ {
		first := s[i : i+MinKnown]
		if h := hash4(first); k.bits[h/64]>>(h%64)&1 == 0 {
			continue
		}
		for _, d := range k.forms[first] {
			if !strings.HasPrefix(s[i:], d.form) {
				continue
			}
			f := d.widen(s, i)
			if cut.has(f.start) || cut.has(f.end) {
				continue
			}
			f.rule = knownRule
			if n := len(found); n > 0 && f.start < found[n-1].end && f.start >= found[n-1].start {
				found[n-1].take(f)
				continue
			}
			found = append(found, f)
		}
	}
	return found
}

var knownRule = &rule{id: "known", kind: "secret"}

// hash4 returns 14 bits of a hash of the first four bytes of s.
func hash4(s string) uint32 {
	k := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	return k * 0x9E3779B1 >> 18
}
