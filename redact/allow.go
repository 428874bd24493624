package redact

import (
	"math"
	"slices"
	"strings"
)

// allowRule describes matches that are not secrets.
type allowRule struct {
	target string // the text that re is matched against: the secret (""), the "match" or the "line"
	re     string
	words  []string
	sums   []uint64 // FNV-1a hashes of well-known public secrets
}

// accept adds a match whose secret is s[from:to], if it is random enough and no
// allow rule matches it.
func (sc *scan) accept(v *vendor, from, to, matchFrom, matchTo int) {
	secret := sc.s[from:to]
	if v.entropy > 0 && entropy(secret) <= v.entropy || isAllowed(secret) {
		return
	}
	for i, a := range v.allow {
		target := secret
		switch a.target {
		case "match":
			target = sc.s[matchFrom:matchTo]
		case "line":
			target = lineAround(sc.s, matchFrom, matchTo)
		}
		if v.allowPat[i] != nil && v.allowPat[i].MatchString(target) || hasWord(secret, a.words) || slices.Contains(a.sums, fnv1a(secret)) {
			return
		}
	}
	sc.add(from, to, &v.rule)
}

// fnv1a hashes s. It is written out here because hash/fnv would allocate.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func lineAround(s string, from, to int) string {
	from = strings.LastIndexByte(s[:from], '\n') + 1
	if i := strings.IndexByte(s[to:], '\n'); i >= 0 {
		return s[from : to+i]
	}
	return s[from:]
}

func hasWord(s string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// isAllowed reports whether s does not look like any vendor's secret: it is one
// repeated character, a variable, a format, a path, or an ellipsis.
func isAllowed(s string) bool {
	switch {
	case distinct(s) == 1, hasPlaceholder(s), commonWord(s):
		return true
	case len(s) < 200 && strings.IndexByte("${%@", s[0]) >= 0:
		return isReference(s)
	case s[0] == '/':
		return hasPrefix(s, systemPaths)
	}
	return strings.HasSuffix(s, "...") || strings.Contains(s, "abcdefghijklmnopqrstuvwxyz")
}

// isFilled reports whether s has eight equal filler characters in a row, such as
// xxxxxxxx.
func isFilled(s string) bool {
	return hasFill(s, 8)
}

// hasFill reports whether s has n of the same filler in a row: x, X, * or a
// dot.
func hasFill(s string, n int) bool {
	for i, count := 0, 0; i < len(s); i++ {
		if strings.IndexByte("xX*.", s[i]) < 0 || count > 0 && s[i] != s[i-1] {
			count = 0
		}
		if strings.IndexByte("xX*.", s[i]) >= 0 {
			count++
		}
		if count >= n {
			return true
		}
	}
	return false
}

var systemPaths = []string{"/Users/", "/bin/", "/etc/", "/home/", "/opt/", "/tmp/", "/usr/", "/var/"}

// entropy returns the Shannon entropy of s in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
