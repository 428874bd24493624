package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// A Pattern is a regular expression that is compiled when it is first used. Compiled at the
// start of the program, the patterns for rules would take 2 ms and 2 MB in every process
// that imports this package.
type Pattern struct{ Compiled func() *compiled }

type compiled struct {
	*regexp.Regexp
	required []string // one of them is part of each match; nil if there are none
}

// AllPatterns holds every pattern, so that a test compiles them.
var AllPatterns []*Pattern

// Compile returns the pattern of an expression. It is called at the start of the program only.
func Compile(expr string) *Pattern {
	p := &Pattern{sync.OnceValue(func() *compiled { return &compiled{regexp.MustCompile(expr), requiredBy(expr)} })}
	AllPatterns = append(AllPatterns, p)
	return p
}

// MatchString reports whether a text contains a match.
func (p *Pattern) MatchString(s string) bool {
	c := p.Compiled()
	return c.possible(s) && c.Regexp.MatchString(s)
}

// FindStringSubmatch returns the first match and its groups, nil for none.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if c := p.Compiled(); c.possible(s) {
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
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.FindAllStringSubmatch(s, n)
	}
	return nil
}

// FindAllString returns the first n matches.
func (p *Pattern) FindAllString(s string, n int) []string {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.FindAllString(s, n)
	}
	return nil
}

// FindAllStringIndex returns the places of the first n matches.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.FindAllStringIndex(s, n)
	}
	return nil
}

// ReplaceAllString replaces each match.
func (p *Pattern) ReplaceAllString(s, with string) string {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.ReplaceAllString(s, with)
	}
	return s
}

// FindString returns the first match, "" for none.
func (p *Pattern) FindString(s string) string {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.FindString(s)
	}
	return ""
}

// FindStringIndex returns the place of the first match, nil for none.
func (p *Pattern) FindStringIndex(s string) []int {
	if c := p.Compiled(); c.possible(s) {
		return c.Regexp.FindStringIndex(s)
	}
	return nil
}
