package shell

import (
	"slices"
	"strings"
)

// has reports whether the next word belongs to the prefix.
func (p *prefix) has(word string) bool {
	switch {
	case p.value:
		p.value = false
	case p.limits && strings.HasPrefix(word, "-"):
		p.value = word == "-k" || word == "-s"
	case isDuration(word):
		p.limits = false
	case IsVariable(word), slices.Contains(launchers, word):
		p.limits = word == "timeout"
	default:
		return false
	}
	return true
}
