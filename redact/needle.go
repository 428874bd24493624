package redact

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// needles holds values that were found somewhere, in the forms in which programs
// write them, in order to find them everywhere else.
type needles struct {
	list []needle // by form
	bits []uint64 // a filter on the hash of the first eight bytes
	mask uint64
	used byteSet // bytes of the forms
}

// needle is one form of a value.
type needle struct {
	form    string
	secret  string
	rule    *rule
	word    bool // the value matches only if no letter or digit is next to it
	spill   int  // number of bytes before and after the form that also hold bits of the secret
	shorter int  // index of the longest needle whose form is a prefix of this one, -1 if none
}

const (
	minNeedle = 8
	maxNeedle = 1 << 10
	wordUntil = 16 // a shorter value is only matched as a whole word
)

// spreads reports whether a found value should be searched for elsewhere. This is not so
// for a value that could be an ordinary word.
func spreads(secret string) bool {
	if len(secret) < minNeedle || len(secret) > maxNeedle || isIdentifier(secret) && !mixed(secret) && !isMadeUp(secret) || hasPlaceholder(secret) {
		return false
	}
	p := profileOf(secret)
	return distinct(secret) >= 5 && p.digits != len(secret) && p.blanks == 0 && !isNumbered(secret)
}

// newNeedles prepares the values that were found for the search. It returns nil if
// there is nothing to search for.
func newNeedles(found []span) *needles {
	n := &needles{}
	seen := map[string]bool{}
	for _, e := range found {
		if seen[e.secret] || !spreads(e.secret) {
			continue
		}
		seen[e.secret] = true
		n.addForms(e)
	}
	if len(n.list) == 0 {
		return nil
	}
	n.index()
	return n
}

// addForms adds the value of f, and its base64 forms. Escapes are decoded before
// the search.
func (n *needles) addForms(f span) {
	s := f.secret
	seen := make([]string, 0, 7)
	add := func(d needle) {
		if len(d.form) < minNeedle || slices.Contains(seen, d.form) {
			return
		}
		seen = append(seen, d.form)
		d.secret, d.rule = s, f.rule
		n.list = append(n.list, d)
		n.used.add(d.form)
	}
	add(needle{form: s, word: len(s) < wordUntil})
	for shift := range 3 {
		form := base64Form(s, shift)
		add(needle{form: form, spill: 1})
		add(needle{form: urlSafe.Replace(form), spill: 1})
	}
}

var urlSafe = strings.NewReplacer("+", "-", "/", "_")

// base64Form returns those characters of the base64 of a text that depend only on s, if
// shift bytes (modulo 3) precede s. The characters beside these also depend on the text
// around s.
func base64Form(s string, shift int) string {
	all := base64.StdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + s))
	from := (shift*8 + 5) / 6
	to := (shift + len(s)) * 8 / 6
	return all[from:to]
}

// index sorts the needles and builds the filter that find checks for each byte.
func (n *needles) index() {
	slices.SortFunc(n.list, func(a, b needle) int {
		return cmp.Or(strings.Compare(a.form, b.form), strings.Compare(a.secret, b.secret))
	})
	size := 1024
	for size < 64*len(n.list) {
		size *= 2
	}
	n.mask = uint64(size - 1)
	n.bits = make([]uint64, size/64)
	for i := range n.list {
		d := &n.list[i]
		h := hash8(eight(d.form, 0)) & n.mask
		n.bits[h/64] |= 1 << (h % 64)
		d.shorter = i - 1
		for d.shorter >= 0 && !strings.HasPrefix(d.form, n.list[d.shorter].form) {
			d.shorter = n.list[d.shorter].shorter
		}
	}
}

// find returns the needles in s, in order.
func (n *needles) find(s string) []span {
	var found []span
	for i := 0; i+minNeedle <= len(s); i++ {
		if h := hash8(eight(s, i)) & n.mask; n.bits[h/64]>>(h%64)&1 == 0 {
			continue
		}
		if d := n.at(s, i); d != nil {
			f := d.widen(s, i)
			found = append(found, f)
			i = f.end - 1
		}
	}
	return found
}

// at returns the longest needle that is in s at i. It is the last needle of the
// list that does not sort after the text, or a prefix of that needle.
func (n *needles) at(s string, i int) *needle {
	text := s[i:min(len(s), i+4*maxNeedle)]
	k, _ := slices.BinarySearchFunc(n.list, text, func(d needle, t string) int {
		if d.form <= t {
			return -1
		}
		return 1
	})
	for k--; k >= 0; k = n.list[k].shorter {
		if n.list[k].at(s, i) {
			return &n.list[k]
		}
	}
	return nil
}

// at reports whether the needle is in s at i.
func (d *needle) at(s string, i int) bool {
	end := i + len(d.form)
	if end > len(s) || s[i:end] != d.form {
		return false
	}
	return !d.word || !(i > 0 && isAlnum(s[i-1]) && isAlnum(s[i]) && !escaped(s, i)) && !(end < len(s) && isAlnum(s[end]) && isAlnum(s[end-1]))
}

// widen returns the span of the form at i, with the characters beside a base64
// form.
func (d *needle) widen(s string, i int) span {
	from, to := i, i+len(d.form)
	for range d.spill {
		if from > 0 && isBase64(s[from-1]) {
			from--
		}
		if to < len(s) && isBase64(s[to]) {
			to++
		}
	}
	for to < len(s) && d.spill > 0 && s[to] == '=' {
		to++
	}
	return span{start: from, end: to, rule: d.rule, secret: d.secret}
}

// eight reads eight bytes.
func eight(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func hash8(k uint64) uint64 {
	k *= 0x9E3779B97F4A7C15
	return k >> 32
}
