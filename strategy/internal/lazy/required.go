package lazy

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostLiterals is the maximum number of strings that are looked for before the pattern itself.
const mostLiterals = 64

// requiredBy returns strings of which each match of an expression contains at least one, nil
// if there are none. To look for a few strings takes a tenth of the time of a regular
// expression that does not match.
func requiredBy(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return fewest(literalsOf(re).required)
}

// literals describes the texts that an expression matches.
type literals struct {
	exact    []string // all of them; nil if they are too many
	required []string // each of them contains one of these; nil if nothing is known
}

// exactly returns the literals of an expression that matches these texts only.
func exactly(texts ...string) literals {
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) > mostLiterals || slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, utf8.RuneError) }) {
		return literals{}
	}
	if texts[0] == "" {
		return literals{exact: texts}
	}
	return literals{texts, texts}
}

func literalsOf(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly("")
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return exactly(string(re.Rune))
		}
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpCapture:
		return literalsOf(re.Sub[0])
	case syntax.OpQuest:
		if sub := literalsOf(re.Sub[0]); sub.exact != nil {
			return exactly(append([]string{""}, sub.exact...)...)
		}
	case syntax.OpPlus:
		return literals{required: literalsOf(re.Sub[0]).required}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals{required: literalsOf(re.Sub[0]).required}
		}
	case syntax.OpConcat:
		return inARow(re.Sub)
	case syntax.OpAlternate:
		return anyOf(re.Sub)
	}
	return literals{}
}

// oneOf returns the literals of a class of characters, which is given as ranges.
func oneOf(ranges []rune) literals {
	var texts []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if texts = append(texts, string(r)); len(texts) > mostLiterals {
				return literals{}
			}
		}
	}
	if texts == nil {
		return literals{}
	}
	return exactly(texts...)
}

// anyOf returns the literals of alternatives.
func anyOf(subs []*syntax.Regexp) literals {
	var exact, required []string
	known, bounded := true, true
	for _, sub := range subs {
		l := literalsOf(sub)
		exact, required = append(exact, l.exact...), append(required, l.required...)
		known, bounded = known && l.exact != nil, bounded && l.required != nil
	}
	if known {
		if l := exactly(exact...); l.exact != nil {
			return l
		}
	}
	if required = fewest(required); !bounded || len(required) > mostLiterals {
		return literals{}
	}
	return literals{required: required}
}

// inARow returns the literals of a sequence. If the texts of the whole sequence can't be
// listed, it returns only required literals: the best ones of a part or of a run of
// neighboring parts (see better).
func inARow(subs []*syntax.Regexp) literals {
	run, whole := exactly(""), true
	var best []string
	for _, sub := range subs {
		l := literalsOf(sub)
		if l.exact != nil {
			if joined := inTurn(run.exact, l.exact); joined.exact != nil {
				run = joined
				continue
			}
		}
		best, whole = better(best, run.required), false
		best, run = better(best, l.required), exactly("")
		if l.exact != nil {
			run = l
		}
	}
	if whole {
		return run
	}
	return literals{required: better(best, run.required)}
}

// inTurn returns the literals of two parts, one after the other. It returns none if there
// are too many, or if one part has fewer texts and these are long enough.
func inTurn(first, second []string) literals {
	n := len(first) * len(second)
	if n > mostLiterals || n > len(first) && lengthOf(first) == enough || n > len(second) && lengthOf(second) == enough {
		return literals{}
	}
	var texts []string
	for _, a := range first {
		for _, b := range second {
			texts = append(texts, a+b)
		}
	}
	return exactly(texts...)
}

// better returns the list that fewer texts match: the list with the longer shortest string,
// or else the list with fewer strings.
func better(a, b []string) []string {
	a, b = fewest(a), fewest(b)
	switch la, lb := lengthOf(a), lengthOf(b); {
	case la > lb || la == lb && len(a) < len(b):
		return a
	}
	return b
}

// fewest removes strings that contain another one.
func fewest(texts []string) []string {
	var out []string
	for i, t := range texts {
		if !slices.ContainsFunc(texts[:i], func(o string) bool { return strings.Contains(t, o) }) &&
			!slices.ContainsFunc(texts[i+1:], func(o string) bool { return o != t && strings.Contains(t, o) }) {
			out = append(out, t)
		}
	}
	return out
}

// enough is the length in bytes at which a string is long enough. A longer string is not
// preferred to it.
const enough = 4

// lengthOf returns the length of the shortest string, at most enough, and 0 for none.
func lengthOf(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	n := enough
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n
}
