// Package lazytest tests the patterns of package lazy.
package lazytest

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// damaged returns a text, in half of the cases without one of its bytes.
func damaged(text string, rnd *rand.Rand) string {
	if cut := rnd.IntN(len(text) + 1); rnd.IntN(2) == 0 && cut < len(text) {
		return text[:cut] + text[cut+1:]
	}
	return text
}

// Match tests that each pattern, which first searches for plain strings, finds what its
// expression finds. It uses texts that are generated from the expression, half of them
// without one byte. least is the minimum number of the 100 texts that must match.
func Match(t *testing.T, patterns []*lazy.Pattern, least int) {
	t.Helper()
	for _, p := range patterns {
		re := regexp.MustCompile(p.Compiled().String())
		rnd := rand.New(rand.NewPCG(uint64(len(re.String())), 3)) // another pattern in the list changes no text
		tree, err := syntax.Parse(re.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for range 100 {
			text := damaged(shaped(tree, rnd), rnd)
			if re.MatchString(text) {
				matched++
			}
			same(t, p, re, text)
		}
		if matched < least {
			t.Errorf("%s matches only %d of the texts", re, matched)
		}
	}
}

// same compares the results of each method.
func same(t *testing.T, p *lazy.Pattern, re *regexp.Regexp, text string) {
	t.Helper()
	for method, of := range map[string][2]any{
		"MatchString":           {p.MatchString(text), re.MatchString(text)},
		"FindStringSubmatch":    {p.FindStringSubmatch(text), re.FindStringSubmatch(text)},
		"FindAllStringSubmatch": {p.FindAllStringSubmatch(text, -1), re.FindAllStringSubmatch(text, -1)},
		"FindString":            {p.FindString(text), re.FindString(text)},
		"FindStringIndex":       {p.FindStringIndex(text), re.FindStringIndex(text)},
		"FindAllString":         {p.FindAllString(text, -1), re.FindAllString(text, -1)},
		"FindAllStringIndex":    {p.FindAllStringIndex(text, -1), re.FindAllStringIndex(text, -1)},
		"ReplaceAllString":      {p.ReplaceAllString(text, "<$0>"), re.ReplaceAllString(text, "<$0>")},
	} {
		if !reflect.DeepEqual(of[0], of[1]) {
			t.Errorf("%s.%s(%q) is %q, want %q", re, method, text, of[0], of[1])
		}
	}
}

// shaped returns a text with the shape of an expression. It does not respect the ends of
// words and texts.
func shaped(re *syntax.Regexp, rnd *rand.Rand) string {
	times := func(low, high int) string {
		var b strings.Builder
		for range low + rnd.IntN(high-low+1) {
			b.WriteString(shaped(re.Sub[0], rnd))
		}
		return b.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		i := rnd.IntN(len(re.Rune)/2) * 2
		return string(re.Rune[i] + rune(rnd.IntN(int(min(re.Rune[i+1]-re.Rune[i], 25))+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune('a' + rnd.IntN(26)))
	case syntax.OpCapture:
		return shaped(re.Sub[0], rnd)
	case syntax.OpStar:
		return times(0, 2)
	case syntax.OpPlus:
		return times(1, 3)
	case syntax.OpQuest:
		return times(0, 1)
	case syntax.OpRepeat:
		return times(re.Min, max(re.Max, re.Min))
	case syntax.OpAlternate:
		return shaped(re.Sub[rnd.IntN(len(re.Sub))], rnd)
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(shaped(sub, rnd))
		}
		return b.String()
	}
	return ""
}
