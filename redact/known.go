package redact

import (
	"slices"
	"strings"
)

// Known finds secrets that are known in every form in which programs write them:
// as they are, in JSON, URLs and HTML, also nested in each other, and in base64.
// The zero value knows none.
type Known struct {
	forms map[string][]needle // by their first four bytes
	bits  [1 << 8]uint64      // a filter on these
	used  byteSet             // bytes of the forms
}

// MinKnown is the length of the shortest secret that a [Known] finds.
const MinKnown = 4

// deepest is how deep a Known looks: a line of an archive is JSON itself.
var deepest = depth{json: 6, url: 2}

// Add adds a secret. One of fewer than [MinKnown] bytes is never found.
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

// Find returns where the secrets are in s, which is JSON or a part of it, as offsets,
// in order and without overlaps. It takes escapes as a whole: the n of \n begins no
// secret.
func (k *Known) Find(s string) (places [][2]int) {
	for _, f := range join(append(uncut(s, k.find(s)), inside(s, k, &k.used, deepest)...)) {
		places = append(places, [2]int{f.start, f.end})
	}
	return places
}

// uncut returns those of found that neither begin nor end inside of an escape.
func uncut(s string, found []span) []span {
	slices.SortFunc(found, compareSpans)
	kept, at := found[:0], 0
	for _, f := range found {
		if at = unescaped(s, at, f.start); at == f.start && unescaped(s, at, f.end) == f.end {
			kept = append(kept, f)
		}
	}
	return kept
}

// unescaped returns the first offset from to on that is not inside of an escape.
// at is not, either.
func unescaped(s string, at, to int) int {
	for at < to {
		i := strings.IndexByte(s[at:to], '\\')
		if i < 0 {
			return to
		}
		at += i + max(1, escapeLength(s[at+i:]))
	}
	return at
}

// find implements [finder].
func (k *Known) find(s string) (found []span) {
	for i := 0; i+MinKnown <= len(s); i++ {
		first := s[i : i+MinKnown]
		if h := hash4(first); k.bits[h/64]>>(h%64)&1 == 0 {
			continue
		}
		for _, d := range k.forms[first] {
			if strings.HasPrefix(s[i:], d.form) {
				f := d.widen(s, i)
				f.rule = knownRule
				found = append(found, f)
			}
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
