package redact

import (
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
	record bool // digests are left alone
	level  int  // how many strings this text is inside of
}

// maxLevel bounds how deep JSON in a string in JSON is followed.
const maxLevel = 8

// edits returns what is to be replaced in s, in order and without overlaps.
func (d *document) edits(s string) []edit {
	if found, ok := d.walk(s); ok {
		return settleEdits(found)
	}
	return d.textEdits(s)
}

// textEdits is edits of a text that is no JSON.
func (d *document) textEdits(s string) []edit {
	return appendSpans(nil, s, d.sc.find(s))
}

func appendSpans(edits []edit, s string, found []span) []edit {
	for _, f := range found {
		edits = append(edits, edit{start: f.start, end: f.end, rule: f.rule, secret: s[f.start:f.end]})
	}
	return edits
}

// walk reads s as JSON. ok is false if it is not, or if it cannot be anything
// but text.
func (d *document) walk(s string) (found []edit, ok bool) {
	if d.level >= maxLevel || !looksLikeJSON(s) {
		return nil, false
	}
	w := walker{d: d, s: s}
	for {
		if w.i = skipSpaces(s, w.i); w.i >= len(s) {
			return w.edits, true
		}
		if !w.value("", nil, 0) {
			return nil, false
		}
	}
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
			if e.rule.specific && !joined[n-1].rule.specific {
				joined[n-1].rule = e.rule
			}
			continue
		}
		joined = append(joined, e)
	}
	return joined
}

func compareEdits(a, b edit) int {
	if a.start != b.start {
		return a.start - b.start
	}
	return b.end - a.end
}
