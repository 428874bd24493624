package redact

import "strings"

// document is one text, or one JSON value, in one pass.
type document struct {
	sc     *scan
	known  finder  // only these are looked for, where there are any
	mem    *memory // of the session that the text belongs to
	names  *names  // of that session
	again  bool    // it was JSON in the pass before, and strings without a placeholder were found clean
	json   bool    // the text is said to be JSON: it may be a mere string or number
	record bool    // digests are left alone
	only   *string // the one member of the outermost object to look at
	level  int     // how many strings this text is inside of
}

// A finder finds what is known.
type finder interface{ find(s string) []span }

// maxLevel bounds how deep JSON in a string in JSON is followed.
const maxLevel = 8

// all returns what is to be replaced in s, in order and without overlaps: what
// the rules find, and the same values wherever else they stand.
func (d *document) all(s string) []span {
	found := d.look(s)
	if d.known = d.elsewhere(found); d.known == nil {
		return found
	}
	found = join(append(found, d.look(s)...))
	d.known = nil
	return found
}

// elsewhere returns what is to be looked for beside what the rules found, nil
// if there is nothing.
func (d *document) elsewhere(found []span) finder {
	if d.mem != nil {
		d.mem.learn(d.sc.r, found)
		if d.mem.empty() {
			return nil
		}
		return d.mem
	}
	if n := newNeedles(found); n != nil {
		return n
	}
	return nil
}

// look is one look at s, with the rules or for what is known.
func (d *document) look(s string) []span {
	found, ok := d.walk(s)
	d.again = ok
	if ok {
		return join(found)
	}
	var all []span
	for _, f := range d.find(s) {
		if !d.names.hold(s, f) {
			all = append(all, f.in(s))
		}
	}
	return all
}

// find returns the secrets of a text that is no JSON. The slice is only good
// until the next call.
func (d *document) find(s string) []span {
	if d.known != nil {
		return d.known.find(s)
	}
	return d.sc.find(s)
}

// walk reads s as JSON. ok is false if it is not, or if it cannot be anything
// but text.
func (d *document) walk(s string) (found []span, ok bool) {
	if d.level >= maxLevel || !d.json && !looksLikeJSON(s) {
		return nil, false
	}
	w := walker{d: d, s: s, muted: d.only != nil}
	if !w.whole() {
		return nil, false
	}
	return w.found, true
}

// looksLikeJSON reports whether s begins and ends like an object or an array.
func looksLikeJSON(s string) bool {
	t := strings.TrimSpace(s)
	if len(t) < 2 {
		return false
	}
	return t[0] == '{' && t[len(t)-1] == '}' || t[0] == '[' && t[len(t)-1] == ']'
}
