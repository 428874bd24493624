package strategy

import (
	"regexp"
	"strings"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first used. Compiled at the
// start of the program, the patterns for rules would take 2 ms and 2 MB in every process
// that imports this package.
type pattern struct{ compiled func() *compiled }

type compiled struct {
	*regexp.Regexp
	required []string // one of them is part of each match; nil if there are none
}

// allPatterns holds every pattern, so that a test compiles them.
var allPatterns []*pattern

// lazily returns the pattern of an expression. It is called at the start of the program only.
func lazily(expr string) *pattern {
	p := &pattern{sync.OnceValue(func() *compiled { return &compiled{regexp.MustCompile(expr), requiredBy(expr)} })}
	allPatterns = append(allPatterns, p)
	return p
}

// MatchString reports whether a text contains a match.
func (p *pattern) MatchString(s string) bool {
	c := p.compiled()
	return c.possible(s) && c.Regexp.MatchString(s)
}

// FindStringSubmatch returns the first match and its groups, nil for none.
func (p *pattern) FindStringSubmatch(s string) []string {
	if c := p.compiled(); c.possible(s) {
		return c.Regexp.FindStringSubmatch(s)
	}
	return nil
}

// possible reports whether a text contains a string that each match contains.
func (c *compiled) possible(s string) bool {
	for _, r := range c.required {
		if strings.Contains(s, r) {
			return true
		}
	}
	return c.required == nil
}

// FindAllStringSubmatch returns the first n matches and their groups.
func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if c := p.compiled(); c.possible(s) {
		return c.Regexp.FindAllStringSubmatch(s, n)
	}
	return nil
}
