package compact

import "strings"

// matches reports whether a name matches a pattern; "" matches everything.
func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	return glob([]rune(pattern), []rune(name)) && name != ""
}

// glob reports whether a name matches a pattern. It backtracks only to the last
// star, so its time is at most the product of the two lengths.
func glob(pattern, name []rune) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// canMatchTogether reports whether one call can match both overrides.
func canMatchTogether(a, b Override) bool {
	return overlap(strings.ToLower(a.Model), strings.ToLower(b.Model)) && overlap(a.Agent, b.Agent)
}

// overlap reports whether one name can match both patterns.
func overlap(a, b string) bool {
	if a == "" || b == "" {
		return true
	}
	p, q := []rune(a), []rune(b)
	next := make([]bool, len(q)+1) // next[j]: p[i+1:] and q[j:] overlap
	for i := len(p); i >= 0; i-- {
		row := make([]bool, len(q)+1)
		for j := len(q); j >= 0; j-- {
			switch {
			case i == len(p) && j == len(q):
				row[j] = true
			case i < len(p) && p[i] == '*' || j < len(q) && q[j] == '*': // the star ends, or takes a character
				row[j] = i < len(p) && next[j] || j < len(q) && row[j+1]
			case i < len(p) && j < len(q):
				row[j] = next[j+1] && (p[i] == q[j] || p[i] == '?' || q[j] == '?')
			}
		}
		next = row
	}
	return next[0]
}

// matchesIfBoth reports whether an override matches every call that matches both others.
func (o Override) matchesIfBoth(a, b Override) bool {
	model := covers(strings.ToLower(o.Model), strings.ToLower(a.Model)) || covers(strings.ToLower(o.Model), strings.ToLower(b.Model))
	return model && (covers(o.Agent, a.Agent) || covers(o.Agent, b.Agent))
}

// covers reports whether a pattern matches all names that another pattern matches.
func covers(pattern, other string) bool {
	if pattern == "" || other == "" {
		return pattern == ""
	}
	const unusual = "\uffff" // only * and ? match it
	for _, star := range []string{"", strings.Repeat(unusual, len(pattern)+1)} {
		name := strings.NewReplacer("*", star, "?", unusual).Replace(other)
		if name != "" && !matches(pattern, name) {
			return false
		}
	}
	return true
}
