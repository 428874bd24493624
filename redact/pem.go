package redact

import "strings"

var pemRule = &rule{id: "private-key", kind: "private_key", rank: byShape}

const (
	maxPEM     = 64 << 10
	minPEMBody = 16
	pemLine    = 40 // minimum length of a line of a key, except the last
)

// isKeyLabel reports whether a label of PEM is the label of a private or a static key.
func isKeyLabel(label string) bool {
	return strings.Contains(label, "PRIVATE KEY") || strings.Contains(label, "OpenVPN Static key") || strings.Contains(label, "OpenVPN tls-crypt-v2")
}

// pem finds a private key from the hit on its first line. If the end of the key is
// missing, the key ends with its last line of base64.
func (sc *scan) pem(start, end int) {
	s := sc.s
	label, _, closed := strings.Cut(s[end:min(len(s), end+80)], "-----")
	if !closed || !isKeyLabel(label) {
		return
	}
	body := end + len(label) + len("-----")
	rest := s[body:min(len(s), body+maxPEM)]
	if next := strings.Index(rest, "-----BEGIN"); next >= 0 {
		rest = rest[:next]
	}
	to := body + strings.Index(rest, "-----END")
	if to < body {
		to = pemBody(s, body)
	} else {
		to = pemEnd(s, to)
	}
	sc.spend(len(rest) + to - body)
	if countBase64(s[body:to]) >= minPEMBody {
		sc.add(start, to, pemRule)
	}
}

// pemTail finds the end of a private key whose beginning is missing.
func (sc *scan) pemTail(start, end int) {
	s := sc.s
	if label, _, closed := strings.Cut(s[end:min(len(s), end+80)], "-----"); !closed || !isKeyLabel(label) {
		return
	}
	if n := len(sc.found); n > 0 && sc.found[n-1].end > start {
		return
	}
	from := start
	for from > 0 && start-from < maxPEM {
		i := from
		for i > 0 && isPEMGap(s[i-1]) || i > 1 && s[i-2] == '\\' && s[i-1] == 'n' {
			i--
		}
		j := i
		for j > 0 && (isBase64(s[j-1]) || s[j-1] == '=') && !(j > 1 && s[j-2] == '\\') {
			j--
		}
		if i-j < pemLine && from != start {
			break
		}
		if i == j {
			break
		}
		from = j
	}
	sc.spend(2 * (start - from))
	if countBase64(s[from:start]) >= minPEMBody && from < start {
		sc.add(from, pemEnd(s, start), pemRule)
	}
}

// putty finds the private part of a key file of PuTTY.
func (sc *scan) putty(_, end int) {
	i := run(sc.s, skipBlanks(sc.s, end), 4, isDigit)
	if to := pemBody(sc.s, i); to > i {
		sc.add(pemGap(sc.s, i), to, pemRule)
	}
}

// pemEnd returns the end of the marker -----END … ----- that begins at i.
func pemEnd(s string, i int) int {
	j := strings.Index(s[min(len(s), i+5):min(len(s), i+90)], "-----")
	if j < 0 {
		return min(len(s), i+len("-----END"))
	}
	return i + 5 + j + 5
}

// pemBody returns the end of the lines of a key that begin at i. Escaped line
// breaks, quotes and line numbers may be between them.
func pemBody(s string, i int) int {
	end := i
	for i < len(s) && i-end < 256 {
		j := pemGap(s, i)
		k := run(s, j, maxPEM, func(c byte) bool { return isBase64(c) || c == '=' })
		if strings.HasPrefix(s[k:], ": ") { // Proc-Type: and DEK-Info:
			i = lineEnd(s, k)
			continue
		}
		if k-j < pemLine && !(k > j && end > 0 && pemStops(s, k)) {
			break
		}
		i, end = k, k
		if k-j < pemLine {
			break
		}
	}
	return end
}

// pemStops reports whether the short line that ends at i can be the last line
// of a key, and is not the beginning of a sentence.
func pemStops(s string, i int) bool {
	return i >= len(s) || s[i] != ' ' && s[i] != ':' && s[i] != '(' && s[i] != '.' || strings.HasPrefix(s[i:], "...")
}

// pemGap skips the characters that may be between two lines of a key.
func pemGap(s string, i int) int {
	for i < len(s) {
		switch {
		case isPEMGap(s[i]):
			i++
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\nrt", s[i+1]) >= 0:
			i += 2
		case i > 0 && isSpace(s[i-1]) && isDigit(s[i]):
			j := run(s, i, 6, isDigit)
			if j >= len(s) || s[j] != '\t' && s[j] != '|' && s[j] != ':' && !strings.HasPrefix(s[j:], "→") {
				return i
			}
			i = j + 1
		default:
			return i
		}
	}
	return i
}

func isPEMGap(c byte) bool {
	return isSpace(c) || isQuote(c) || c == '>' || c == '|' || c == ',' || c == 0xE2 || c == 0x86 || c == 0x92
}

func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' && s[i] != '\\' {
		i++
	}
	return i
}

// countBase64 counts the bytes of s in runs of at least minPEMBody base64
// characters. Words of a text are shorter.
func countBase64(s string) int {
	n := 0
	for i := 0; i < len(s); {
		j := run(s, i, len(s), isBase64)
		if j-i >= minPEMBody {
			n += j - i
		}
		i = max(j, i+1)
	}
	return n
}
