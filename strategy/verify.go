package strategy

import (
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A verdict counts the parts of a draft that verification removed.
type verdict struct {
	untrue   int // lines with an outcome that the source lacks
	foreign  int // constraints that no user typed
	invented int // identifiers and quotations that the source lacks
	lines    int // removed lines
}

// cutMark replaces an identifier that was cut from a sentence.
const cutMark = "[…]"

// verify removes from d every identifier and every quoted error that the source lacks. If
// the rest of a line says almost nothing, verify also removes the line.
func verify(d Document, src *source) (Document, verdict) {
	d = d.clone()
	var v verdict
	seen := map[string]bool{}
	d.all(func(lines []string) []string {
		kept := lines[:0]
		for _, l := range lines {
			out, ok := checkLine(l, src, &v, seen)
			if !ok {
				v.lines++
				continue
			}
			kept = append(kept, out)
		}
		return kept
	})
	return d, v
}

// A hit is a range of a line that the source lacks.
type hit struct{ start, end int }

func checkLine(line string, src *source, v *verdict, seen map[string]bool) (string, bool) {
	if title, entries, ok := strings.Cut(line, ": "); ok && listing(line) {
		return checkList(title, strings.Fields(entries), " ", src, v, seen)
	} else if ok && len(title) < 40 && strings.Contains(entries, ", ") && !strings.ContainsAny(entries, ".;") {
		return checkList(title, strings.Split(entries, ", "), ", ", src, v, seen)
	}
	hits, verified := inventedIn(line, src, v, seen)
	if len(hits) == 0 {
		return line, true
	}
	out := without(line, hits)
	return out, verified > 0 || contentWords(out) >= 4
}

// checkList keeps the entries of a list that the source confirms.
func checkList(title string, entries []string, sep string, src *source, v *verdict, seen map[string]bool) (string, bool) {
	kept := entries[:0]
	for _, e := range entries {
		hits, verified := inventedIn(e, src, v, seen)
		if len(hits) > 0 {
			if e = without(e, hits); verified == 0 && contentWords(e) < 4 {
				continue
			}
		}
		kept = append(kept, e)
	}
	if len(kept) == 0 {
		return "", false
	}
	return title + ": " + strings.Join(kept, sep), true
}

// inventedIn returns the identifiers and the quoted errors of a text that the source does
// not have, and the number of identifiers that the source has.
func inventedIn(s string, src *source, v *verdict, seen map[string]bool) (hits []hit, verified int) {
	ident.Scan(s, func(k ident.Kind, start, end int) {
		id := s[start:end]
		if src.has(k, id) {
			seen[id] = true
			verified++
			return
		}
		if !seen[id] {
			v.invented++
		}
		seen[id] = true
		hits = append(hits, widen(s, hit{start, end}))
	})
	for _, q := range quotations(s) {
		if text := s[q.start+1 : q.end-1]; !src.says(text) {
			if !seen[text] {
				v.invented++
			}
			seen[text] = true
			hits = append(hits, q)
		}
	}
	return hits, verified
}

// widen extends a hit by the quotes, backticks and parentheses that belong to the
// identifier.
func widen(s string, h hit) hit {
	if strings.HasPrefix(s[h.end:], "()") {
		h.end += 2
	}
	for h.start > 0 && h.end < len(s) {
		open, shut := s[h.start-1], s[h.end]
		if open == shut && (open == '`' || open == '"' || open == '\'') || open == '(' && shut == ')' {
			h.start--
			h.end++
			continue
		}
		break
	}
	return h
}

var errorWords = []string{"error", "fail", "exception", "cannot", "not found", "panic", "undefined", "denied", "refused", "invalid", "timeout", "unexpected"}

// maxQuotation is the maximum length of a quoted error, in bytes. A longer quotation is
// taken for somebody's words.
const maxQuotation = 160

// quotations finds errors that a line quotes: three words or more in quotation marks or
// backticks, with a word of failure. A quotation that contains brackets is a paraphrase
// and does not count.
func quotations(s string) []hit {
	var out []hit
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '"' && c != '`' {
			continue
		}
		end := strings.IndexByte(s[i+1:], c)
		if end < 0 {
			continue
		}
		text := s[i+1 : i+1+end]
		if len(text) <= maxQuotation && strings.Count(text, " ") >= 2 && strings.IndexByte(text, '[') < 0 && prose.HasAny(strings.ToLower(text), errorWords) {
			out = append(out, hit{i, i + end + 2})
		}
		i += end + 1
	}
	return out
}

// without replaces the hits in a line by cutMark and tidies the line.
func without(s string, hits []hit) string {
	cut := make([]bool, len(s))
	for _, h := range hits {
		for i := h.start; i < h.end; i++ {
			cut[i] = true
		}
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !cut[i] {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString(cutMark)
		for i+1 < len(s) && cut[i+1] {
			i++
		}
	}
	out := b.String()
	for _, twice := range []string{cutMark + cutMark, cutMark + " " + cutMark, cutMark + ", " + cutMark, cutMark + " and " + cutMark} {
		for strings.Contains(out, twice) {
			out = strings.ReplaceAll(out, twice, cutMark)
		}
	}
	return prose.Squash(out)
}

// contentWords counts the meaningful words.
func contentWords(s string) int {
	s = strings.ReplaceAll(s, cutMark, " ")
	n := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !fillers[w] && (len(w) > 2 || w[0] > 0x7f) {
			n++
		}
	}
	return n
}

var fillers = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and for with from into that this then than was were are has have had been its
		see also file files line lines open done blocked edited created deleted read named called about`) {
		m[w] = true
	}
	return m
}()
