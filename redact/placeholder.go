package redact

import "strings"

// Placeholder replaces a secret, unless pseudonyms are on.
const Placeholder = "<REDACTED>"

const (
	placeholderOpen = "<REDACTED"
	maxPlaceholder  = len(placeholderOpen) + 2 + maxKind + maxTag + 1
	maxKind         = 32
	maxTag          = 16
)

// placeholderAt returns the end of the placeholder that begins at s[at], or -1.
func placeholderAt(s string, at int) int {
	if !strings.HasPrefix(s[at:], placeholderOpen) {
		return -1
	}
	i := at + len(placeholderOpen)
	if i < len(s) && s[i] == '>' {
		return i + 1
	}
	if i >= len(s) || s[i] != ':' {
		return -1
	}
	kind := run(s, i+1, maxKind, isKind)
	if kind == i+1 || kind >= len(s) || s[kind] != ':' {
		return -1
	}
	tag := run(s, kind+1, maxTag, isTag)
	if tag < kind+5 || tag >= len(s) || s[tag] != '>' {
		return -1
	}
	return tag + 1
}

func isKind(c byte) bool { return isLower(c) || isDigit(c) || c == '_' }
func isTag(c byte) bool  { return isDigit(c) || 'a' <= c && c <= 'f' }

// hasPlaceholder reports whether s may contain a placeholder.
func hasPlaceholder(s string) bool { return strings.Contains(s, placeholderOpen) }

// isPlaceholder reports whether s is a placeholder and nothing else.
func isPlaceholder(s string) bool { return s != "" && placeholderAt(s, 0) == len(s) }

// dropPlaceholders returns s without its placeholders.
func dropPlaceholders(s string) string {
	if !hasPlaceholder(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if end := placeholderAt(s, i); end > 0 {
			i = end
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// withoutPlaceholders cuts the placeholders of s out of the spans, which are in
// order and do not overlap.
func withoutPlaceholders(s string, spans []span) []span {
	if !hasPlaceholder(s) {
		return spans
	}
	var kept []span
	for _, f := range spans {
		kept = cutPlaceholders(s, f, kept)
	}
	return kept
}

// cutPlaceholders appends the parts of f that are outside of placeholders.
func cutPlaceholders(s string, f span, kept []span) []span {
	at := f.start
	for i := max(0, f.start-maxPlaceholder); i < f.end; i++ {
		end := placeholderAt(s, i)
		if end <= f.start {
			continue
		}
		if i > at {
			kept = append(kept, span{start: at, end: i, rule: f.rule})
		}
		at = max(at, end)
		i = end - 1
	}
	if at < f.end {
		kept = append(kept, span{start: at, end: f.end, rule: f.rule})
	}
	return kept
}
