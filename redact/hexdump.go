package redact

import "strings"

// hexWords lists the beginnings of names in hexadecimal, as dumps of memory and of packets
// show them.
var hexWords = []string{"70 61 73 73", "50 41 53 53", "73 65 63 72 65", "53 45 43 52 45", "74 6f 6b 65 6e", "54 4f 4b 45 4e", "7061 7373", "7365 6372", "746f 6b65"}

const (
	maxDumped   = 6  // lines of a dump that are read as one text
	maxDumpLine = 60 // bytes in one line of a dump
)

// dumped reads the lines of a dump as bytes, beginning with the line of the hit, and adds
// the numbers of the bytes that are a secret.
func (sc *scan) dumped(start, _ int) {
	s := sc.s
	from := max(lineStart(s, start), sc.dumpEnd)
	if start < sc.dumpEnd || sc.level >= maxViews {
		return
	}
	var v view
	for range maxDumped {
		to := from + lineLength(s[from:min(len(s), from+maxContext)])
		sc.spend(4 * (to - from))
		if !v.addDump(s, from, to) || to+1 >= len(s) {
			from = to
			break
		}
		from = to + 1
	}
	sc.dumpEnd = from
	for _, f := range sc.within(string(v.text)) {
		for i := f.start; i < f.end; {
			k := i + 1
			for k < f.end && v.from[k] <= v.to[k-1]+2 && v.from[k] >= v.from[k-1] {
				k++
			}
			sc.add(v.from[i], v.to[k-1], f.rule)
			if text := asciiColumn(s, v, i); text > 0 {
				sc.add(text, text+k-i, f.rule)
			}
			i = k
		}
	}
}

// asciiColumn returns the position at which the column beside the numbers of a dump shows
// the i-th byte of v, 0 if there is no such column.
func asciiColumn(s string, v view, i int) int {
	line, first, n := lineStart(s, v.from[i]), i, i
	for first > 0 && v.from[first-1] >= line {
		first--
	}
	end := v.from[i] + lineLength(s[v.from[i]:min(len(s), v.from[i]+maxContext)])
	for n < len(v.from) && v.from[n] < end {
		n++
	}
	text := skipBlanks(s, v.to[n-1])
	if text < end && s[text] == '|' {
		text++
	}
	if text < v.to[n-1]+2 || text+n-first > end {
		return 0
	}
	if text += i - first; s[text] != v.text[i] {
		return 0
	}
	return text
}

// addDump adds the bytes of the line s[from:to] of a dump. It reports whether the line
// belongs to a dump.
func (v *view) addDump(s string, from, to int) bool {
	i := from
	if end := run(s, i, 20, func(c byte) bool { return isHex(c) || c == 'x' || c == ':' }); end > i && end < to && (end-i >= 6 || s[end-1] == ':') {
		i = end // the address
	}
	n := 0
	for i < to && n < maxDumpLine {
		gap := run(s, i, 3, isBlank)
		end := run(s, gap, 5, isHex)
		if digits := end - gap; digits != 2 && digits != 4 || end < to && !isBlank(s[end]) || gap-i > 2 {
			break
		}
		for k := gap; k < end; k += 2 {
			v.add(unhex(s[k])<<4|unhex(s[k+1]), k, k+2)
			n++
		}
		i = end
	}
	return n > 3
}

// onDumps adds the words of dumps to a vocabulary.
func onDumps(b *vocabularyBuilder) {
	for _, w := range hexWords {
		b.on(strings.ToLower(w), (*scan).dumped)
	}
}
