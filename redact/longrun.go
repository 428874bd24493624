package redact

import "strings"

const (
	stride    = 48  // in bytes; every run that can be a key covers a multiple of it
	keyLines  = 3   // lines of base64 in a row that count as a key
	maxBefore = 400 // bytes before a run that can show its type
)

// longRuns finds runs of base64 that are as long as a line of a key and have no
// prefix: wallet keys, and the middle of a private key. It samples one byte in 48,
// and a few bytes beside each.
func (sc *scan) longRuns() {
	s := sc.s
	for i := stride; i < len(s); i += stride {
		if !isInRun(s, i) {
			continue
		}
		from, to := i, i
		for least := max(0, i-80); from > least && inBase64[s[from-1]] != 0; {
			from--
		}
		for most := min(len(s), from+maxPEM); to < most && inBase64[s[to]] != 0; {
			to++
		}
		if n := to - from; n == 65 && s[from] == '+' {
			from++ // the + of a diff
		}
		switch n := to - from; {
		case n == 64 || n == 70:
			to = sc.keyBody(from, to)
		case isWIF(s[from:to]):
			sc.add(from, to, walletRule)
		}
		i = max(i, to/stride*stride)
	}
}

// reach is how far isInRun looks to each side. It is less than stride.
const reach = 24

// isInRun reports whether s[i] and three bytes to one side of it are base64. It has no branches
// for these bytes, because they would often be mispredicted: most bytes of a text are base64.
func isInRun(s string, i int) bool {
	if i+reach >= len(s) {
		return inBase64[s[i]]&inBase64[s[i-8]]&inBase64[s[i-16]]&inBase64[s[i-reach]] != 0
	}
	w := s[i-reach : i+reach+1]
	before := inBase64[w[reach-8]] & inBase64[w[reach-16]] & inBase64[w[0]]
	after := inBase64[w[reach+8]] & inBase64[w[reach+16]] & inBase64[w[2*reach]]
	return inBase64[w[reach]]&(before|after) != 0
}

// inBase64 has 1 for the bytes of base64.
var inBase64 = func() (t [256]uint8) {
	for c := range 256 {
		if isB64(byte(c)) {
			t[c] = 1
		}
	}
	return t
}()

// keyBody finds the middle of a private key that begins with the line s[from:to]: three
// or more lines of base64 of equal length, unless the text around them shows another
// type. It returns the end of the lines that it read.
func (sc *scan) keyBody(from, to int) int {
	s, n, lines := sc.s, to-from, 1
	for lines < 1000 {
		j := pemGap(s, to)
		if j < len(s) && s[j] == '+' && run(s, j, n+2, isB64) == j+n+1 {
			j++
		}
		if j == to || run(s, j, n+1, isB64) != j+n {
			break
		}
		to = j + n
		lines++
	}
	sc.spend(2 * (to - from))
	if lines < keyLines || !isKeyText(s[from:to]) || sc.isKnownBlock(from, to) {
		return to
	}
	if j := pemGap(s, to); j > to { // the last line
		if k := run(s, run(s, j, n, isB64), 2, func(c byte) bool { return c == '=' }); k > j+8 && (k == len(s) || s[k] == '\n') {
			to = k
		}
	}
	sc.add(from, to, pemRule)
	return to
}

// isKeyText reports whether s uses the whole alphabet of base64. Hex digests do
// not.
func isKeyText(s string) bool {
	p := profileOf(s)
	return p.upper > 0 && p.lower > 0 && p.digits > 0 && strings.ContainsAny(s, "+/") && distinct(s) > 32
}

// blocks lists the first base64 characters of files that are often wrapped into
// lines and are not keys.
var blocks = []string{"iVBOR", "/9j/", "R0lGOD", "JVBERi", "UEsDB", "H4sI", "UklGR", "AAAA", "PD94bWw", "PHN2Zy", "AAEAAA", "d09GM", "AGFzb", "data:", "base64,"}

// isKnownBlock reports whether the beginning of s[from:to], or the text around it,
// shows a type that is not a private key.
func (sc *scan) isKnownBlock(from, to int) bool {
	s := sc.s
	before := s[max(0, from-maxBefore):from]
	if i := strings.LastIndex(before, "-----BEGIN"); i >= 0 && !strings.Contains(before[i:], "-----END") && !strings.Contains(before[i:], "PRIVATE") {
		return true
	}
	after := s[to:min(len(s), to+200)]
	if i := strings.Index(after, "-----END "); i >= 0 && !strings.Contains(after[i:], "PRIVATE") {
		return true
	}
	for _, b := range blocks {
		if strings.HasPrefix(s[from:], b) || strings.Contains(before[max(0, len(before)-100):], b) {
			return true
		}
	}
	return false
}
