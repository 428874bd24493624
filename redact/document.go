package redact

import (
	"cmp"
	"slices"
	"strings"
)

// edit is a secret to be replaced: document[start:end].
type edit struct {
	start, end int
	rule       *rule
	secret     string // decoded
	quote      string // to be written around the placeholder, where a number stood
}

// document is one text, or one JSON value, in one pass.
type document struct {
	sc     *scan
	known  *needles // only these are looked for, where there are any
	again  bool     // what has no placeholder in it was found clean in the pass before
	json   bool     // the text is said to be JSON: it may be a mere string or number
	record bool     // digests are left alone
	only   *string  // the one member of the outermost object to look at
	level  int      // how many strings this text is inside of
}

// maxLevel bounds how deep JSON in a string in JSON is followed.
const maxLevel = 8

// all returns what is to be replaced in s, in order and without overlaps: what
// the rules find, and the same values wherever else they stand.
func (d *document) all(s string) []edit {
	edits := d.edits(s)
	if len(edits) == 0 {
		return nil
	}
	if d.known = newNeedles(edits); d.known == nil {
		return edits
	}
	edits = settleEdits(append(edits, d.edits(s)...))
	d.known = nil
	return edits
}

// edits is one look at s, with the rules or for what is known.
func (d *document) edits(s string) []edit {
	if found, ok := d.walk(s); ok {
		return settleEdits(found)
	}
	var edits []edit
	for _, f := range d.find(s) {
		edits = append(edits, f.edit(s))
	}
	return edits
}

// find returns the secrets of a text that is no JSON. The slice is only good
// until the next call.
func (d *document) find(s string) []span {
	if d.known != nil {
		return d.known.find(s)
	}
	return d.sc.find(s)
}

// edit makes an edit of a span of s.
func (f span) edit(s string) edit {
	e := edit{start: f.start, end: f.end, rule: f.rule, secret: f.secret}
	if e.secret == "" {
		e.secret = s[f.start:f.end]
	}
	return e
}

// walk reads s as JSON. ok is false if it is not, or if it cannot be anything
// but text.
func (d *document) walk(s string) (found []edit, ok bool) {
	if d.level >= maxLevel || !d.json && !looksLikeJSON(s) {
		return nil, false
	}
	w := walker{d: d, s: s, muted: d.only != nil}
	if !w.whole() {
		return nil, false
	}
	return w.edits, true
}

// looksLikeJSON reports whether s begins and ends like an object or an array.
func looksLikeJSON(s string) bool {
	t := strings.TrimSpace(s)
	if len(t) < 2 {
		return false
	}
	return t[0] == '{' && t[len(t)-1] == '}' || t[0] == '[' && t[len(t)-1] == ']'
}

// settleEdits sorts edits and joins those that overlap.
func settleEdits(edits []edit) []edit {
	sorted := slices.IsSortedFunc(edits, compareEdits)
	if !sorted {
		slices.SortStableFunc(edits, compareEdits)
	}
	joined := edits[:0]
	for _, e := range edits {
		if n := len(joined); n > 0 && e.start < joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, e.end)
			if e.rule.rank > joined[n-1].rule.rank {
				joined[n-1].rule = e.rule
			}
			continue
		}
		joined = append(joined, e)
	}
	return joined
}

func compareEdits(a, b edit) int {
	return cmp.Or(a.start-b.start, b.end-a.end, int(b.rule.rank)-int(a.rule.rank))
}
