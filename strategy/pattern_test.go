package strategy

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

func TestPatternsAreValid(t *testing.T) {
	if len(lazy.AllPatterns) < 40 {
		t.Errorf("%d patterns", len(lazy.AllPatterns))
	}
	for _, p := range lazy.AllPatterns {
		p.Compiled() // panics if the expression is not valid
	}
}

// A pattern first searches for plain strings, and only then runs its expression. The test
// matches each pattern with texts that are generated from it, and with the same texts
// without one character.
func TestPatternsMatchAsTheirExpressionsDo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, p := range lazy.AllPatterns {
		re := regexp.MustCompile(p.Compiled().String())
		tree, err := syntax.Parse(re.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for range 100 {
			text := shaped(tree, rnd)
			if cut := rnd.IntN(len(text) + 1); rnd.IntN(2) == 0 && cut < len(text) {
				text = text[:cut] + text[cut+1:]
			}
			want := re.FindStringSubmatch(text)
			if want != nil {
				matched++
			}
			if got := p.FindStringSubmatch(text); strings.Join(got, "|") != strings.Join(want, "|") || p.MatchString(text) != (want != nil) {
				t.Errorf("%s finds %q in %q, want %q", re, got, text, want)
			}
		}
		if matched < 10 {
			t.Errorf("%s matches only %d of the texts", re, matched)
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
