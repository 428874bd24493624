package redact

import "strings"

// maxManifest is the maximum number of bytes around "kind: Secret" that are
// read as its manifest.
const maxManifest = 64 << 10

// manifest finds the data of a Kubernetes secret written in YAML, from the hit
// on the word Secret after "kind:".
func (sc *scan) manifest(start, end int) {
	s := sc.s
	if start < sc.manifestEnd || end < len(s) && isWord(s[end]) || !isKindValue(s, start) {
		return
	}
	from, to := documentAround(s, start)
	from = max(from, sc.manifestEnd)
	sc.spend(to - from + maxManifest/8)
	sc.manifestEnd = to
	for i := from; i < to; {
		next := nextLine(s, i, to)
		line := strings.TrimRight(s[i:next], " \t\r\n")
		if key := strings.TrimLeft(line, " \t+-"); key == "data:" || key == "stringData:" {
			i = sc.manifestData(next, to, len(line)-len(key))
			continue
		}
		i = next
	}
}

// isKindValue reports whether "kind:" directly precedes i.
func isKindValue(s string, i int) bool {
	for i > 0 && (isBlank(s[i-1]) || isQuote(s[i-1])) {
		i--
	}
	return i >= 5 && strings.EqualFold(s[i-5:i], "kind:")
}

// documentAround returns the YAML document that contains i.
func documentAround(s string, i int) (from, to int) {
	from, to = max(0, i-maxManifest/8), min(len(s), i+maxManifest)
	if j := strings.LastIndex(s[from:i], "\n---"); j >= 0 {
		from += j + 1
	}
	if j := strings.Index(s[i:to], "\n---"); j >= 0 {
		to = i + j
	}
	return from, to
}

// nextLine returns the start of the line after the line at i.
func nextLine(s string, i, limit int) int {
	if j := strings.IndexByte(s[i:limit], '\n'); j >= 0 {
		return i + j + 1
	}
	return limit
}

// manifestData finds the values of the lines that are indented deeper than the
// key of the map. It returns the end of these lines.
func (sc *scan) manifestData(i, limit, indent int) int {
	for i < limit {
		next := nextLine(sc.s, i, limit)
		at := i
		for at < next && strings.IndexByte(" \t+", sc.s[at]) >= 0 {
			at++
		}
		if at < next && sc.s[at] != '\n' && sc.s[at] != '\r' {
			if at-i <= indent {
				return i
			}
			sc.manifestLine(at, next)
		}
		i = next
	}
	return limit
}

// manifestLine finds the value of one line, or the content of one line of a
// block.
func (sc *scan) manifestLine(from, to int) {
	text := strings.TrimRight(sc.s[from:to], " \t\r\n")
	if key := run(text, 0, len(text), isNameByte); key > 0 && key < len(text) && text[key] == ':' {
		from += key + 1
		text = text[key+1:]
	}
	trimmed := strings.Trim(text, " \t\"'")
	if len(trimmed) < 2 || isPlaceholder(trimmed) || strings.IndexByte("|>{#", trimmed[0]) >= 0 && len(trimmed) < 4 || strings.Contains(trimmed, "{{") {
		return
	}
	from += strings.Index(text, trimmed)
	sc.add(from, from+len(trimmed), secretDataRule)
}
