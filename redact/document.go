package redact

import "strings"

// document is one text, or one JSON value, in one pass.
type document struct {
	sc     *scan
	known  finder  // if not nil, only these values are searched for
	used   byteSet // bytes of known
	mem    *memory // memory of the session that the text belongs to
	names  *names  // names of that session
	again  bool    // it was JSON in the previous pass, and strings without a placeholder were found clean
	json   bool    // the caller states that the text is JSON, so it may be a mere string or number
	record bool    // digests are not redacted
	only   *string // only this member of the outermost object is searched
	level  int     // number of strings in which this text is nested
}

// A finder finds values that are already known.
type finder interface{ find(s string) []span }

// maxLevel is the maximum depth of JSON in strings in JSON.
const maxLevel = 8

// all returns the spans of s to replace, in order and without overlaps: those
// that the rules find, and the same values elsewhere in s.
func (d *document) all(s string) []span {
	found := d.look(s)
	if d.known = d.elsewhere(found); d.known == nil {
		return found
	}
	found = join(append(found, d.look(s)...))
	d.known = nil
	return found
}

// elsewhere returns the finder for further occurrences of known values, nil if
// no value is known.
func (d *document) elsewhere(found []span) finder {
	if d.mem != nil {
		d.mem.learn(d.sc.r, found)
		if d.mem.empty() {
			return nil
		}
		d.used = d.mem.used()
		return d.mem
	}
	if n := newNeedles(found); n != nil {
		d.used = n.used
		return n
	}
	return nil
}

// look searches s once, with the rules or for known values.
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

// find returns the secrets of a text that is not JSON. The slice is valid until
// the next call.
func (d *document) find(s string) []span {
	if d.known != nil {
		return d.findKnown(s)
	}
	return d.sc.find(s)
}

// findKnown returns the known values in s, in any spelling. A text that is JSON as a
// whole is decoded first.
func (d *document) findKnown(s string) []span {
	return spelled(s, d.known, &d.used, depth{json: 3, url: 1})
}

// walk reads s as JSON. ok is false if s is not JSON or is to be read as text.
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
